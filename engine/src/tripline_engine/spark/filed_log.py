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
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final
from zlib import compress, crc32, decompress

import msgspec

from tripline_engine.domain.records import LARGE_ONES, StateLog
from tripline_engine.errors import StateStoreFailed

LARGE: Final = 1 << 16
"""Bytes. To make a file takes as long as to hand so much to the state store."""
KEPT_BATCHES: Final = 100
"""As many versions as Spark keeps of the state store (`spark.sql.streaming.minBatchesToRetain`)."""
_LOOKED_EACH: Final = 10
GONE: Final = "segments/gone"
"""The key of what is to be removed: pairs of the micro-batch that let go of a file, and its name."""

# Neither an Arrow stream nor an apart run begins with it.
_NAMED: Final = b"file "
_UNFINISHED: Final = ".unfinished"
_SEGMENTS: Final = "segments"


class FiledLog:
    """One micro-batch's view of a state log; `finish` is to be called before that ends.

    Raises StateStoreFailed where a file is gone or is not what was written.
    """

    def __init__(self, log: StateLog, folder: Path, batch: int, large: int = LARGE) -> None:
        """`folder` is the shard's, `batch` the number of the micro-batch, and of so many bytes a segment is a file."""
        self._log, self._folder, self._batch, self._large = log, folder, batch, large
        # of each segment that has been read or written the file that has it, if one has
        self._files: dict[str, str | None] = {}
        self._left: list[str] = []

    def get(self, key: str) -> bytes | None:
        return self.get_all([key])[0]

    def get_all(self, keys: Sequence[str]) -> list[bytes | None]:
        return [self._read(key, data) for key, data in zip(keys, self._log.get_all(keys), strict=True)]

    def put(self, key: str, data: bytes) -> None:
        self._leave(key)
        if is_file(key, data, self._large):
            name = f"{key}.{self._batch}.{crc32(data):08x}"
            _write(self._folder / name, data)
            self._files[key], data = name, _NAMED + name.encode()
        self._log.put(key, data)

    def remove(self, key: str) -> None:
        self.remove_all([key])

    def remove_all(self, keys: Sequence[str]) -> None:
        unread = [key for key in keys if key.startswith(LARGE_ONES) and key not in self._files]
        for key, data in zip(unread, self._log.get_all(unread), strict=True):
            self._files[key] = named(data)
        for key in keys:
            self._leave(key)
        self._log.remove_all(keys)

    def finish(self) -> None:
        """Have the files removed that nothing names, once that is as old as Spark's oldest version."""
        live = set(self._files.values())
        left = sorted({name for name in self._left if name not in live})
        # the last ones would wait for ever if only what loses a file looked at those that wait
        if not left and self._batch % _LOOKED_EACH:
            return
        found = _waiting(self._log.get(GONE))
        waiting = [*found, *((self._batch, name) for name in left)]
        due = [name for batch, name in waiting if batch + KEPT_BATCHES <= self._batch]
        for name in due:
            (self._folder / name).unlink(missing_ok=True)
        if left or due:
            kept = msgspec.json.encode([each for each in waiting if each[0] + KEPT_BATCHES > self._batch])
            self._log.put(GONE, compress(kept))

    def _read(self, key: str, data: bytes | None) -> bytes | None:
        if not key.startswith(LARGE_ONES):
            return data
        name = self._files[key] = named(data)
        return data if name is None else _content(self._folder / name)

    def _leave(self, key: str) -> None:
        name = self._files.pop(key, None)
        if name is not None:
            self._left.append(name)


def is_file(key: str, data: bytes, large: int = LARGE) -> bool:
    """Whether such an entry becomes a file."""
    return key.startswith(LARGE_ONES) and len(data) >= large


def named(data: bytes | None) -> str | None:
    """The file that a segment's entry in the state store names, below the shard's folder, if it does."""
    return data.removeprefix(_NAMED).decode() if data is not None and data.startswith(_NAMED) else None


def shard_folder(checkpoint: Path, shard: int) -> Path:
    """Where that shard's files are."""
    return checkpoint / _SEGMENTS / str(shard)


def forget_unfinished(checkpoint: Path) -> None:
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
