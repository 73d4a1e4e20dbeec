"""Admission of a micro-batch's transactions: those that are too late, too early or out of order are rejected."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tripline_engine.domain.rules.tolerances import Tolerances
from tripline_engine.domain.rules.watermarks import Watermarks
from tripline_engine.domain.transactions.columns import BACKFILL, TransactionBatch

_REASONS = ("too_late", "future_event", "out_of_order", "backfill_closed")
_TOO_LATE, _FUTURE, _OUT_OF_ORDER, _CLOSED = range(4)


@dataclass(frozen=True, slots=True)
class Admission:
    """For each of n transactions the index of its reject reason, -1 for none (int8)."""

    reason: npt.NDArray[np.int8]

    @property
    def admitted(self) -> npt.NDArray[np.bool_]:
        """The admitted transactions (bool, n)."""
        return self.reason < 0

    def name(self, i: int) -> str:
        """The reason's name for transaction ``i``, a rejected one."""
        return _REASONS[self.reason[i]]


def admit(
    rows: TransactionBatch, settings: Tolerances, watermarks: Watermarks, backfills: AbstractSet[str]
) -> Admission:
    """Judge transactions by their event and record times, and by the backfills that stand; every shard judges alike."""
    reason = np.full(len(rows), -1, np.int8)
    behind = rows.record_time - rows.time
    if watermarks.clock is not None:
        reason[watermarks.clock - rows.record_time > settings.max_disorder_ms] = _OUT_OF_ORDER
    early = -behind > settings.max_future_skew_ms
    reason[early] = _FUTURE
    reason[(behind > settings.allowed_lateness_ms) | (rows.time < watermarks.lateness_floor)] = _TOO_LATE
    if rows.backfilled is not None:
        # what a backfill brings may be as old as it is
        reason[rows.backfilled] = np.where(early, np.int8(_FUTURE), np.int8(-1))[rows.backfilled]
        reason[rows.backfilled & ~_standing(rows, backfills)] = _CLOSED
    return Admission(reason)


def _standing(rows: TransactionBatch, backfills: AbstractSet[str]) -> npt.NDArray[np.bool_]:
    """The rows that belong to an open backfill (bool, n)."""
    names = pa.array(sorted(backfills), pa.string())
    return np.array(pc.is_in(rows.table.column(BACKFILL), value_set=names))


def detail(reason: str, time: int, record_time: int, settings: Tolerances, clock: int | None) -> str:
    """A sentence for the record's ``detail`` header."""
    match reason:
        case "too_late":
            seconds = settings.allowed_lateness_seconds
            return f"event time {time} is over {seconds} s before record time {record_time}, or the clock passed it"
        case "backfill_closed":
            return "the backfill that the record's header names does not stand"
        case "future_event":
            return f"event time {time} is over {settings.max_future_skew_seconds} s after record time {record_time}"
        case _:
            return f"record time {record_time} is over {settings.max_disorder_seconds} s behind the clock {clock}"
