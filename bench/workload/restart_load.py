"""The payments of `bench.restart`, and when they happen.

    first    preload                                trip     jump      step  step   linger
    |-----|----------------------------------------|-----|--- … ---|----|----|- - - - - - |
     baseline          retained by the time           all windows      clean-up      micro-batches
     is taken          the engine is killed           have passed      is measured   go on

Up to the jump one comes after the other at the workload's rate. One payee's payments come through all of that, so that
how many of them a window of an hour holds afterwards is known without counting.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

import numpy as np

from bench.workload.rules import FIVE, Subject, Version, limits
from bench.workload.workload import PARTITIONS, STRANGERS, Column, Workload, make

WITNESS: Final = Subject(6, "COUNT by payee, 60 minutes", "COUNT", ("payeeId",), 3_600)
RULES: Final = (*FIVE, WITNESS)
RATE: Final = 2_000
"""Payments a second of event time."""
WITNESS_PAYEE: Final = STRANGERS - 1
FIRST: Final = 2_000
"""Payments that are there when the baseline is taken, and again when all others have left the windows."""
STEPS: Final = 2
TRIP: Final = 2_000
LINGERING: Final = 10
"""Payments of each of the micro-batches that go on at the end."""
_WITNESSES: Final = 1_000
_ALERTS_PER_RULE: Final = 250
_JUMP_MS: Final = 90 * 60_000
"""More than the widest window, lateness, disorder and skew together."""


@dataclass(frozen=True, slots=True)
class Retaining:
    """A workload and its parts: transaction number n is of the first part whose end is above n.

    :ivar times: event and record times, ms
    """

    load: Workload
    times: Column
    ends: tuple[int, ...]

    @property
    def trip(self) -> int:
        """The first number after the preload."""
        return self.ends[1]

    def part(self, index: int) -> Column:
        """The times of a part."""
        return self.times[self.ends[index - 1] if index else 0 : self.ends[index]]

    def versions(self) -> list[Version]:
        """The rules; they judge from the trip on, and the last one what is over its limit because nothing was lost."""
        until = self.ends[2]
        load = self.load
        names = "payee", "beneficiary", "payment_type", "cents", "partition", "offset"
        cut = replace(load, preloaded=self.trip, **{name: getattr(load, name)[:until] for name in names})
        reachable = limits(cut, _ALERTS_PER_RULE, FIVE)
        since = int(self.times[self.trip])
        witnesses = int((self.load.payee[: self.trip] == WITNESS_PAYEE).sum())
        reachable[WITNESS.rule_id] = Decimal(witnesses)
        return [
            Version(rule, 1, log_position, reachable[rule.rule_id], since)
            for log_position, rule in enumerate(RULES)
        ]


def retaining(payments: int, linger: int, first_ms: int, seed: int) -> Retaining:
    """So many that are retained, and at the end so many micro-batches that go on."""
    sizes = (FIRST, payments - FIRST, TRIP, *[FIRST // STEPS] * STEPS, linger * LINGERING)
    ends = tuple(int(end) for end in np.cumsum(sizes))
    trip = ends[1]
    load = _witnessed(make(RATE, trip, ends[-1] - trip, seed), trip)
    times = first_ms + np.arange(len(load)) * 1_000 // RATE
    times[ends[2] :] += _JUMP_MS
    # each step a second after the one before: ticks come with seconds
    for end in ends[3:]:
        times[end:] += 1_000
    return Retaining(load, times, ends)


def _witnessed(load: Workload, trip: int) -> Workload:
    """With the witness's payments among those before number `trip`, and one as the first after it."""
    chosen = np.unique(np.linspace(0, trip, _WITNESSES + 1, dtype=np.int64))
    payee = load.payee.copy()
    payee[chosen] = WITNESS_PAYEE
    partition = payee % PARTITIONS
    return replace(load, payee=payee, partition=partition, offset=offsets(partition))


def offsets(partition: Column) -> Column:
    """Where each lies in its partition, if they are sent in order."""
    offsets = np.zeros_like(partition)
    for one in range(PARTITIONS):
        mine = np.flatnonzero(partition == one)
        offsets[mine] = np.arange(mine.size)
    return offsets
