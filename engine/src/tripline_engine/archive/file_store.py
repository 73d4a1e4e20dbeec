"""One topic's folder in the archive: listing, reading, writing and merging its files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tripline_engine.archive.archive_file import ArchiveFile, day_of, parse_path
from tripline_engine.archive.disk import Disk, LocalDisk
from tripline_engine.archive.table import RAW, TableFormat, records_of
from tripline_engine.kafka_log.record import Record

_UNFINISHED: Final = ".aside-"
_OFFSET: Final = RAW.get_field_index("offset")
_BATCH_ROWS: Final = 4096
_GROUP_BYTES: Final = 16 << 20
"""Approximate in-memory size of a row group."""


class FileStore:
    """Files of one topic. One process at a time may write."""

    def __init__(self, archive: Path, event_type: str, topic: str, disk: Disk | None = None) -> None:
        self.folder = archive / f"eventType={quote(event_type, safe='')}" / f"topic={quote(topic, safe='')}"
        self._disk = disk or LocalDisk()

    def files(self) -> dict[int, list[ArchiveFile]]:
        """Present files by partition, ascending, superseded ones included."""
        by_partition: dict[int, list[ArchiveFile]] = {}
        for path in self.folder.glob("date=*/p*.parquet"):
            file = parse_path(path)
            if file:
                by_partition.setdefault(file.partition, []).append(file)
        return {partition: sorted(files) for partition, files in sorted(by_partition.items())}

    def has(self, file: ArchiveFile) -> bool:
        """Whether the file exists."""
        return self._path(file).exists()

    def size(self, file: ArchiveFile) -> int:
        """Size of the file in bytes."""
        return self._path(file).stat().st_size

    def records(self, file: ArchiveFile, start: int = 0, until: int | None = None) -> Iterator[list[Record]]:
        """The records of a file with offsets in [start, until), in runs; of row groups without any nothing is read.

        Raises FileNotFoundError when it has been merged.
        """
        end = file.until if until is None else until
        with pq.ParquetFile(self._path(file)) as parquet:
            groups = _groups_with(parquet.metadata, start, end)
            for batch in parquet.iter_batches(_BATCH_ROWS, groups, RAW.names, use_threads=False):
                first, last = np.searchsorted(batch.column(_OFFSET).to_numpy(), [start, end]).tolist()
                if first < last:
                    yield list(records_of(batch.slice(first, last - first)))

    def last_record(self, file: ArchiveFile) -> Record | None:
        """The newest record of a file."""
        newest = None
        for run in self.records(file):
            newest = run[-1]
        return newest

    def write(self, records: Sequence[Record], first: int, form: TableFormat) -> ArchiveFile:
        """Writes records of one partition, by offset, to the file that begins at `first`; fsynced on return."""
        partition, until = records[0].partition, records[-1].offset + 1
        file = ArchiveFile(partition, first, until, day_of(max(record.timestamp for record in records)))
        self._write(file, [form.of_records(records)], form.schema)
        return file

    def merge(self, files: Sequence[ArchiveFile], form: TableFormat) -> ArchiveFile:
        """Merges neighbours of one day, by offset, into one file; removes them once it is fsynced."""
        merged = ArchiveFile(files[0].partition, files[0].first, files[-1].until, files[0].date)
        self._write(merged, self._batches(files, form), form.schema)
        self.remove(files)
        return merged

    def remove(self, files: Iterable[ArchiveFile]) -> None:
        """Deletes files."""
        for file in files:
            self._disk.remove(self._path(file))

    def remove_unfinished(self) -> None:
        """Deletes partial files of a killed writer."""
        for path in self.folder.glob(f"date=*/{_UNFINISHED}*"):
            self._disk.remove(path)

    def _batches(self, files: Sequence[ArchiveFile], form: TableFormat) -> Iterator[pa.RecordBatch]:
        for file in files:
            with pq.ParquetFile(self._path(file)) as parquet:
                for batch in parquet.iter_batches(_BATCH_ROWS, use_threads=False):
                    yield form.of_batch(batch)

    def _write(self, file: ArchiveFile, batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> None:
        path = self._path(file)
        unfinished = path.with_name(_UNFINISHED + path.name)
        self._make(path.parent)
        with pq.ParquetWriter(unfinished, schema, compression="zstd") as writer:
            for group in _groups(batches):
                writer.write_table(group)
        self._disk.sync(unfinished)
        self._disk.rename(unfinished, path)
        self._disk.sync(path.parent)

    def _make(self, folder: Path) -> None:
        """Creates a folder and its missing parents; each is fsynced before something is created in it."""
        if not folder.exists():
            self._make(folder.parent)
            folder.mkdir()
            self._disk.sync(folder.parent)

    def _path(self, file: ArchiveFile) -> Path:
        return self.folder / file.path


def _groups(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Small batches joined: each row group has its own dictionaries and statistics."""
    pending: list[pa.RecordBatch] = []
    for batch in batches:
        pending.append(batch)
        if sum(part.nbytes for part in pending) >= _GROUP_BYTES:
            yield pa.Table.from_batches(pending).combine_chunks()
            pending = []
    if pending:
        yield pa.Table.from_batches(pending).combine_chunks()


def _groups_with(metadata: pq.FileMetaData, first: int, until: int) -> list[int]:
    """The row groups that may have offsets in [first, until), by what the file says of each."""
    spans = [metadata.row_group(i).column(_OFFSET).statistics for i in range(metadata.num_row_groups)]
    return [
        i for i, told in enumerate(spans)
        if told is None or not told.has_min_max or (told.max >= first and told.min < until)
    ]  # fmt: skip
