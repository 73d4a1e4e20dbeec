"""Which transactions an alert's value came from: the newest of the window, as people see them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tripline_engine.domain.groups.group_lists import IntrusiveLists
from tripline_engine.domain.history.history import History
from tripline_engine.domain.judging.verdict import Contributor
from tripline_engine.domain.memory.arena import Array
from tripline_engine.domain.memory.kernel import kernel
from tripline_engine.domain.rules.measures import Measure


@kernel()
def _collect(row: int, entered: int, bound: int, base: int, order: Any, members: Any, out: Any) -> int:
    """The rows from the last one of the same event time back to ``bound`` (ms), up to number ``entered``."""
    found, older = 0, row
    while order.following[older] >= 0 and order.time[order.following[older]] == order.time[row]:
        older = order.following[older]
    while found < len(out) and older >= base and order.time[older] >= bound:
        if older <= entered and members[older] >= 0:
            out[found] = older
            found += 1
        older = order.previous[older]
    return found


@dataclass(frozen=True, slots=True)
class ContributorLookup:
    """What a version's windows were read from.

    :ivar lists: the groups' transactions
    :ivar members: int32 by row, negative for a transaction that contributes nothing: its value is null
    :ivar part: what is read
    :ivar floor: older event times (ms) are not visible
    :ivar most: how many contributors are listed
    """

    history: History
    lists: IntrusiveLists
    members: Array
    part: Measure
    floor: int
    most: int

    def contributors(self, row: int, entered: int) -> tuple[Contributor, ...]:
        """The newest of the row's window, among the rows up to number ``entered``."""
        history, field = self.history, self.part.condition.aggregate_field
        bound = max(self.part.window_start(int(history.time[row])), self.floor)
        found = np.empty(self.most, np.int64)
        count = _collect(row, entered, bound, history.base, self.lists.order, self.members, found)
        rows = found[:count]
        values = [None if field is None else history.value(field, row) for row in rows.tolist()]
        return tuple(map(Contributor, history.ids(rows), history.time[rows].tolist(), values))
