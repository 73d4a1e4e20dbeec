"""The issuer's public keys, kept for a while: a rotation is followed, and an issuer that is away is outlasted.

fetched        FRESH                          LONGEST
|---------------|------------------------------|------------>  age of the keys
  as they are     as they are while the issuer   503 until it
                  cannot be reached              answers
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import jwt
import structlog
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from tripline_http.errors import ISSUER_RETRY_SECONDS, IssuerUnavailable

log = structlog.get_logger(__name__)

FRESH_SECONDS: Final = 600.0
LONGEST_SECONDS: Final = 3600.0
_LEAST_RSA_BITS: Final = 2048
_MAX_KEYS: Final = 100

PublicKey = RSAPublicKey | EllipticCurvePublicKey


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A public key and the one algorithm that it is good for."""

    key: PublicKey
    algorithm: str


class SigningKeys:
    """Keys by their id."""

    def __init__(
        self, fetch: Callable[[], list[object]], steady: Callable[[], float] = time.monotonic
    ) -> None:
        """`fetch` gives the entries of a JWKS or raises IssuerUnavailable; `steady` gives seconds."""
        self._fetch, self._steady = fetch, steady
        self._keys: Mapping[str, SigningKey] = {}
        self._fetched_at = self._tried_at = float("-inf")
        self._asking = threading.Lock()

    @property
    def is_unreachable(self) -> bool:
        """Whether the issuer could not be asked the last time."""
        return self._tried_at > self._fetched_at

    def find(self, key_id: str) -> SigningKey | None:
        """The key, or None where the issuer has no such key. Raises IssuerUnavailable where that cannot be told."""
        if key_id not in self._keys or self._age() > FRESH_SECONDS:
            self._ask_again(key_id)
        if self._age() > LONGEST_SECONDS:
            raise IssuerUnavailable("its keys are too old to be relied on")
        signing_key = self._keys.get(key_id)
        if signing_key is None and self.is_unreachable:
            raise IssuerUnavailable("whether it has a new key cannot be told")
        return signing_key

    def _age(self) -> float:
        return self._steady() - self._fetched_at

    def _ask_again(self, key_id: str) -> None:
        # While another thread asks, only who can do nothing without the answer waits for it; and nobody waits for an
        # issuer that did not answer the last time, so that it cannot hold all threads.
        waits = key_id not in self._keys and not self.is_unreachable
        if not self._asking.acquire(blocking=waits):
            return
        try:
            if self._steady() - self._tried_at < ISSUER_RETRY_SECONDS:
                return
            try:
                entries = self._fetch()
            except IssuerUnavailable as error:
                self._tried_at = self._steady()
                log.warning("token_issuer_unavailable", reason=str(error))
                return
            self._keys = _usable(entries)
            self._fetched_at = self._tried_at = self._steady()
            log.info("token_keys_read", keys=len(self._keys))
        finally:
            self._asking.release()


def _usable(entries: list[object]) -> dict[str, SigningKey]:
    """Those that sign with an algorithm that is let in; others are for somebody else."""
    keys = {}
    for entry in entries[:_MAX_KEYS]:
        if isinstance(entry, dict) and isinstance(key_id := entry.get("kid"), str):
            key = _parse(entry)
            if key is not None and entry.get("use", "sig") == "sig":
                keys[key_id] = key
    return keys


def _parse(entry: dict[str, object]) -> SigningKey | None:
    algorithm = {"RSA": "RS256", "EC": "ES256"}.get(str(entry.get("kty")))
    if algorithm is None or entry.get("alg", algorithm) != algorithm:
        return None
    try:
        key = jwt.PyJWK(entry, algorithm).key
    except (jwt.PyJWTError, ValueError, TypeError):
        log.warning("token_key_refused", kid=entry["kid"])
        return None
    if isinstance(key, RSAPublicKey) and key.key_size >= _LEAST_RSA_BITS:
        return SigningKey(key, algorithm)
    if isinstance(key, EllipticCurvePublicKey) and isinstance(key.curve, SECP256R1):
        return SigningKey(key, algorithm)
    log.warning("token_key_refused", kid=entry["kid"])
    return None
