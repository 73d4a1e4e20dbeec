"""The contributors of an alert: the newest transactions that its window's value came from, as people see them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tripline_engine.domain.groups.group_lists import IntrusiveLists, Order
from tripline_engine.domain.history.history import History
from tripline_engine.domain.judging.anchor_tuning import MAX_WHOLE
from tripline_engine.domain.judging.verdict import Contributor
from tripline_engine.domain.memory.array_types import Int32Array, Int64Array, Millis, RowNumber
from tripline_engine.domain.memory.kernel import kernel
from tripline_engine.domain.rules.measures import Measure


@kernel()
def _collect(
    row: RowNumber,
    entered: RowNumber,
    bound: Millis,
    base: RowNumber,
    order: Order,
    members: Int32Array,
    out: Int64Array,
) -> int:
    """Write the rows from the last one of the same event time back to ``bound`` (ms), up to number ``entered``.

    :returns: how many they are, at most as many as ``out`` has room for
    """
    count, older = 0, row
    while order.following[older] >= 0 and order.time[order.following[older]] == order.time[row]:
        older = order.following[older]
    while count < len(out) and older >= base and order.time[older] >= bound:
        if older <= entered and members[older] >= 0:
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
        history, field = self.history, self.measure.condition.aggregate_field
        bound = max(self.measure.window_start(int(history.time[row])), self.floor)
        is_whole = self.whole and history.ids(np.array([row]))[0] in self.whole
        collected = np.empty(MAX_WHOLE if is_whole else self.max_listed, np.int64)
        count = _collect(row, entered, bound, history.base, self.lists.order, self.members, collected)
        rows = collected[:count]
        values = [None if field is None else history.value(field, row) for row in rows.tolist()]
        return tuple(map(Contributor, history.ids(rows), history.time[rows].tolist(), values))
