"""Who calls, what they may do, and how often.

A request carries its API key as `Authorization: Bearer <key>`. The key's name is the actor of whatever it changes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

import structlog
from flask import Flask, current_app, request
from prometheus_client import CollectorRegistry, Gauge

from tripline_http.errors import ProblemError
from tripline_http.keys.authenticator import Authenticator
from tripline_http.keys.caller import Caller
from tripline_http.keys.key_file import ApiKey
from tripline_http.keys.rate_limit import RateLimit, RateLimiter
from tripline_http.keys.stored_keys import KeyStore, StoredKeys
from tripline_http.keys.watched_key_file import WatchedKeyFile
from tripline_http.tokens.issuer import Issuer

_EXTENSION = "tripline_authenticator"
_LIMITER = "tripline_rate_limiter"
_CALLER = "tripline.caller"


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


def install_tokens(
    app: Flask,
    issuer: Issuer | None,
    registry: CollectorRegistry,
    steady: Callable[[], float] = time.monotonic,
) -> None:
    """Lets in the issuer's tokens beside the keys; where there is no issuer, none. `steady` gives seconds."""
    if issuer is None:
        return
    # Each process with metrics imports this module; who trusts no issuer loads no cryptography.
    from tripline_http.tokens.issuer_client import IssuerClient  # noqa: PLC0415
    from tripline_http.tokens.signing_keys import SigningKeys  # noqa: PLC0415
    from tripline_http.tokens.token_verifier import TokenVerifier  # noqa: PLC0415

    keys = SigningKeys(IssuerClient(issuer.url).key_set, steady)
    authenticator: Authenticator = app.extensions[_EXTENSION]
    authenticator.tokens = TokenVerifier(issuer, keys)
    unreachable = Gauge(
        "tripline_token_issuer_unreachable",
        "1 while the issuer of tokens could not be asked for its keys the last time.",
        registry=registry,
    )
    unreachable.set_function(lambda: float(keys.is_unreachable))


def install_stored_keys(
    app: Flask,
    store: KeyStore,
    steady: Callable[[], float] = time.monotonic,
    wall: Callable[[], float] = time.time,
) -> None:
    """Lets in the keys of the store beside those of the file. `steady` and `wall` give seconds."""
    authenticator: Authenticator = app.extensions[_EXTENSION]
    authenticator.stored = StoredKeys(store, steady, wall)


def install_rate_limit(app: Flask, limit: RateLimit) -> None:
    """Bounds the requests of each caller; what asks for no key (health, documents) is not counted."""
    if limit.per_second:
        app.extensions[_LIMITER] = RateLimiter(limit)


def authorize(scope: str) -> None:
    """Passes if the request's key holds `scope`; else raises the 401, 403 or 429 problem. Sets the actor."""
    caller = identify()
    if scope not in caller.scopes:
        # For the line with the request's status: who tried, and from where.
        structlog.contextvars.bind_contextvars(address=_peer())
        challenge = f'Bearer realm="tripline", error="insufficient_scope", scope="{scope}"'
        raise ProblemError(
            403,
            "insufficient-scope",
            f"This key may not do that: it lacks the scope {scope}.",
            headers={"WWW-Authenticate": challenge},
        )


def identify() -> Caller:
    """Who makes the request, whatever they may do; else raises the 401 or 429 problem. Sets the actor."""
    known: Caller | None = request.environ.get(_CALLER)
    if known is not None:
        # Asked for before: one request is counted once.
        return known
    authenticator: Authenticator = current_app.extensions[_EXTENSION]
    caller = authenticator.authenticate(request.headers.get("Authorization", ""), _peer())
    structlog.contextvars.bind_contextvars(actor=caller.name)
    limiter: RateLimiter | None = current_app.extensions.get(_LIMITER)
    if limiter is not None:
        limiter.count(caller.name)
    request.environ[_CALLER] = caller
    return caller


def current_actor() -> str:
    """The name of who makes this request; only behind `authorize` or `identify`."""
    return _current_caller().name


def current_role() -> str | None:
    """The role of who makes this request, None for a key of scopes alone; only behind `authorize` or `identify`."""
    return _current_caller().role


def _current_caller() -> Caller:
    caller = request.environ.get(_CALLER)
    if not isinstance(caller, Caller):
        # A view that asks for its actor without having required a scope is a programming error.
        raise RuntimeError("no actor: the view does not require a scope")
    return caller


def _peer() -> str:
    """The address at the other end of the connection. Headers that name another one are not believed."""
    return request.remote_addr or "unknown"
