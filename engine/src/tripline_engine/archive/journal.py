"""A topic and its archive as one log: archived offsets come from files, the others from Kafka.

At the end of each file and of the topic the position is looked up again, so files may be merged and records deleted
during a read.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final, Protocol

from tripline_engine.archive.archive_file import ArchiveFile
from tripline_engine.archive.file_ranges import archived_ranges, covering_files, merged_ranges
from tripline_engine.archive.file_store import FileStore
from tripline_engine.errors import RecordsMissing
from tripline_engine.kafka_log.offset_range import OffsetRange
from tripline_engine.kafka_log.record import Record
from tripline_engine.kafka_log.topic_log import OffsetsGone

NO_ENDS: Final[Mapping[int, int]] = MappingProxyType({})
_ATTEMPTS: Final = 3
"""At a position: files may be merged, and records archived and deleted, between looking and reading."""


class ReadableTopic(Protocol):
    """Port to a Kafka topic: `kafka_log.topic_log.TopicLog`, or a topic in memory."""

    @property
    def name(self) -> str: ...

    def partitions(self) -> list[int]: ...

    def span(self, partition: int) -> OffsetRange: ...

    def records(self, partition: int, start: int, until: int) -> Iterator[list[Record]]: ...


class Journal:
    """Reader of one topic and its archive; without a store, of Kafka alone.

    :param ends: by partition, the offset that nothing is read from on, for who wants a part alone
    """

    def __init__(
        self, topic: ReadableTopic, store: FileStore | None, ends: Mapping[int, int] = NO_ENDS
    ) -> None:
        self.topic, self._store, self._ends = topic, store, ends
        self._files: dict[int, list[ArchiveFile]] = {}

    def up_to(self, ends: Mapping[int, int]) -> Journal:
        """The same, ending at these offsets, by partition."""
        return Journal(self.topic, self._store, ends)

    def available_ranges(self, partition: int) -> list[OffsetRange]:
        """Readable offset ranges: ascending, separated by gaps."""
        return merged_ranges([*self.archived_ranges(partition), self.topic.span(partition)])

    def archived_ranges(self, partition: int) -> list[OffsetRange]:
        """Offset ranges in the archive: ascending, separated by gaps."""
        return archived_ranges(self._refresh_files().get(partition, []))

    def end(self, partition: int) -> int:
        """End offset of the topic, or of the part that is read."""
        end = self.topic.span(partition).until
        return min(end, self._ends.get(partition, end))

    def runs(self, partition: int, start: int) -> Iterator[list[Record]]:
        """All records from offset `start` to the end as it is now, in runs of at least one.

        Raises RecordsMissing at a gap, once there is nothing to give before it.
        """
        end, position = self.end(partition), start
        self._refresh_files()
        while position < end:
            previous = position
            for attempt in range(_ATTEMPTS):
                if attempt:
                    self._refresh_files()
                for run, reached in self._source(partition, position, end):
                    position = reached
                    if run:
                        yield run
                if position > previous:
                    break
            else:
                raise RecordsMissing(self.gap(partition, position))

    def last(self, partition: int) -> Record | None:
        """The newest record; None if there never was one. Raises RecordsMissing if nobody has it any more."""
        topic, newest = self.topic.span(partition), None
        kept = max(self._refresh_files().get(partition, []), key=lambda file: file.until, default=None)
        if topic.first < topic.until:
            for run in self.topic.records(partition, topic.until - 1, topic.until):
                newest = run[-1]
        elif topic.until and kept and kept.until == topic.until and self._store:
            newest = self._store.last_record(kept)
        elif topic.until:
            raise RecordsMissing(self.gap(partition, topic.until - 1))
        return newest

    def archived_before(self, partition: int, offset: int) -> Record | None:
        """The newest record of the archive that is older than this offset; None if there is none."""
        newest: Record | None = None
        files = [file for file in self._refresh_files().get(partition, []) if file.first < offset]
        if files and self._store:
            for run in self._store.records(max(files, key=lambda file: min(file.until, offset))):
                older = [record for record in run if record.offset < offset]
                newest = older[-1] if older else newest
        return newest

    def gap(self, partition: int, position: int) -> str:
        """A sentence that names the missing offsets from this one on."""
        later = [span.first for span in self.available_ranges(partition) if span.first > position]
        until = f" to {later[0] - 1}" if later else " on"
        where = (
            "neither in the topic nor in the archive"
            if self._store
            else "not in the topic, and no archive is set"
        )
        return f"{self.topic.name} partition {partition}: offsets {position}{until} are {where}"

    def _source(self, partition: int, position: int, end: int) -> Iterator[tuple[list[Record], int]]:
        """Runs from one file or from the topic, each with how far it reaches; nothing if nobody has the position."""
        files = covering_files(self._files.get(partition, []), position)
        if files and self._store:
            yield from _from_file(self._store, files[0], position, end)
        elif self.topic.span(partition).first <= position:
            yield from _from_topic(self.topic, partition, position, end)

    def _refresh_files(self) -> dict[int, list[ArchiveFile]]:
        self._files = self._store.files() if self._store else {}
        return self._files


class Cursor:
    """Forward-only reader of one partition."""

    def __init__(self, journal: Journal, partition: int, start: int) -> None:
        self._journal, self._partition = journal, partition
        self._where = f"{journal.topic.name} partition {partition}"
        self._runs = journal.runs(partition, start)
        self._waiting: deque[Record] = deque()
        self.position = start

    def take(self, until: int) -> list[Record]:
        """The records from where the last call ended to before `until`, behind which offset there must be a record.

        Raises RecordsMissing at a gap, and where the topic ends before that.
        """
        records: list[Record] = []
        while self.position < until:
            if not self._waiting:
                run = next(self._runs, None)
                if run is None and self._journal.end(self._partition) >= until:
                    # more has come since; whoever asks for it has read so in another topic
                    self._runs = self._journal.runs(self._partition, self.position)
                    run = next(self._runs, None)
                if run is None:
                    raise RecordsMissing(
                        f"{self._where} ends at {self.position}, and it was read up to {until} once: it was made anew"
                    )
                self._waiting.extend(run)
            if self._waiting[0].offset >= until:
                self.position = until
            else:
                records.append(self._waiting.popleft())
                self.position = records[-1].offset + 1
        return records


def _from_file(
    store: FileStore, file: ArchiveFile, position: int, end: int
) -> Iterator[tuple[list[Record], int]]:
    try:
        for run in store.records(file, position, end):
            yield run, run[-1].offset + 1
            position = run[-1].offset + 1
    except FileNotFoundError:
        return  # merged meanwhile: the caller looks up the merged file
    yield [], max(position, min(file.until, end))


def _from_topic(
    topic: ReadableTopic, partition: int, position: int, end: int
) -> Iterator[tuple[list[Record], int]]:
    try:
        for run in topic.records(partition, position, end):
            yield run, run[-1].offset + 1
    except OffsetsGone:
        return  # deleted meanwhile: the caller looks in the archive
    yield [], end
