"""A state log that several threads may use: anchors are rebuilt in parallel, and Spark's client is one connection."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from tripline_engine.domain.state_log.state_log import StateLog


class LockedStateLog:
    """A state log behind a lock."""

    def __init__(self, log: StateLog) -> None:
        self._log, self._lock = log, threading.Lock()

    def get(self, key: str) -> bytes | None:
        with self._lock:
            return self._log.get(key)

    def get_all(self, keys: Sequence[str]) -> list[bytes | None]:
        with self._lock:
            return self._log.get_all(keys)

    def put(self, key: str, data: bytes) -> None:
        with self._lock:
            self._log.put(key, data)

    def remove(self, key: str) -> None:
        with self._lock:
            self._log.remove(key)

    def remove_all(self, keys: Sequence[str]) -> None:
        with self._lock:
            self._log.remove_all(keys)
