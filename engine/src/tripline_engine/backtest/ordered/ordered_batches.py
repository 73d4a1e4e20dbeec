"""Micro-batches of transactions in the order of their event times, as if each had come when it happened.

    rule events, a tick  │ 10,000 transactions │ a tick: the time of the last one │ 10,000 transactions │ …

Record time is event time, so nothing is late, early or out of order, and where micro-batches are cut decides no alert:
the record clock only ever says what the transactions before have said.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tripline_engine.backtest.ordered.event_order import Happened
from tripline_engine.backtest.ordered.pieces import pieces
from tripline_engine.kafka_log.record import Record
from tripline_engine.rebuild.recorded_order import PartitionRange

_BATCH: Final = 10_000


@dataclass(frozen=True, slots=True)
class OrderedBatch:
    """Records of one micro-batch."""

    rules: Sequence[Record]
    ticks: Sequence[Record]
    transactions: Sequence[Record]
    left_out: tuple[PartitionRange, ...] = ()


def ordered_batches(
    transactions: Iterable[Happened], events: Sequence[Record], since: int | None = None, size: int = _BATCH
) -> Iterator[OrderedBatch]:
    """The micro-batches; all rule events are in the first one. Without transactions there is none.

    :param since: from when (ms) on the history is whole, which is what the first tick says; None: from its first
        transaction on
    """
    first, clock = 0, since
    for number, batch in enumerate(pieces(transactions, size)):
        clock = batch[0].event_time if clock is None else clock
        records = [
            Record(0, offset, one.event_time, None, one.value, ()) for offset, one in enumerate(batch, first)
        ]
        yield OrderedBatch(() if number else events, [_tick(number, clock)], records)
        first, clock = first + len(batch), batch[-1].event_time


def _tick(offset: int, clock: int) -> Record:
    return Record(0, offset, clock, None, json.dumps({"clock": clock}).encode(), ())
