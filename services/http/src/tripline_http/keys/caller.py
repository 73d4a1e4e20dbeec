"""Who makes a request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

ISSUER_PREFIX: Final = "oidc:"
"""Begins the name of each caller with a token, and of no API key: neither can be taken for the other."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The name, which is the actor of whatever is changed, and what it may do; `role` is None for a key of scopes
    alone. `not_after` is the last moment that its key or token is good for, in seconds since the epoch; None: no end.
    """

    name: str
    scopes: frozenset[str]
    role: str | None = None
    not_after: float | None = None
