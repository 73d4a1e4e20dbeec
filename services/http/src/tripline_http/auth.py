"""API keys: who calls, and what they may do.

Keys live in a JSON file as SHA-256 hashes: `[{"name": "ada", "sha256": "<hex of the key>", "scopes":
["rules:read"]}]`. A request carries its key as `Authorization: Bearer <key>`. The key's name is the actor of
whatever it changes.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import structlog
from flask import Flask, current_app, g, request

from tripline_http.errors import ConfigurationError, ProblemError

SCOPES = frozenset(
    {
        "rules:read",
        "rules:write",
        "controls:write",
        "alerts:read",
        "alerts:ack",
        "traffic:read",
        "traffic:write",
    }
)
_EXTENSION = "tripline_api_keys"
_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key by its hash; the key itself is known to its holder only."""

    name: str
    sha256: str
    scopes: frozenset[str]


def load_api_keys(path: Path) -> tuple[ApiKey, ...]:
    """Reads the key file. Raises `ConfigurationError` with a sentence that names the entry, never its hash."""
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"The API key file {path} cannot be read: {error}.") from error
    if not isinstance(entries, list):
        raise ConfigurationError(f"The API key file {path} must hold a JSON list.")
    keys = tuple(_parse_entry(path, index, entry) for index, entry in enumerate(entries))
    if len({key.name for key in keys}) != len(keys):
        raise ConfigurationError(f"The API key file {path} names an actor twice.")
    return keys


def _parse_entry(path: Path, index: int, entry: object) -> ApiKey:
    where = f"Entry {index} of the API key file {path}"
    if not isinstance(entry, dict):
        raise ConfigurationError(f"{where} is not an object.")
    name, digest, scopes = entry.get("name"), entry.get("sha256"), entry.get("scopes")
    if not isinstance(name, str) or not 1 <= len(name) <= 64 or not name.isprintable():
        raise ConfigurationError(f"{where} needs a name of 1 to 64 printable characters.")
    if not isinstance(digest, str) or not _SHA256.fullmatch(digest.lower()):
        raise ConfigurationError(f"{where} ({name}) needs sha256 as 64 hex digits.")
    if not isinstance(scopes, list) or not all(isinstance(scope, str) for scope in scopes):
        raise ConfigurationError(f"{where} ({name}) needs a list of scopes.")
    unknown = sorted(set(scopes) - SCOPES)
    if unknown:
        raise ConfigurationError(f"{where} ({name}) has unknown scopes: {', '.join(unknown)}.")
    return ApiKey(name, digest.lower(), frozenset(scopes))


def install_api_keys(app: Flask, keys: Iterable[ApiKey]) -> None:
    """Makes these keys the ones that the app knows."""
    app.extensions[_EXTENSION] = tuple(keys)


def authorize(scope: str) -> None:
    """Passes if the request's key holds `scope`; else raises the 401 or 403 problem. Sets the actor."""
    key = identify()
    if scope not in key.scopes:
        challenge = f'Bearer realm="tripline", error="insufficient_scope", scope="{scope}"'
        raise ProblemError(
            403,
            "insufficient-scope",
            f"This key may not do that: it lacks the scope {scope}.",
            headers={"WWW-Authenticate": challenge},
        )


def identify() -> ApiKey:
    """The request's key, whatever it may do; else raises the 401 problem. Sets the actor."""
    key = _authenticate()
    g.actor = key.name
    structlog.contextvars.bind_contextvars(actor=key.name)
    return key


def current_actor() -> str:
    """The name of the key that makes this request; only behind `authorize` or `identify`."""
    actor = g.get("actor")
    if not isinstance(actor, str):
        # A view that asks for its actor without having required a scope is a programming error.
        raise RuntimeError("no actor: the view does not require a scope")
    return actor


def _authenticate() -> ApiKey:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    key = _find(token.strip()) if scheme.lower() == "bearer" else None
    if key is None:
        raise ProblemError(
            401,
            "unauthenticated",
            "Send a known API key as 'Authorization: Bearer <key>'.",
            headers={"WWW-Authenticate": 'Bearer realm="tripline"'},
        )
    return key


def _find(token: str) -> ApiKey | None:
    digest = hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()
    match = None
    # All keys are compared, each in constant time: the time taken says nothing about which one matched.
    for key in current_app.extensions.get(_EXTENSION, ()):
        if hmac.compare_digest(key.sha256, digest):
            match = key
    return match
