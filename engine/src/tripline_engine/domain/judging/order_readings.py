"""Values that depend on which transaction comes before which: times since it, whether a field changed, how fast it was
gone to."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tripline_engine.domain.history.history import History
from tripline_engine.domain.history.positions import positions_of
from tripline_engine.domain.judging.window_set import WindowSet
from tripline_engine.domain.memory.array_types import BoolArray, Int64Array
from tripline_engine.domain.memory.great_circles import speeds
from tripline_engine.domain.memory.slot_kernels import NO_SLOT
from tripline_engine.domain.rules.measures import Measure
from tripline_engine.domain.rules.threshold import SCALE
from tripline_engine.domain.transactions.columns import Amounts
from tripline_engine.domain.windows.kernel_views import WindowBounds
from tripline_engine.domain.windows.previous_rows import previous_rows


class OrderValues(NamedTuple):
    """Values (scaled by 10⁶) of n rows, and where there is one (bool, n)."""

    values: Amounts
    present: BoolArray


def since(history: History, start: int, rows: Int64Array) -> OrderValues:
    """Seconds from each of n earlier rows, or NO_ROW, to the n rows from ``start`` on."""
    milliseconds = history.time[start : start + len(rows)] - history.time[rows]
    return _values(milliseconds * (SCALE // 1000), rows)


def since_previous(windows: WindowSet, measure: Measure, start: int, end: int, floor: int) -> OrderValues:
    """What the measure says of the rows from ``start`` to ``end`` beside the row before each.

    :param floor: older event times (ms) are not visible
    """
    population, members = windows.lists[measure.population], windows.lists[measure.members]
    history, field = windows.history, measure.source.aggregate_field
    bounds = WindowBounds(np.array([measure.window_ms]), floor, history.base)
    rows = previous_rows(population, members, start, end, bounds)
    if field is None:
        return since(history, start, rows)
    if measure.function == "SPEED_KMH":
        return _speeds(history, field, start, rows)
    return _values(_differs(history, field, start, rows) * np.int64(SCALE), rows)


def _differs(history: History, field: str, start: int, rows: Int64Array) -> BoolArray:
    """Where the field of n rows from ``start`` on is another than in these rows; null is a value here."""
    end = start + len(rows)
    if field in history.values:
        codes = history.codes(field)
        changed: BoolArray = codes[start:end] != codes[rows]
        return changed
    low, high = history.measure(field)
    differs: BoolArray = (low[start:end] != low[rows]) | (high[start:end] != high[rows])
    return differs


def _speeds(history: History, field: str, start: int, rows: Int64Array) -> OrderValues:
    """Speeds from these rows to n rows from ``start`` on; of two positions of which one is null there is none."""
    end, codes, texts = start + len(rows), history.codes(field), history.values[field]
    here = positions_of(texts, codes[start:end])
    before = positions_of(texts, np.where(rows >= 0, codes[rows], np.int32(NO_SLOT)))
    milliseconds = history.time[start:end] - history.time[rows]
    scaled = np.empty(len(rows), np.int64)
    speeds(here.latitude, here.longitude, before.latitude, before.longitude, milliseconds, scaled)
    return OrderValues(_values(scaled, rows).values, here.present & before.present)


def _values(scaled: Int64Array, rows: Int64Array) -> OrderValues:
    """Values from 0 on; where there is no row they are anything."""
    low = np.ascontiguousarray(scaled).view(np.uint64)
    return OrderValues(Amounts(low, np.zeros(len(rows), np.int64)), rows >= 0)
