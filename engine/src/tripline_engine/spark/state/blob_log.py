"""A shard's state log with blob files: large segments and bucket runs are files in the checkpoint.

Spark's state store would carry each of them through the JVM, write it to its changelog and to RocksDB's tables, compact
it from table to table, and read all of it again before the first micro-batch of a restart. But each is written once,
and read when it is merged, pruned, or all arrays are lost: the store gets a file name instead.

    <checkpoint>/segments/<shard>/segment/<anchor>/<number>.<micro-batch>.<CRC-32>
    <checkpoint>/segments/<shard>/buckets/<anchor>/<bucket set>/<number>.<micro-batch>.<CRC-32>

A file is complete before its name is in the store, and after the last micro-batch that names it is retained for as many
micro-batches as Spark keeps versions of the store. A repeated micro-batch writes the same content to the same name, and
no later one writes to it, so every retained version of the store finds the files that it names. Files of a micro-batch
that was never committed, and is repeated with other content, become orphans: no version names them.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final
from zlib import compress, crc32, decompress

import msgspec

from tripline_engine.domain.state_log.state_log import LARGE_ONES, StateLog
from tripline_engine.errors import StateStoreFailed
from tripline_engine.spark.state.blob_index import BlobIndex, stubbed

LARGE: Final = 1 << 16
"""Bytes from which on an entry is a file: creating a file takes as long as sending as much to the state store."""
KEPT_BATCHES: Final = 100
"""Versions of the state store that Spark retains (`spark.sql.streaming.minBatchesToRetain`)."""
_BATCHES_PER_SWEEP: Final = 10
GONE: Final = "segments/gone"
"""Key of the files to delete: pairs of the micro-batch that dropped a file, and its name."""

_UNFINISHED: Final = ".unfinished"
_SEGMENTS: Final = "segments"


class BlobLog:
    """One micro-batch's view of a state log; `finish` is to be called before the micro-batch ends.

    Raises StateStoreFailed where a file is missing or corrupt.
    """

    def __init__(self, log: StateLog, folder: Path, batch: int, large: int = LARGE) -> None:
        """`folder` is the shard's, `batch` the micro-batch's number; entries of `large` bytes or more are files."""
        self._log, self._folder, self._batch, self._large = log, folder, batch, large
        self._names = BlobIndex(log)
        # segments and runs with a store entry, as far as read; with the file name of those that are stubs
        self._inline: dict[str, str | None] = {}
        self._dropped: set[str] = set()

    def get(self, key: str) -> bytes | None:
        return self.get_all([key])[0]

    def get_all(self, keys: Sequence[str]) -> list[bytes | None]:
        names = self._names.find(_large_ones(keys))
        others = [key for key in keys if key not in names]
        entries = dict(zip(others, self._log.get_all(others), strict=True))
        for key in _large_ones(others):
            self._record_inline(key, entries[key])
        names |= {key: name for key in others if (name := self._inline.get(key))}
        return [_content(self._folder / names[key]) if key in names else entries[key] for key in keys]

    def put(self, key: str, data: bytes) -> None:
        if not key.startswith(LARGE_ONES):
            self._log.put(key, data)
            return
        was_inline = key in self._inline
        self._drop_file(key)
        if is_file(key, data, self._large):
            name = f"{key}.{self._batch}.{crc32(data):08x}"
            _write(self._folder / name, data)
            self._names.put(key, name)
            self._dropped.discard(name)
            if was_inline:
                self._log.remove(key)
        else:
            self._log.put(key, data)
            self._inline[key] = None

    def remove(self, key: str) -> None:
        self.remove_all([key])

    def remove_all(self, keys: Sequence[str]) -> None:
        named = self._names.find(_large_ones(keys))
        others = [key for key in keys if key not in named]
        unread = [key for key in _large_ones(others) if key not in self._inline]
        for key, data in zip(unread, self._log.get_all(unread), strict=True):
            self._record_inline(key, data)
        for key in _large_ones(keys):
            self._drop_file(key)
        self._log.remove_all(others)

    def finish(self) -> None:
        """Deletes dropped files that no retained version of the state store names."""
        self._names.finish()
        # a periodic sweep, or the last files would wait for ever for a micro-batch that drops one
        if not self._dropped and self._batch % _BATCHES_PER_SWEEP:
            return
        deletions = [
            *_deletions(self._log.get(GONE)),
            *((self._batch, name) for name in sorted(self._dropped)),
        ]
        due = [name for batch, name in deletions if batch + KEPT_BATCHES <= self._batch]
        for name in due:
            (self._folder / name).unlink(missing_ok=True)
        if self._dropped or due:
            later = [(batch, name) for batch, name in deletions if batch + KEPT_BATCHES > self._batch]
            self._log.put(GONE, compress(msgspec.json.encode(later)))

    def _record_inline(self, key: str, data: bytes | None) -> None:
        """Remembers the store entry of a key, read from the store."""
        if data is not None:
            self._inline[key] = stubbed(data)

    def _drop_file(self, key: str) -> None:
        """Drops the key's file, if it has one. A key that was never read is new, and has none."""
        name = self._names.pop(key) or self._inline.pop(key, None)
        if name is not None:
            self._dropped.add(name)


def _large_ones(keys: Iterable[str]) -> list[str]:
    return [key for key in keys if key.startswith(LARGE_ONES)]


def is_file(key: str, data: bytes, large: int = LARGE) -> bool:
    """Whether an entry of this key and size becomes a file."""
    return key.startswith(LARGE_ONES) and len(data) >= large


def shard_folder(checkpoint: Path, shard: int) -> Path:
    """Folder of a shard's blob files."""
    return checkpoint / _SEGMENTS / str(shard)


def remove_unfinished_blobs(checkpoint: Path) -> None:
    """Remove partial files of killed processes. To be called while nobody writes."""
    for path in (checkpoint / _SEGMENTS).rglob(f"*{_UNFINISHED}"):
        path.unlink(missing_ok=True)


def _deletions(stored: bytes | None) -> list[tuple[int, str]]:
    return msgspec.json.decode(decompress(stored), type=list[tuple[int, str]]) if stored else []


def _write(path: Path, data: bytes) -> None:
    """Atomic, also against another attempt that writes the same file."""
    new = path.with_name(f"{path.name}.{secrets.token_hex(4)}{_UNFINISHED}")
    with suppress(FileNotFoundError):
        new.write_bytes(data)
        new.rename(path)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    new.write_bytes(data)
    new.rename(path)


def _content(path: Path) -> bytes:
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise StateStoreFailed(f"{path} is gone, which the state store names: {_ADVICE}") from error
    if f"{crc32(data):08x}" != path.name.rpartition(".")[2]:
        raise StateStoreFailed(f"{path} is not what was written there: {_ADVICE}")
    return data


_ADVICE: Final = "bring it back from a backup, or build the checkpoint again (tripline-engine rebuild)"
