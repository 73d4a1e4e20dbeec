"""One topic's folder in the archive: what is there, a new file, several made one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq

from tripline_engine.archive.archive_file import ArchiveFile, day_of, parse_path
from tripline_engine.archive.disk import Disk, LocalDisk
from tripline_engine.archive.table import RAW, TableFormat, records_of
from tripline_engine.kafka_log.record import Record

_ASIDE: Final = ".aside-"
_BATCH_ROWS: Final = 4096
_GROUP_BYTES: Final = 16 << 20
"""Of values in memory that become one row group, about."""


class FileStore:
    """Files of one topic. One process at a time may write."""

    def __init__(self, archive: Path, event_type: str, topic: str, disk: Disk | None = None) -> None:
        self.folder = archive / f"eventType={quote(event_type, safe='')}" / f"topic={quote(topic, safe='')}"
        self._disk = disk or LocalDisk()

    def pieces(self) -> dict[int, list[ArchiveFile]]:
        """By partition, ascending, what is there now; superseded ones too."""
        found: dict[int, list[ArchiveFile]] = {}
        for path in self.folder.glob("date=*/p*.parquet"):
            piece = parse_path(path)
            if piece:
                found.setdefault(piece.partition, []).append(piece)
        return {partition: sorted(pieces) for partition, pieces in sorted(found.items())}

    def has(self, piece: ArchiveFile) -> bool:
        """Whether its file is there."""
        return self._path(piece).exists()

    def size(self, piece: ArchiveFile) -> int:
        """Of the file, in bytes."""
        return self._path(piece).stat().st_size

    def records(self, piece: ArchiveFile, start: int = 0) -> Iterator[list[Record]]:
        """The records of a file from offset `start` on, in runs. Raises FileNotFoundError when it has been merged."""
        with pq.ParquetFile(self._path(piece)) as file:
            for batch in file.iter_batches(_BATCH_ROWS, columns=RAW.names, use_threads=False):
                run = [record for record in records_of(batch) if record.offset >= start]
                if run:
                    yield run

    def last_record(self, piece: ArchiveFile) -> Record | None:
        """The newest record of a file."""
        newest = None
        for run in self.records(piece):
            newest = run[-1]
        return newest

    def write(self, records: Sequence[Record], first: int, form: TableFormat) -> ArchiveFile:
        """Records of one partition, by offset, as the piece that begins at `first`. It is on the disk afterwards."""
        partition, until = records[0].partition, records[-1].offset + 1
        piece = ArchiveFile(partition, first, until, day_of(max(record.timestamp for record in records)))
        self._write(piece, [form.of_records(records)], form.schema)
        return piece

    def merge(self, pieces: Sequence[ArchiveFile], form: TableFormat) -> ArchiveFile:
        """Neighbours of one day, by offset, as one piece; they go once it is on the disk."""
        merged = ArchiveFile(pieces[0].partition, pieces[0].first, pieces[-1].until, pieces[0].date)
        self._write(merged, self._batches(pieces, form), form.schema)
        self.remove(pieces)
        return merged

    def remove(self, pieces: Iterable[ArchiveFile]) -> None:
        """Files that nobody needs."""
        for piece in pieces:
            self._disk.remove(self._path(piece))

    def remove_unfinished(self) -> None:
        """What a writer that was killed has left aside."""
        for path in self.folder.glob(f"date=*/{_ASIDE}*"):
            self._disk.remove(path)

    def _batches(self, pieces: Sequence[ArchiveFile], form: TableFormat) -> Iterator[pa.RecordBatch]:
        for piece in pieces:
            with pq.ParquetFile(self._path(piece)) as file:
                for batch in file.iter_batches(_BATCH_ROWS, use_threads=False):
                    yield form.of_batch(batch)

    def _write(self, piece: ArchiveFile, batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> None:
        path = self._path(piece)
        aside = path.with_name(_ASIDE + path.name)
        self._make(path.parent)
        with pq.ParquetWriter(aside, schema, compression="zstd") as writer:
            for group in _groups(batches):
                writer.write_table(group)
        self._disk.sync(aside)
        self._disk.rename(aside, path)
        self._disk.sync(path.parent)

    def _make(self, folder: Path) -> None:
        """With those above it that are missing; each is on the disk before something is put into it."""
        if not folder.exists():
            self._make(folder.parent)
            folder.mkdir()
            self._disk.sync(folder.parent)

    def _path(self, piece: ArchiveFile) -> Path:
        return self.folder / piece.path


def _groups(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Small batches joined: each row group has its own dictionaries and statistics."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(part.nbytes for part in waiting) >= _GROUP_BYTES:
            yield pa.Table.from_batches(waiting).combine_chunks()
            waiting = []
    if waiting:
        yield pa.Table.from_batches(waiting).combine_chunks()
