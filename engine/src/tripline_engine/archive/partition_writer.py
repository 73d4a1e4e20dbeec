"""Writer of one partition: its buffer of records, the end offset of its files, their compaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tripline_engine.archive.archive_file import ArchiveFile
from tripline_engine.archive.compaction import SizedFile, mergeable
from tripline_engine.archive.file_ranges import superseded
from tripline_engine.archive.file_store import FileStore
from tripline_engine.archive.table import TableFormat
from tripline_engine.errors import ArchiveMismatch
from tripline_engine.kafka_log.offset_range import OffsetRange
from tripline_engine.kafka_log.record import Record

Wrote = Callable[[int, int], None]
"""Callback for each written file: its number of new records, and its bytes."""


@dataclass(slots=True)
class PartitionWriter:
    """One partition of one topic. `position` is where the next file begins; None until it is known."""

    store: FileStore
    table_format: TableFormat
    wrote: Wrote
    files: list[SizedFile] = field(default_factory=list)
    position: int | None = None
    pending: list[Record] = field(default_factory=list)
    pending_bytes: int = 0

    @staticmethod
    def of(
        store: FileStore, table_format: TableFormat, files_on_disk: Sequence[ArchiveFile], wrote: Wrote
    ) -> PartitionWriter:
        """Resumes after the partition's files; removes files superseded by a merge that was killed."""
        superseded_files = superseded(files_on_disk)
        store.remove(superseded_files)
        files = [
            SizedFile(file, store.size(file)) for file in sorted(set(files_on_disk) - set(superseded_files))
        ]
        ends = max((file.until for file in files_on_disk), default=None)
        return PartitionWriter(store, table_format, wrote, files, ends)

    def begin(self, topic: OffsetRange) -> int:
        """The offset to read from: the files' end, or the topic's beginning if that is later. Gaps are not reported.

        Raises ArchiveMismatch if the topic ends before the files do.
        """
        if self.position is None:
            self.position = topic.first
        if topic.until < self.position:
            raise ArchiveMismatch(
                f"{self.store.folder}: has offsets up to {self.position}, and the topic ends at {topic.until}: it was"
                " made anew; set TRIPLINE_ARCHIVE to another folder"
            )
        self.position = max(self.position, topic.first)
        return self.position

    def take(self, record: Record) -> None:
        """Buffers the partition's next record."""
        self.pending.append(record)
        self.pending_bytes += record.size

    def flush(self) -> None:
        """Writes the buffer; fsynced when this returns."""
        if not self.pending:
            return
        assert self.position is not None
        file = self.store.write(self.pending, self.position, self.table_format)
        self._add(file, len(self.pending))
        self.position, self.pending, self.pending_bytes = file.until, [], 0

    def merge(self) -> bool:
        """One step of compaction; False if no files are due."""
        neighbours = mergeable(self.files)
        if neighbours is None:
            return False
        try:
            merged = self.store.merge(neighbours, self.table_format)
        except FileNotFoundError:
            # an operator may delete whole days at any time
            self.store.remove_unfinished()
            self.files = [sized for sized in self.files if self.store.has(sized.file)]
            return True
        self.files = [sized for sized in self.files if not merged.holds(sized.file)]
        self._add(merged, 0)
        return True

    def _add(self, file: ArchiveFile, records: int) -> None:
        sized = SizedFile(file, self.store.size(file))
        self.files = sorted([*self.files, sized], key=lambda sized: sized.file)
        self.wrote(records, sized.size)
