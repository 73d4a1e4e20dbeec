"""One partition's way into files: what waits to be written, where the files end, which of them to merge."""

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
"""Told of each file: how many new records it has, and its bytes."""


@dataclass(slots=True)
class PartitionWriter:
    """One partition of one topic. `position` is where the next file begins; None until it is known."""

    store: FileStore
    form: TableFormat
    wrote: Wrote
    files: list[SizedFile] = field(default_factory=list)
    position: int | None = None
    waiting: list[Record] = field(default_factory=list)
    waiting_bytes: int = 0

    @staticmethod
    def of(
        store: FileStore, form: TableFormat, pieces: Sequence[ArchiveFile], wrote: Wrote
    ) -> PartitionWriter:
        """Goes on from the partition's files; what a merge did not come to remove goes."""
        gone = superseded(pieces)
        store.remove(gone)
        files = [SizedFile(piece, store.size(piece)) for piece in sorted(set(pieces) - set(gone))]
        ends = max((piece.until for piece in pieces), default=None)
        return PartitionWriter(store, form, wrote, files, ends)

    def begin(self, topic: OffsetRange) -> int:
        """Where to read on: the files' end, or the topic's beginning if that is later. Says nothing of what is missing.

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
        """A record behind the last one."""
        self.waiting.append(record)
        self.waiting_bytes += record.size

    def flush(self) -> None:
        """Writes what waits. It is on the disk afterwards."""
        if not self.waiting:
            return
        assert self.position is not None
        piece = self.store.write(self.waiting, self.position, self.form)
        self._add(piece, len(self.waiting))
        self.position, self.waiting, self.waiting_bytes = piece.until, [], 0

    def merge(self) -> bool:
        """Merges some files if that is worth it; whether there was anything to do."""
        chosen = mergeable(self.files)
        if chosen is None:
            return False
        try:
            merged = self.store.merge(chosen, self.form)
        except FileNotFoundError:
            # whoever needs room may delete whole days at any time
            self.store.remove_unfinished()
            self.files = [file for file in self.files if self.store.has(file.piece)]
            return True
        self.files = [file for file in self.files if not merged.holds(file.piece)]
        self._add(merged, 0)
        return True

    def _add(self, piece: ArchiveFile, records: int) -> None:
        file = SizedFile(piece, self.store.size(piece))
        self.files = sorted([*self.files, file], key=lambda file: file.piece)
        self.wrote(records, file.size)
