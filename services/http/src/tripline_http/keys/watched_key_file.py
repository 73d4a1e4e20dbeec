"""The keys of a file that may change while the process runs: a key is given out or revoked without a restart."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import structlog

from tripline_http.errors import ConfigurationError
from tripline_http.keys.key_file import ApiKey, load_api_keys

log = structlog.get_logger(__name__)

LOOK_SECONDS = 1.0
"""The file is looked at no more often than this, whatever the number of requests."""
_SETTLED_SECONDS = 2.0
"""A file that was written less long ago may be written again without a new time of change."""

_Version = tuple[int, int, int, int]


class WatchedKeyFile:
    """An iterable of the keys that are in the file now; a file that is broken leaves those of before."""

    def __init__(
        self,
        path: Path,
        steady: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        """Reads the file; `steady` and `wall` give seconds. Raises ConfigurationError."""
        self._path, self._steady, self._wall = path, steady, wall
        self._version = self._version_now()
        self._keys = load_api_keys(path)
        self._trouble: str | None = None
        self._looked_at = steady()
        self._looking = threading.Lock()

    def __iter__(self) -> Iterator[ApiKey]:
        self._look()
        return iter(self._keys)

    @property
    def is_refused(self) -> bool:
        """Whether the file, as it is now, is broken, so that the keys are those of before."""
        self._look()
        return self._trouble is not None

    def _look(self) -> None:
        # Who comes while another thread looks goes on with the keys that are known.
        if self._steady() - self._looked_at < LOOK_SECONDS or not self._looking.acquire(blocking=False):
            return
        try:
            # Before it is read: what is written after this is seen at the next look.
            version = self._version_now()
            if version is None or version != self._version:
                self._read()
                self._version = version
            self._looked_at = self._steady()
        finally:
            self._looking.release()

    def _read(self) -> None:
        try:
            keys = load_api_keys(self._path)
        except ConfigurationError as error:
            if self._trouble != str(error):
                self._trouble = str(error)
                log.error("api_keys_kept", reason=self._trouble)
            return
        if keys != self._keys or self._trouble is not None:
            log.info("api_keys_read_again", actors=sorted(key.name for key in keys))
        self._keys, self._trouble = keys, None

    def _version_now(self) -> _Version | None:
        """The identity of what the file holds; None where that cannot be told."""
        try:
            status = self._path.stat()
        except OSError:
            return None
        if self._wall() - max(status.st_ctime, status.st_mtime) < _SETTLED_SECONDS:
            return None
        return (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
