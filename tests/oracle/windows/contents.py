"""Contents of windows: what one measure comes to, and what that makes of a relative limit (semantics 3)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tests.oracle.parsers.grouping_keys import Key
from tests.oracle.parsers.measures import DEVIATION, DISTINCT, OF_ORDER, Measure
from tests.oracle.parsers.transactions import Transaction
from tests.oracle.values.decimals import SCALE
from tests.oracle.windows.aggregates import aggregate, different, root, variance
from tests.oracle.windows.event_order import value_of_order


@dataclass(frozen=True, slots=True)
class Content:
    """What one measure comes to; `end` is no part of a window with an offset."""

    measure: Measure
    group: dict[str, str]
    start: int
    end: int
    value: Fraction | None
    contributors: list[Transaction]


@dataclass(frozen=True, slots=True)
class Behind:
    """What a relative limit is made of; the numbers, in millionths, are None for parameters without a value."""

    content: Content
    times: int | None
    plus: int | None

    @property
    def limit(self) -> Fraction | None:
        """The limit, exact, in millionths."""
        if self.content.value is None or self.times is None or self.plus is None:
            return None
        return Fraction(self.times, SCALE) * self.content.value + self.plus


def content(part: Measure, event: Transaction, window: list[Transaction]) -> Content:
    """The exact value of a window of `event`; it may be empty."""
    contributors = window
    value: Fraction | None
    if part.function == DISTINCT:
        # Null is no value, and of nothing there are 0 values, which is a number like any other.
        contributors = [other for other in window if _counted(part, other) is not None]
        value = different([_counted(part, other) for other in contributors])
    elif part.function in OF_ORDER:
        value = value_of_order(part, event, window)
    elif part.function == DEVIATION:
        value = None if len(window) < 2 else root(variance([other.amount for other in window]))
    elif not window and part.function not in ("COUNT", "SUM"):
        value = None
    else:
        value = aggregate(part.function, [other.amount for other in window])
    if len(contributors) < part.least:
        value = None
    group = group_by(part.grouping, event)
    assert group is not None
    end = event.event_time
    return Content(part, group, end - part.reach, end - part.offset, value, contributors)


def group_by(grouping: tuple[Key, ...], transaction: Transaction) -> dict[str, str] | None:
    """The transaction's group by these keys; None if one of its values is null."""
    group: dict[str, str] = {}
    for key in grouping:
        value = key.value(transaction.keys)
        if value is None:
            return None
        group[key.field] = value
    return group


def _counted(part: Measure, transaction: Transaction) -> str | None:
    """The text of what is counted; amounts are plain decimals there, so equal ones are equal texts."""
    assert part.field is not None
    return transaction.keys[part.field]
