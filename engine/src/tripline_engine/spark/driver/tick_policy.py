"""Watermark policy: the record clock of the next tick. No Kafka, no threads, no clock in here.

A tick is the minimum over the transaction partitions of the highest record time in committed micro-batches, never
above the wall clock. A partition without unread records for the idle time is idle and left out; when all are, the tick
is the wall clock less the idle time, in steps of a third of that. With old data there is no wall clock, and the clock
of an idle stream stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

DEFAULT_IDLE_SECONDS: Final = 30
RESTING_STEPS: Final = 3
"""To the idle time, of the clock of an idle stream. Each tick is a micro-batch, which decides nothing while no
transaction comes but what may be forgotten: once a second it would be half of what an idle line costs."""


@dataclass(frozen=True, slots=True)
class PartitionState:
    """One transaction partition. Times in ms; `resting_ms` is None while it has unread records."""

    max_record_time: int | None
    resting_ms: int | None


def next_tick(partitions: Iterable[PartitionState], idle_ms: int, wall_ms: int | None) -> int | None:
    """The record clock to send, None for no tick. `wall_ms` is None for old data."""
    active = [p for p in partitions if p.resting_ms is None or p.resting_ms < idle_ms]
    if not active:
        step = max(1, idle_ms // RESTING_STEPS)
        return None if wall_ms is None else (wall_ms - idle_ms) // step * step
    times = [p.max_record_time for p in active if p.max_record_time is not None]
    if len(times) < len(active):
        return None  # a partition that is read for the first time holds the clock
    return min(times) if wall_ms is None else min(*times, wall_ms)


@dataclass(frozen=True, slots=True)
class OrderedRange:
    """Offsets of one partition in one micro-batch, from engine-order.v1; `until` is exclusive."""

    partition: int
    until: int
    max_record_time: int


@dataclass(slots=True)
class TickState:
    """State of the policy. All but `resting_since` and `ends` is restored after a restart."""

    max_record_times: dict[int, int] = field(default_factory=dict)
    uncommitted: list[OrderedRange] = field(default_factory=list)
    resting_since: dict[int, int] = field(default_factory=dict)
    ends: dict[int, int] = field(default_factory=dict)

    def take(
        self, ranges: Iterable[OrderedRange], committed: Mapping[int, int], wall_ms: int | None = None
    ) -> None:
        """Applies order records; each counts once the micro-batch that wrote it is committed.

        No partition is ahead of the wall clock, whatever one of its records says: after an outage such a record would
        let the clock run away from all that waits. `wall_ms` is None for old data.
        """
        pending = [*self.uncommitted, *ranges]
        self.uncommitted = [r for r in pending if r.until > committed.get(r.partition, 0)]
        for ordered in pending:
            if ordered.until <= committed.get(ordered.partition, 0):
                time = ordered.max_record_time if wall_ms is None else min(ordered.max_record_time, wall_ms)
                highest = self.max_record_times.get(ordered.partition, time)
                self.max_record_times[ordered.partition] = max(highest, time)

    def observe(
        self, ends: Mapping[int, int], unread: Mapping[int, int], elapsed_ms: int
    ) -> list[PartitionState]:
        """States of the partitions; `ends` and `unread` records by partition, `elapsed_ms` of a monotonic clock.

        Records that arrived and were committed between two calls were never seen unread, but the end has moved: the
        partition was not idle.
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
