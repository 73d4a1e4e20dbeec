"""From a token of the issuer to who calls, or to the refusal."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import jwt

from tripline_http.errors import ProblemError, TokenRefused
from tripline_http.keys.caller import ISSUER_PREFIX, Caller
from tripline_http.keys.roles import ROLES
from tripline_http.tokens.issuer import Issuer
from tripline_http.tokens.signing_keys import SigningKeys

LEEWAY_SECONDS: Final = 30
ALGORITHMS: Final = frozenset({"RS256", "ES256"})
MAX_TOKEN: Final = 16_384
_MAX_NAME: Final = 64
_LATEST: Final = 1 << 40
"""Seconds since the epoch that are as good as no end, and that a float holds."""
_SHAPE: Final = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*", re.ASCII)


class TokenVerifier:
    """Lets in the tokens of one issuer for one audience."""

    def __init__(self, issuer: Issuer, keys: SigningKeys) -> None:
        self._issuer, self._keys = issuer, keys

    def takes(self, text: str) -> bool:
        """Whether it has the shape of a signed token."""
        return len(text) <= MAX_TOKEN and _SHAPE.fullmatch(text) is not None

    def verify(self, token: str) -> Caller:
        """Raises TokenRefused, IssuerUnavailable, or the 403 problem for a token without a role here."""
        claims = self._claims(token)
        return _caller(claims, self._issuer)

    def _claims(self, token: str) -> Mapping[str, Any]:
        try:
            header = jwt.get_unverified_header(token)
        except (jwt.PyJWTError, ValueError, RecursionError) as error:
            raise TokenRefused("malformed", "This token cannot be read.") from error
        if header.get("alg") not in ALGORITHMS or "crit" in header:
            raise TokenRefused(
                "algorithm", f"This token is not signed with {' or '.join(sorted(ALGORITHMS))}."
            )
        key_id = header.get("kid")
        key = self._keys.find(key_id) if isinstance(key_id, str) else None
        if key is None:
            raise TokenRefused(
                "unknown_key", "This token is signed with a key that its issuer does not have."
            )
        try:
            claims: Mapping[str, Any] = jwt.decode(
                token,
                key.key,
                # The key's own, whatever the token says of itself.
                algorithms=[key.algorithm],
                audience=self._issuer.audience,
                issuer=self._issuer.url,
                leeway=LEEWAY_SECONDS,
                options={"require": ["exp", "iss", "aud"]},
            )
        except jwt.ExpiredSignatureError as error:
            raise TokenRefused("expired", "This token has expired: sign in again.") from error
        except (jwt.PyJWTError, ValueError, OverflowError, RecursionError) as error:
            raise TokenRefused(type(error).__name__, "This token is not one for Tripline.") from error
        return claims


def _caller(claims: Mapping[str, Any], issuer: Issuer) -> Caller:
    name = claims.get(issuer.actor_claim)
    most = _MAX_NAME - len(ISSUER_PREFIX)
    if not isinstance(name, str) or not 1 <= len(name) <= most or not name.isprintable():
        raise TokenRefused(
            "no_name", f"This token has no {issuer.actor_claim} of 1 to {most} printable characters."
        )
    role = _role(claims, issuer.role_claim)
    not_after = min(int(claims["exp"]), _LATEST) + LEEWAY_SECONDS
    return Caller(ISSUER_PREFIX + name, ROLES[role], role, float(not_after))


def _role(claims: Mapping[str, Any], claim: str) -> str:
    """The one role of ours; those of other applications say nothing here."""
    value = claims.get(claim) if claim in claims else _by_path(claims, claim)
    named = (
        {value} if isinstance(value, str) else set(filter(_is_text, value if isinstance(value, list) else ()))
    )
    roles = sorted(named & ROLES.keys())
    if len(roles) != 1:
        said = f"names more than one role: {', '.join(roles)}" if roles else "names no role"
        expected = f"expected one of {', '.join(ROLES)} in its claim {claim}"
        raise ProblemError(403, "no-role", f"This token {said}; {expected}.")
    return roles[0]


def _by_path(claims: Mapping[str, Any], path: str) -> object:
    """What stands at a path in dots, as `realm_access.roles`."""
    value: object = claims
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _is_text(value: object) -> bool:
    return isinstance(value, str)
