"""What window kernels read, by the handful: how far windows reach, and the lists that they lie in."""

from __future__ import annotations

from typing import NamedTuple

from tripline_engine.domain.groups.group_lists import Members, Order
from tripline_engine.domain.memory.array_types import Int64Array, Millis, RowNumber
from tripline_engine.domain.transactions.columns import Amounts


class WindowBounds(NamedTuple):
    """How far windows reach back.

    :ivar lengths: int64 ms, ascending: each window begins where the one before ends
    :ivar floor: older event times (ms) are not visible
    :ivar base: the oldest retained row
    """

    lengths: Int64Array
    floor: Millis
    base: RowNumber


class ListView(NamedTuple):
    """The lists of a population: their order, which rows contribute, and the amounts by row."""

    order: Order
    members: Members
    amounts: Amounts
