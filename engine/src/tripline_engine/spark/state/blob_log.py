"""A shard's state log whose large segments and runs of buckets are files in the checkpoint.

Spark's state store would carry each of them through the JVM, write it to a log of changes and to tables, move it from
table to table, and read all of it again before the first micro-batch of a restart. Either is written once and read
when it is merged, pruned, or all history is lost: the store gets a file's name instead.

    <checkpoint>/segments/<shard>/segment/<anchor>/<number>.<micro-batch>.<CRC-32>
    <checkpoint>/segments/<shard>/buckets/<anchor>/<bucket set>/<number>.<micro-batch>.<CRC-32>

A file is whole before the store is told of it, and stays for as many micro-batches after the last one that names it as
Spark keeps versions of the store. A micro-batch that is repeated writes the same content to the same name, and no later
one writes to it, so that whatever version of the store is gone on from finds what it names. What a micro-batch has
written that never was committed, and is repeated otherwise, stays behind: nobody names it.
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
"""Bytes. To make a file takes as long as to hand so much to the state store."""
KEPT_BATCHES: Final = 100
"""As many versions as Spark keeps of the state store (`spark.sql.streaming.minBatchesToRetain`)."""
_LOOKED_EACH: Final = 10
GONE: Final = "segments/gone"
"""The key of what is to be removed: pairs of the micro-batch that let go of a file, and its name."""

_UNFINISHED: Final = ".unfinished"
_SEGMENTS: Final = "segments"


class BlobLog:
    """One micro-batch's view of a state log; `finish` is to be called before that ends.

    Raises StateStoreFailed where a file is gone or is not what was written.
    """

    def __init__(self, log: StateLog, folder: Path, batch: int, large: int = LARGE) -> None:
        """`folder` is the shard's, `batch` the number of the micro-batch, and of so many bytes a segment is a file."""
        self._log, self._folder, self._batch, self._large = log, folder, batch, large
        self._names = BlobIndex(log)
        # segments and runs that have an entry of their own, as far as is known, each with the file that this names
        self._own: dict[str, str | None] = {}
        self._left: set[str] = set()

    def get(self, key: str) -> bytes | None:
        return self.get_all([key])[0]

    def get_all(self, keys: Sequence[str]) -> list[bytes | None]:
        names = self._names.find(_large_ones(keys))
        others = [key for key in keys if key not in names]
        found = dict(zip(others, self._log.get_all(others), strict=True))
        for key in _large_ones(others):
            self._note(key, found[key])
        names |= {key: name for key in others if (name := self._own.get(key))}
        return [_content(self._folder / names[key]) if key in names else found[key] for key in keys]

    def put(self, key: str, data: bytes) -> None:
        if not key.startswith(LARGE_ONES):
            self._log.put(key, data)
            return
        had_own = key in self._own
        self._leave(key)
        if is_file(key, data, self._large):
            name = f"{key}.{self._batch}.{crc32(data):08x}"
            _write(self._folder / name, data)
            self._names.put(key, name)
            self._left.discard(name)
            if had_own:
                self._log.remove(key)
        else:
            self._log.put(key, data)
            self._own[key] = None

    def remove(self, key: str) -> None:
        self.remove_all([key])

    def remove_all(self, keys: Sequence[str]) -> None:
        named = self._names.find(_large_ones(keys))
        others = [key for key in keys if key not in named]
        unread = [key for key in _large_ones(others) if key not in self._own]
        for key, data in zip(unread, self._log.get_all(unread), strict=True):
            self._note(key, data)
        for key in _large_ones(keys):
            self._leave(key)
        self._log.remove_all(others)

    def finish(self) -> None:
        """Have the files removed that nothing names, once that is as old as Spark's oldest version."""
        self._names.finish()
        # the last ones would wait for ever if only what loses a file looked at those that wait
        if not self._left and self._batch % _LOOKED_EACH:
            return
        waiting = [*_waiting(self._log.get(GONE)), *((self._batch, name) for name in sorted(self._left))]
        due = [name for batch, name in waiting if batch + KEPT_BATCHES <= self._batch]
        for name in due:
            (self._folder / name).unlink(missing_ok=True)
        if self._left or due:
            kept = msgspec.json.encode([each for each in waiting if each[0] + KEPT_BATCHES > self._batch])
            self._log.put(GONE, compress(kept))

    def _note(self, key: str, data: bytes | None) -> None:
        """That is its own entry."""
        if data is not None:
            self._own[key] = stubbed(data)

    def _leave(self, key: str) -> None:
        """Whatever file it has is not its file any more. What was never asked for is new, and has none."""
        name = self._names.pop(key) or self._own.pop(key, None)
        if name is not None:
            self._left.add(name)


def _large_ones(keys: Iterable[str]) -> list[str]:
    return [key for key in keys if key.startswith(LARGE_ONES)]


def is_file(key: str, data: bytes, large: int = LARGE) -> bool:
    """Whether such an entry becomes a file."""
    return key.startswith(LARGE_ONES) and len(data) >= large


def shard_folder(checkpoint: Path, shard: int) -> Path:
    """Where that shard's files are."""
    return checkpoint / _SEGMENTS / str(shard)


def remove_unfinished_blobs(checkpoint: Path) -> None:
    """Remove what killed processes have begun to write. To be called while nobody writes."""
    for path in (checkpoint / _SEGMENTS).rglob(f"*{_UNFINISHED}"):
        path.unlink(missing_ok=True)


def _waiting(stored: bytes | None) -> list[tuple[int, str]]:
    return msgspec.json.decode(decompress(stored), type=list[tuple[int, str]]) if stored else []


def _write(path: Path, data: bytes) -> None:
    """All of the file or nothing, whoever else writes it."""
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
