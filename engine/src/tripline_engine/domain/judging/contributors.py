"""The contributors of an alert: the newest transactions that its window's value came from, as people see them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tripline_engine.domain.groups.group_lists import IntrusiveLists, Order
from tripline_engine.domain.history.history import History
from tripline_engine.domain.judging.anchor_tuning import MAX_WHOLE
from tripline_engine.domain.judging.verdict import Contributor
from tripline_engine.domain.memory.array_types import NO_ROW, Int32Array, Int64Array, Millis, RowNumber
from tripline_engine.domain.memory.kernel import kernel
from tripline_engine.domain.rules.measures import Measure

_NO_END = np.iinfo(np.int64).max


class _Window(NamedTuple):
    """What is looked through.

    :ivar bound: the oldest event time (ms)
    :ivar until: the event time (ms) at which the window ends, excluded
    :ivar without: a row that is left out, or NO_ROW
    :ivar base: the oldest retained row
    """

    bound: Millis
    until: Millis
    without: RowNumber
    base: RowNumber


@kernel()
def _collect(
    row: RowNumber,
    entered: RowNumber,
    window: _Window,
    order: Order,
    members: Int32Array,
    out: Int64Array,
) -> int:
    """Write the rows of the window from the last one of the same event time back, up to number ``entered``.

    :returns: how many they are, at most as many as ``out`` has room for
    """
    count, older = 0, row
    while order.following[older] >= 0 and order.time[order.following[older]] == order.time[row]:
        older = order.following[older]
    while count < len(out) and older >= window.base and order.time[older] >= window.bound:
        counts = older <= entered and members[older] >= 0
        if counts and order.time[older] < window.until and older != window.without:
            out[count] = older
            count += 1
        older = order.previous[older]
    return count


@dataclass(frozen=True, slots=True)
class ContributorLookup:
    """The windows of one measure, looked up row by row.

    :ivar lists: the groups' transactions
    :ivar members: int32 by row, negative for a transaction that contributes nothing: its value is null
    :ivar floor: older event times (ms) are not visible
    :ivar max_listed: contributors that are listed at most
    :ivar whole: ids of transactions whose windows are listed up to `MAX_WHOLE`
    """

    history: History
    lists: IntrusiveLists
    members: Int32Array
    measure: Measure
    floor: int
    max_listed: int
    whole: frozenset[str]

    def contributors(self, row: int, entered: int) -> tuple[Contributor, ...]:
        """The newest rows of the row's window, among those up to number ``entered``."""
        if not self.max_listed and not self.whole:
            return ()
        history, measure, time = self.history, self.measure, int(self.history.time[row])
        field = measure.source.aggregate_field
        bound = max(measure.window_start(time), self.floor)
        until = time - measure.offset_ms if measure.offset_ms else _NO_END
        without = NO_ROW if measure.excerpt.include_current else row
        is_whole = self.whole and history.ids(np.array([row]))[0] in self.whole
        collected = np.empty(MAX_WHOLE if is_whole else self.max_listed, np.int64)
        window = _Window(bound, until, without, history.base)
        count = _collect(row, entered, window, self.lists.order, self.members, collected)
        rows = collected[:count]
        values = [None if field is None else history.value(field, row) for row in rows.tolist()]
        return tuple(map(Contributor, history.ids(rows), history.time[rows].tolist(), values))
