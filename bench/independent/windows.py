"""What every window held, counted independently of the engine: sorted columns, prefix sums, a small correction.

sorted by (group, event time)      … | x x x x x e x | …
                                        ^lo     ^hi        t - w ≤ time ≤ t, by binary search
of [lo, hi] those accepted after e are taken off again; they lie within `disorder` of t
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from bench.workload.workload import Column


@dataclass(frozen=True, slots=True)
class Held:
    """Per asked transaction: sum and maximum of the amounts in its window (cents), and how many there are.

    A MIN has the minimum in place of the maximum, a COUNT_DISTINCT the number of different values in place of the sum.
    """

    total: Column
    count: Column
    largest: Column

    def spread(self, places: npt.NDArray[np.bool_]) -> Held:
        """These windows at those places, and nothing at the others."""
        result = nothing(places.size)
        result.total[places], result.count[places], result.largest[places] = (
            self.total,
            self.count,
            self.largest,
        )
        return result


def nothing(asked: int) -> Held:
    """So many windows that hold nothing."""
    zero = np.zeros(asked, np.int64)
    return Held(zero, zero.copy(), np.full_like(zero, np.iinfo(np.int64).min))


def group_codes(*fields: Column, of: int) -> Column:
    """For each of so many transactions a small integer, equal where all fields are equal."""
    code = np.zeros(of, np.int64)
    for field in fields:
        _, values = np.unique(field, return_inverse=True)
        _, code = np.unique(code * (values.max() + 1) + values, return_inverse=True)
    return code


def held(
    code: Column,
    time: Column,
    rank: Column,
    cents: Column,
    asked: Column,
    window_ms: int,
    *,
    with_largest: bool,
    bucket_ms: int = 0,
) -> Held:
    """`code`: group, `time`: event time in ms, `rank`: place in the order of acceptance, `asked`: whose windows.

    `bucket_ms`: the length of buckets, 0 for none; a window then begins with the bucket in which it would have begun.
    """
    begin, span = int(time.min()), int(time.max() - time.min()) + 1
    order = np.lexsort((rank, time, code))
    rank_in_span = code[order] * span + (time[order] - begin)
    asked_time = time[asked] - begin
    base = code[asked] * span
    since = time[asked] - window_ms
    if bucket_ms:
        since -= since % bucket_ms
    lo = np.searchsorted(rank_in_span, base + np.maximum(since - begin, 0))
    end = np.searchsorted(rank_in_span, base + asked_time, side="right")
    prefix = np.concatenate([[0], np.cumsum(cents[order])])
    sorted_rank, sorted_time, sorted_cents = rank[order], time[order], cents[order]
    later_total, later_count = _accepted_later(
        sorted_rank, sorted_time, sorted_cents, lo, end, rank[asked], time[asked], _disorder(time, rank)
    )
    count = end - lo - later_count
    largest = (
        _largest(sorted_rank, sorted_cents, lo, end, rank[asked]) if with_largest else np.zeros_like(count)
    )
    return Held(prefix[end] - prefix[lo] - later_total, count, largest)


def different(code: Column, time: Column, rank: Column, value: Column, asked: Column, window_ms: int) -> Held:
    """How many different values there are (as the total), and how many transactions. Looks at each of these."""
    order = np.lexsort((rank, time, code))
    rank_of = np.empty_like(order)
    rank_of[order] = np.arange(order.size)
    _, values = np.unique(value, return_inverse=True)
    result = nothing(asked.size)
    sorted_ = code[order], time[order], rank[order], values[order]
    _different(
        _Groups(*sorted_),
        rank_of[asked],
        window_ms,
        np.full(values.max() + 1, -1),
        result.total,
        result.count,
    )
    return result


def _disorder(time: Column, rank: Column) -> int:
    """How far, in ms, a transaction's event time lies at most behind the newest accepted before it."""
    accepted = time[np.argsort(rank)]
    return int((np.maximum.accumulate(accepted) - accepted).max())


@numba.njit(cache=True)
def _accepted_later(
    rank: Column,
    time: Column,
    cents: Column,
    lo: Column,
    end: Column,
    asked_rank: Column,
    asked_time: Column,
    disorder: int,
) -> tuple[Column, Column]:
    total, count = np.zeros_like(lo), np.zeros_like(lo)
    for n in range(lo.size):
        i = end[n] - 1
        while i >= lo[n] and time[i] >= asked_time[n] - disorder:
            if rank[i] > asked_rank[n]:
                total[n] += cents[i]
                count[n] += 1
            i -= 1
    return total, count


@numba.njit(cache=True)
def _largest(rank: Column, cents: Column, lo: Column, end: Column, asked_rank: Column) -> Column:
    largest = np.full_like(lo, np.iinfo(np.int64).min)
    for n in range(lo.size):
        for i in range(lo[n], end[n]):
            if rank[i] <= asked_rank[n] and cents[i] > largest[n]:
                largest[n] = cents[i]
    return largest


class _Groups(NamedTuple):
    """Rows sorted by group and time: the group's code, time (ms), rank of acceptance, number of the value."""

    code: Column
    time: Column
    rank: Column
    value: Column


@numba.njit(cache=True)
def _different(
    rows: _Groups, places: Column, window_ms: int, seen: Column, values: Column, count: Column
) -> None:
    """`seen`: by value, for which place it was last met, -1 at first."""
    code, time, rank, value = rows.code, rows.time, rows.rank, rows.value
    for n in range(places.size):
        e = places[n]
        i = e
        # of equal times those accepted later stand behind
        while i >= 0 and code[i] == code[e] and time[i] >= time[e] - window_ms:
            if rank[i] <= rank[e]:
                count[n] += 1
                if seen[value[i]] != n:
                    seen[value[i]] = n
                    values[n] += 1
            i -= 1
