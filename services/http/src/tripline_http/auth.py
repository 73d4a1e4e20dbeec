"""Who calls, and what they may do.

A request carries its API key as `Authorization: Bearer <key>`. The key's name is the actor of whatever it changes.
"""

from __future__ import annotations

from collections.abc import Iterable

import structlog
from flask import Flask, current_app, g, request
from prometheus_client import CollectorRegistry, Gauge

from tripline_http.errors import ProblemError
from tripline_http.keys.authenticator import Authenticator
from tripline_http.keys.key_file import ApiKey
from tripline_http.keys.watched_key_file import WatchedKeyFile

_EXTENSION = "tripline_authenticator"


def install_api_keys(app: Flask, keys: Iterable[ApiKey], registry: CollectorRegistry) -> None:
    """Makes these keys the ones that the app knows. `keys` is gone through at each request, so it may change."""
    app.extensions[_EXTENSION] = Authenticator(keys)
    refused = Gauge(
        "tripline_api_key_file_refused",
        "1 while the file of API keys is broken and the keys are those of before.",
        registry=registry,
    )
    if isinstance(keys, WatchedKeyFile):
        refused.set_function(lambda: float(keys.is_refused))


def authorize(scope: str) -> None:
    """Passes if the request's key holds `scope`; else raises the 401, 403 or 429 problem. Sets the actor."""
    key = identify()
    if scope not in key.scopes:
        # For the line with the request's status: who tried, and from where.
        structlog.contextvars.bind_contextvars(address=_peer())
        challenge = f'Bearer realm="tripline", error="insufficient_scope", scope="{scope}"'
        raise ProblemError(
            403,
            "insufficient-scope",
            f"This key may not do that: it lacks the scope {scope}.",
            headers={"WWW-Authenticate": challenge},
        )


def identify() -> ApiKey:
    """The request's key, whatever it may do; else raises the 401 or 429 problem. Sets the actor."""
    authenticator: Authenticator = current_app.extensions[_EXTENSION]
    key = authenticator.authenticate(request.headers.get("Authorization", ""), _peer())
    g.actor, g.role = key.name, key.role
    structlog.contextvars.bind_contextvars(actor=key.name)
    return key


def current_actor() -> str:
    """The name of the key that makes this request; only behind `authorize` or `identify`."""
    actor = g.get("actor")
    if not isinstance(actor, str):
        # A view that asks for its actor without having required a scope is a programming error.
        raise RuntimeError("no actor: the view does not require a scope")
    return actor


def current_role() -> str | None:
    """The role of the key that makes this request, None where it has scopes alone; only behind `authorize` or
    `identify`."""
    current_actor()
    role: str | None = g.role
    return role


def _peer() -> str:
    """The address at the other end of the connection. Headers that name another one are not believed."""
    return request.remote_addr or "unknown"
