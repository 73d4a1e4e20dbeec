"""A shard's state log as a file: an Arrow stream of record batches with keys and data.

Keys and data are opaque here.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import pyarrow as pa

_SCHEMA: Final = pa.schema([("key", pa.string()), ("data", pa.large_binary())])
_BATCH_BYTES: Final = 16 << 20


def write_state(path: Path, items: Iterable[tuple[str, bytes]]) -> None:
    """Writes the file; fsynced when this returns."""
    with path.open("wb") as file:
        with pa.ipc.new_stream(file, _SCHEMA) as writer:
            for batch in _batches(items):
                writer.write_batch(
                    pa.record_batch([list(column) for column in zip(*batch, strict=True)], _SCHEMA)
                )
        file.flush()
        os.fsync(file.fileno())


def read_state(path: Path) -> Iterator[tuple[str, bytes]]:
    """The items of a log, streamed: some megabytes in memory at a time."""
    with path.open("rb") as file, pa.ipc.open_stream(file) as reader:
        for batch in reader:
            yield from zip(batch.column("key").to_pylist(), batch.column("data").to_pylist(), strict=True)


def _batches(items: Iterable[tuple[str, bytes]]) -> Iterator[list[tuple[str, bytes]]]:
    batch: list[tuple[str, bytes]] = []
    size = 0
    for key, data in items:
        batch.append((key, data))
        size += len(data)
        if size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
