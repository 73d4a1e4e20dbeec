"""From the header of a request to whose key or token it carries, or to the refusal."""

from __future__ import annotations

import hashlib
import hmac
import math
import time
from collections.abc import Callable, Iterable
from typing import Protocol

import structlog

from tripline_http.errors import (
    ISSUER_RETRY_SECONDS,
    IssuerUnavailable,
    KeysUnavailable,
    ProblemError,
    TokenRefused,
)
from tripline_http.keys.caller import Caller
from tripline_http.keys.failure_buckets import FailureBuckets
from tripline_http.keys.key_file import ApiKey
from tripline_http.keys.stored_keys import StoredKeys

log = structlog.get_logger(__name__)

MIN_KEY_LENGTH = 16
"""Shorter keys can be guessed: they are refused, whatever the file says."""
_CHALLENGE = 'Bearer realm="tripline"'
Fail = Callable[[str, str, str | None], None]
"""Told address, reason and name of a failure; may raise the 429 problem."""


class Tokens(Protocol):
    """What judges the tokens of an issuer."""

    def takes(self, text: str) -> bool:
        """Whether it has the shape of a token."""

    def verify(self, token: str) -> Caller:
        """Raises TokenRefused, IssuerUnavailable, or the 403 problem for a token without a role here."""


class Authenticator:
    """Knows the keys of the file, those that are stored, and the issuer of tokens; counts the failures of each
    address."""

    def __init__(
        self,
        keys: Iterable[ApiKey],
        failures: FailureBuckets | None = None,
        wall: Callable[[], float] = time.time,
    ) -> None:
        """`keys` is gone through at each request; `wall` gives seconds since the epoch."""
        self._keys, self._wall = keys, wall
        self.stored: StoredKeys | None = None
        self.tokens: Tokens | None = None
        self._failures = failures or FailureBuckets()

    def authenticate(self, authorization: str, address: str) -> Caller:
        """Whose key or token this header has; raises what `judge` does."""
        scheme, _, token = authorization.partition(" ")
        token = token.strip()
        if scheme.lower() != "bearer" or not token:
            # No key is no guess: it is not counted.
            structlog.contextvars.bind_contextvars(address=address)
            raise _unauthenticated("Send a known API key as 'Authorization: Bearer <key>'.")
        return self.judge(token, address)

    def judge(self, token: str, address: str, *, is_guess: bool = True) -> Caller:
        """Whose key or token this is. Raises the 401 problem, 429 for an address that failed too often, 403 for a
        token without a role, 503 where key or token cannot be judged. What was good before is no guess: its failure
        is not counted."""
        # In every later line of this request, the one with its status too.
        structlog.contextvars.bind_contextvars(address=address)
        fail = self._fail if is_guess else _note_end
        key = self._find(token)
        if key is None and self.tokens is not None and self.tokens.takes(token):
            caller = self._verify(self.tokens, token, address, fail)
            structlog.contextvars.unbind_contextvars("address")
            return caller
        if key is None and self.stored is not None and len(token) >= MIN_KEY_LENGTH:
            key = self._find_stored(self.stored, token)
        if key is None:
            fail(address, "short" if len(token) < MIN_KEY_LENGTH else "unknown", None)
            raise _unauthenticated("This key is not known here.")
        if key.not_after is not None and self._wall() > key.not_after:
            fail(address, "expired", key.name)
            raise _unauthenticated("This API key has expired: ask for a new one.")
        if self.stored is not None:
            self.stored.used(key)
        structlog.contextvars.unbind_contextvars("address")
        return Caller(key.name, key.scopes, key.role, key.not_after)

    def _find_stored(self, stored: StoredKeys, token: str) -> ApiKey | None:
        try:
            key = stored.find(_sha256(token))
        except KeysUnavailable as error:
            log.warning("key_not_judged", reason=str(error))
            raise ProblemError(
                503,
                "keys-unavailable",
                "Whether this key is known cannot be told now.",
                headers={"Retry-After": "2"},
            ) from error
        # The file has the first word: one name is one caller.
        return None if key is None or any(known.name == key.name for known in self._keys) else key

    def _verify(self, tokens: Tokens, token: str, address: str, fail: Fail) -> Caller:
        try:
            return tokens.verify(token)
        except TokenRefused as error:
            fail(address, f"token_{error.reason}", None)
            raise _unauthenticated(str(error), 'Bearer realm="tripline", error="invalid_token"') from error
        except IssuerUnavailable as error:
            log.warning("token_not_judged", reason=str(error))
            raise ProblemError(
                503,
                "issuer-unavailable",
                "The issuer of this token does not answer, so it cannot be judged. API keys are not concerned.",
                headers={"Retry-After": str(math.ceil(ISSUER_RETRY_SECONDS))},
            ) from error

    def _fail(self, address: str, reason: str, actor: str | None) -> None:
        seconds = self._failures.fail(address)
        if seconds:
            raise ProblemError(
                429,
                "too-many-failures",
                "Too many wrong API keys came from this address. A known key is let in at any time.",
                headers={"Retry-After": str(seconds)},
            )
        log.warning("key_refused", address=address, reason=reason, actor=actor)

    def _find(self, token: str) -> ApiKey | None:
        if len(token) < MIN_KEY_LENGTH:
            return None
        digest = _sha256(token)
        match = None
        # All keys are compared, each in constant time: the time taken says nothing about which one matched.
        for key in self._keys:
            if hmac.compare_digest(key.sha256, digest):
                match = key
        return match


def _note_end(address: str, reason: str, actor: str | None) -> None:
    log.info("key_ended", address=address, reason=reason, actor=actor)


def _sha256(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def _unauthenticated(detail: str, challenge: str = _CHALLENGE) -> ProblemError:
    return ProblemError(401, "unauthenticated", detail, headers={"WWW-Authenticate": challenge})
