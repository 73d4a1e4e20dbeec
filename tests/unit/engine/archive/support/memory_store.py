"""A topic in memory, and a disk that stops working."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tripline_engine.archive.disk import LocalDisk
from tripline_engine.kafka_log.offset_range import OffsetRange
from tripline_engine.kafka_log.record import Record
from tripline_engine.kafka_log.topic_log import OffsetsGone

DAY_MS = 86_400_000
START = 1_763_690_000_000


def record(offset: int, partition: int = 0, timestamp: int = START) -> Record:
    """One that differs from all others in each of its parts."""
    mark = b"%d/%d" % (partition, offset)
    return Record(partition, offset, timestamp, b"k" + mark, b"v" + mark, (("h", mark), ("h", None)))


@dataclass
class MemoryTopic:
    """`kept` by partition, with gaps between offsets if need be; `low` is where each begins.

    All is deleted when `deletes_at` is read.
    """

    kept: dict[int, list[Record]] = field(default_factory=lambda: {0: []})
    low: dict[int, int] = field(default_factory=dict)
    name: str = "transactions.v1"
    deletes_at: int | None = None

    def partitions(self) -> list[int]:
        return sorted(self.kept)

    def span(self, partition: int) -> OffsetRange:
        kept, low = self.kept[partition], self.low.get(partition, 0)
        return OffsetRange(low, max(low, kept[-1].offset + 1 if kept else 0))

    def records(self, partition: int, start: int, until: int) -> Iterator[list[Record]]:
        for record in [record for record in self.kept[partition] if start <= record.offset < until]:
            if self.deletes_at is not None and record.offset >= self.deletes_at:
                self.low[partition] = self.span(partition).until
            if record.offset < self.span(partition).first:
                raise OffsetsGone
            yield [record]


class Crash(Exception):
    """The process is killed, or power is lost."""


@dataclass
class FailingDisk(LocalDisk):
    """Crashes at the n-th thing that it is to do, before or after doing it.

    With `power` lost, names that were not synced are as they were before, and an unsynced file is cut.
    """

    crash_at: int = -1
    after: bool = False
    power: bool = False
    done: int = 0
    unsynced: list[Path] = field(default_factory=list)
    fresh: list[tuple[Path, Path]] = field(default_factory=list)

    def sync(self, path: Path) -> None:
        with_crash = self._begins()
        if with_crash and not self.after:
            self._crash(path)
        # this machine keeps its power: to wait for its disk would show nothing
        self.fresh = [(old, new) for old, new in self.fresh if new.parent != path]
        if with_crash:
            self._crash(None)
        self.done += 1

    def rename(self, path: Path, target: Path) -> None:
        with_crash = self._begins()
        if with_crash and not self.after:
            self._crash(None)
        super().rename(path, target)
        self.fresh.append((path, target))
        if with_crash:
            self._crash(None)
        self.done += 1

    def remove(self, path: Path) -> None:
        with_crash = self._begins()
        if with_crash and not self.after:
            self._crash(None)
        super().remove(path)
        if with_crash:
            self._crash(None)
        self.done += 1

    def _begins(self) -> bool:
        return self.done == self.crash_at

    def _crash(self, half_written: Path | None) -> None:
        if half_written is not None and half_written.is_file():
            with half_written.open("r+b") as file:
                file.truncate(half_written.stat().st_size // 2)
        if self.power:
            for _, new in self.fresh:
                new.unlink()
        raise Crash
