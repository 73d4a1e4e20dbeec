"""The keys that are given out over HTTP: read from where they are stored, every second while they are used."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import structlog

from tripline_http.errors import KeysUnavailable
from tripline_http.keys.key_file import ApiKey
from tripline_http.keys.roles import ROLES

log = structlog.get_logger(__name__)

LOOK_SECONDS: Final = 1.0
MISS_SECONDS: Final = 0.1
"""For a key that is not known they are read again after this: it may have been given out just now."""
LONGEST_SECONDS: Final = 60.0
"""Keys are good for so long after they were read last: one that is revoked meanwhile is not seen."""
USE_SECONDS: Final = 60.0
"""The last use of a key is written no more often than this."""


@dataclass(frozen=True, slots=True)
class StoredKey:
    """A key by its hash; `not_after` is the last moment that it is good for, in ms since the epoch, None: no end."""

    secret_id: int
    name: str
    role: str
    sha256: str
    not_after: int | None


class KeyStore(Protocol):
    """Where the keys are."""

    def living(self) -> Sequence[StoredKey]:
        """Those that are not revoked. Raises KeysUnavailable."""

    def note_use(self, secret_id: int, now_ms: int) -> None:
        """Writes when the key was used last, unless that was written within the last minute. Raises
        KeysUnavailable."""


class StoredKeys:
    """The keys of a store as they were within the last second."""

    def __init__(
        self,
        store: KeyStore,
        steady: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        """`steady` and `wall` give seconds."""
        self._store, self._steady, self._wall = store, steady, wall
        self._keys: Mapping[str, StoredKey] = {}
        self._read_at = self._looked_at = float("-inf")
        self._noted: dict[int, float] = {}
        self._looking = threading.Lock()

    def find(self, sha256: str) -> ApiKey | None:
        """The key with this hash, its end passed or not. Raises KeysUnavailable where that cannot be told."""
        self._look(LOOK_SECONDS)
        api_key = self._keys.get(sha256)
        if api_key is None and self._looked_at == self._read_at:
            self._look(MISS_SECONDS)
            api_key = self._keys.get(sha256)
        age = self._steady() - self._read_at
        if age > LONGEST_SECONDS or (api_key is None and self._looked_at > self._read_at):
            raise KeysUnavailable("the keys cannot be read")
        if api_key is None or api_key.role not in ROLES:
            return None
        end = None if api_key.not_after is None else api_key.not_after / 1000
        return ApiKey(api_key.name, api_key.sha256, ROLES[api_key.role], end, api_key.role)

    def used(self, key: ApiKey) -> None:
        """Notes that the key has let somebody in."""
        stored = self._keys.get(key.sha256)
        now = self._steady()
        if stored is None or now - self._noted.get(stored.secret_id, float("-inf")) < USE_SECONDS:
            return
        self._noted[stored.secret_id] = now
        try:
            self._store.note_use(stored.secret_id, int(self._wall() * 1000))
        except KeysUnavailable as error:
            log.warning("key_use_not_noted", actor=key.name, reason=str(error))

    def _look(self, seconds: float) -> None:
        # Who comes while another thread looks goes on with the keys that are known, if any were ever read.
        is_new = self._read_at == float("-inf") and self._looked_at == self._read_at
        if self._steady() - self._looked_at < seconds or not self._looking.acquire(blocking=is_new):
            return
        try:
            if self._steady() - self._looked_at < seconds:
                return
            self._read()
        finally:
            self._looking.release()

    def _read(self) -> None:
        try:
            living = self._store.living()
        except KeysUnavailable as error:
            if self._looked_at <= self._read_at:
                log.error("stored_keys_kept", reason=str(error))
            self._looked_at = self._steady()
            return
        self._keys = {key.sha256: key for key in living}
        ids = {key.secret_id for key in living}
        self._noted = {secret: noted for secret, noted in self._noted.items() if secret in ids}
        self._read_at = self._looked_at = self._steady()
