"""Recorded micro-batches joined into few, for what need not be exact to the millisecond.

What a micro-batch takes, however small, adds up over days of them. The evaluator gives the same alerts whatever the
cut of the transactions; only the clock is coarser. A joined micro-batch begins with the ticks of its first one, and
those of the others come with the next: so the clock lags behind the engine's by about as long as is joined, and never
runs ahead of it. Nothing that was judged is late here; what came too late by less than that may be taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from tripline_engine.kafka_log.record import Record
from tripline_engine.rebuild.inputs import ReplayBatch

JOINED_MS: Final = 60_000
"""Record time over which micro-batches are joined at least."""
MOST_JOINED: Final = 1_000
"""A longer history is joined over as much as leaves so many, but for those that are large or bring rule events."""
JOINED_TRANSACTIONS: Final = 1 << 14
"""Transactions after which no further micro-batch is joined."""

WAITING_TICKS: Final = 100
"""Ticks only ever raise the clock: of many in a row the last ones do what all of them do."""


def joined_ms(history_ms: int) -> int:
    """Over how much record time micro-batches of so long a history are joined."""
    return max(JOINED_MS, history_ms // MOST_JOINED)


def coarse(batches: Iterable[ReplayBatch], over_ms: int = JOINED_MS) -> Iterator[ReplayBatch]:
    """Few of many. Rule events stay before the transactions that they were before."""
    joined: ReplayBatch | None = None
    waiting: list[Record] = []
    for batch in batches:
        if joined is None or batch.rules or _is_full(joined, batch, over_ms):
            if joined is not None:
                yield joined
            joined = replace(batch, ticks=[*waiting, *batch.ticks], transactions=[*batch.transactions])
            waiting = []
        else:
            joined.transactions.extend(batch.transactions)
            waiting = [*waiting, *batch.ticks][-WAITING_TICKS:]
    if joined is not None:
        yield joined


def _is_full(joined: ReplayBatch, following: ReplayBatch, over_ms: int) -> bool:
    if len(joined.transactions) >= JOINED_TRANSACTIONS:
        return True
    first, last = _record_time(joined), _record_time(following)
    return first is not None and last is not None and last - first >= over_ms


def _record_time(batch: ReplayBatch) -> int | None:
    """The first of its transactions, ms; None where there is none."""
    return batch.transactions[0].timestamp if batch.transactions else None
