"""What the next tick carries: the policy that moves the record clock, without Kafka, threads or a clock of its own.

A tick is the minimum over the transaction partitions of the highest record time in committed micro-batches, never
above the wall clock. A partition with nothing unread for the idle time is left out; when all are, the tick is the
wall clock less the idle time. With old data there is no wall clock, and a stream at rest stands still.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

DEFAULT_IDLE_SECONDS: Final = 30


@dataclass(frozen=True, slots=True)
class PartitionState:
    """One transaction partition. Times in ms; `resting_ms` is None while something of it is unread."""

    max_record_time: int | None
    resting_ms: int | None


def next_tick(partitions: Iterable[PartitionState], idle_ms: int, wall_ms: int | None) -> int | None:
    """The clock to send, None for no tick. `wall_ms` is None for old data."""
    awaited = [p for p in partitions if p.resting_ms is None or p.resting_ms < idle_ms]
    if not awaited:
        return None if wall_ms is None else wall_ms - idle_ms
    times = [p.max_record_time for p in awaited if p.max_record_time is not None]
    if len(times) < len(awaited):
        return None  # a partition that is read for the first time holds the clock
    return min(times) if wall_ms is None else min(*times, wall_ms)


@dataclass(frozen=True, slots=True)
class OrderedRange:
    """One partition's part of one micro-batch as engine-order.v1 has it; `until` is exclusive."""

    partition: int
    until: int
    max_record_time: int


@dataclass(slots=True)
class TickState:
    """What the policy has to remember. Everything but `resting_since` and `ends` outlives a restart."""

    max_record_times: dict[int, int] = field(default_factory=dict)
    uncommitted: list[OrderedRange] = field(default_factory=list)
    resting_since: dict[int, int] = field(default_factory=dict)
    ends: dict[int, int] = field(default_factory=dict)

    def take(self, ranges: Iterable[OrderedRange], committed: Mapping[int, int]) -> None:
        """Order records as they are read; each counts once the micro-batch that wrote it is committed."""
        waiting = [*self.uncommitted, *ranges]
        self.uncommitted = [r for r in waiting if r.until > committed.get(r.partition, 0)]
        for found in waiting:
            if found.until <= committed.get(found.partition, 0):
                highest = self.max_record_times.get(found.partition, found.max_record_time)
                self.max_record_times[found.partition] = max(highest, found.max_record_time)

    def observe(
        self, ends: Mapping[int, int], unread: Mapping[int, int], elapsed_ms: int
    ) -> list[PartitionState]:
        """The partitions as they stand, `ends` and `unread` records by partition, on a clock that only grows.

        What came and was taken since the last look was never seen unread, but the end has moved: that is no rest.
        """
        for partition, end in ends.items():
            if unread[partition] > 0:
                self.resting_since.pop(partition, None)
            elif self.ends.get(partition, end) != end:
                self.resting_since[partition] = elapsed_ms
            else:
                self.resting_since.setdefault(partition, elapsed_ms)
        self.ends.update(ends)
        return [
            PartitionState(self.max_record_times.get(partition), self._resting(partition, elapsed_ms))
            for partition in ends
        ]

    def _resting(self, partition: int, elapsed_ms: int) -> int | None:
        since = self.resting_since.get(partition)
        return None if since is None else elapsed_ms - since
