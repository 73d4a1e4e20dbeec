"""The issuer that an installation trusts: its address, whom its tokens are for, and where a token says who and what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from tripline_http.bind_address import is_loopback
from tripline_http.errors import ConfigurationError

ISSUER: Final = "TRIPLINE_OIDC_ISSUER"
AUDIENCE: Final = "TRIPLINE_OIDC_AUDIENCE"
ROLE_CLAIM: Final = "TRIPLINE_OIDC_ROLE_CLAIM"
ACTOR_CLAIM: Final = "TRIPLINE_OIDC_ACTOR_CLAIM"
ACTORS: Final = ("preferred_username", "sub")


@dataclass(frozen=True, slots=True)
class Issuer:
    """`url` as tokens have it in `iss`; `role_claim` is a claim's name, or a path in dots."""

    url: str
    audience: str
    role_claim: str = "roles"
    actor_claim: str = ACTORS[0]


def read_issuer(environment: Mapping[str, str]) -> Issuer | None:
    """TRIPLINE_OIDC_…; None where no issuer is set. Raises ConfigurationError."""
    url, audience = (environment.get(name, "").strip() for name in (ISSUER, AUDIENCE))
    if not url:
        if audience:
            raise ConfigurationError(f"{AUDIENCE} is set and {ISSUER} is not.")
        return None
    if not is_trustworthy(url):
        raise ConfigurationError(
            f"{ISSUER} is {url!r}; expected https://host/… without a query, or http:// on loopback."
        )
    if not audience:
        # Without it each token that the issuer gives out for anything would be let in.
        raise ConfigurationError(f"{AUDIENCE} is not set: say whom the issuer's tokens for Tripline are for.")
    actor = environment.get(ACTOR_CLAIM, "").strip() or ACTORS[0]
    if actor not in ACTORS:
        raise ConfigurationError(f"{ACTOR_CLAIM} is {actor!r}; expected {' or '.join(ACTORS)}.")
    return Issuer(url, audience, environment.get(ROLE_CLAIM, "").strip() or "roles", actor)


def is_trustworthy(url: str) -> bool:
    """Whether nobody between can change what comes from there: TLS, or this machine."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    if not host or parts.query or parts.fragment or parts.username is not None:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host))
