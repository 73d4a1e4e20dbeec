"""Excerpts of windows: a window that ends earlier than with the transaction at hand, or without it.

    window up to e     |-------------------------|     its totals less those of the offset's own window
    offset's                             |-------|     are those of the excerpt
    excerpt            |-----------------)       e

Both begin and end where whole milliseconds do, so the excerpt has what is before the offset's window and nothing else.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tripline_engine.domain.judging.window_results import WindowResults
from tripline_engine.domain.judging.window_set import WindowSet
from tripline_engine.domain.memory.array_types import BoolArray, Int64Array
from tripline_engine.domain.rules.deviations import Squares
from tripline_engine.domain.rules.measures import ChainKey, Measure, SquareKey
from tripline_engine.domain.rules.threshold import SCALE
from tripline_engine.domain.rules.watermarks import Watermarks
from tripline_engine.domain.transactions.columns import Amounts, Totals
from tripline_engine.domain.windows.square_kernels import subtract_rows, subtract_windows
from tripline_engine.domain.windows.walked_windows import (
    Listed,
    Walked,
    no_marks,
    walk_different,
    walk_extremes,
)


class Source(NamedTuple):
    """What the windows of the history's rows from ``start`` to ``end`` are read from."""

    windows: WindowSet
    results: WindowResults
    watermarks: Watermarks
    start: int
    end: int


class Excerpted(NamedTuple):
    """Of n windows the contributors (int64), and their sums, extreme values or numbers of values."""

    counts: Int64Array
    values: Amounts


def totals_of(source: Source, measure: Measure) -> Totals:
    """The totals of what the measure takes of its window."""
    windows, results, key = source.windows, source.results, measure.totals
    if measure.distinct is not None:
        lengths, totals = windows.distincts[measure.distinct].windows, results.totals(measure.distinct)
    else:
        assert key is not None
        lengths, totals = windows.totals[key].windows, results.totals(key)
    whole = _of_window(totals, lengths.index(measure.window_ms))
    if measure.excerpt.takes_all:
        return whole
    if measure.offset_ms:
        return _without(whole, _of_window(totals, lengths.index(measure.offset_ms)))
    assert key is not None  # else it is walked
    return _without(whole, _current(source, measure, windows.floor(source.watermarks, key)))


def extremes_of(source: Source, measure: Measure, chain: ChainKey) -> Int64Array:
    """The rows with the extreme values of the measure's window alone."""
    width = source.windows.chains[chain].windows.index(measure.window_ms)
    rows: Int64Array = source.results.extremes(chain)[:, width]
    return rows


def squares_of(source: Source, measure: Measure, key: SquareKey) -> Squares:
    """The sums of squares of what the measure takes of its window."""
    windows, squares = source.windows, source.results.squares(key)
    lengths = windows.squares[key].windows
    # others read the window whole
    taken = Squares(*(word[lengths.index(measure.window_ms)].copy() for word in squares))
    if measure.offset_ms:
        newer = lengths.index(measure.offset_ms)
        subtract_windows(taken, Squares(*(word[newer] for word in squares)))
    elif not measure.excerpt.takes_all:
        amounts, rows = windows.amounts(key.field), slice(source.start, source.end)
        counted = _counted(source, measure, windows.floor(source.watermarks, key))
        subtract_rows(taken, Amounts(amounts.low[rows], amounts.high[rows]), counted)
    return taken


def walk(source: Source, measure: Measure, floor: int) -> Excerpted:
    """The extremes or the numbers of different values of n windows; ``floor`` is the oldest visible event time (ms)."""
    windows, start, size = source.windows, source.start, source.end - source.start
    lists, members = windows.lists[measure.population], windows.lists[measure.members]
    counts: npt.NDArray[np.int64] = np.zeros(size, np.int64)
    outcome: npt.NDArray[np.int64] = np.zeros(size, np.int64)
    walked = Walked(measure.window_ms, measure.offset_ms, floor, windows.history.base)
    listed = Listed(lists.slots, lists.order, members.slots)
    if measure.function == "COUNT_DISTINCT":
        walk_different(start, listed, walked, no_marks(members.slot_end), counts, outcome)
        return Excerpted(counts, Amounts((outcome * SCALE).astype(np.uint64), np.zeros(size, np.int64)))
    amounts = windows.amounts(measure.source.aggregate_field)
    walk_extremes(start, listed, amounts, measure.sign, walked, counts, outcome)
    return Excerpted(counts, Amounts(amounts.low[outcome], amounts.high[outcome]))


def _of_window(totals: Totals, width: int) -> Totals:
    return Totals(totals.counts[width], totals.low[width], totals.high[width])


def _without(whole: Totals, part: Totals) -> Totals:
    """The totals of n windows without those of their newer parts."""
    borrowed = (whole.low < part.low).astype(np.int64)
    return Totals(whole.counts - part.counts, whole.low - part.low, whole.high - part.high - borrowed)


def _current(source: Source, measure: Measure, floor: int) -> Totals:
    """The totals of the n rows that the windows end with, where these are visible and contribute."""
    windows, rows = source.windows, slice(source.start, source.end)
    amounts = windows.amounts(measure.source.aggregate_field)
    counted = _counted(source, measure, floor)
    return Totals(
        counted.astype(np.int64),
        np.where(counted, amounts.low[rows], np.uint64(0)),
        np.where(counted, amounts.high[rows], np.int64(0)),
    )


def _counted(source: Source, measure: Measure, floor: int) -> BoolArray:
    """Which of the n rows that the windows end with are visible and contribute."""
    windows, rows = source.windows, slice(source.start, source.end)
    counted: BoolArray = windows.lists[measure.members].slots[rows] >= 0
    counted &= windows.history.time[rows] >= floor
    return counted
