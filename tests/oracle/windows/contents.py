"""Contents of windows: what one measure comes to, and what that makes of a relative limit (semantics 3)."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from tests.oracle.parsers.conditions import Condition
from tests.oracle.parsers.grouping_keys import Key
from tests.oracle.parsers.measures import DEVIATION, DISTINCT, OF_ORDER, Measure
from tests.oracle.parsers.transactions import Transaction
from tests.oracle.values.decimals import SCALE
from tests.oracle.windows.aggregates import aggregate, deviates, different, root, variance
from tests.oracle.windows.event_order import value_of_order
from tests.oracle.windows.roots import combined, number, root_of, rounded, stands


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
    """What a relative limit is made of; the numbers, in millionths, are None for parameters without a value.

    `square` is that of the deviation, None where nobody asks for it and of fewer than two. `deviations` says how many
    of them the limit has besides; `more` is False where it has none, not even none of them.
    """

    content: Content
    times: int | None
    plus: int | None
    more: bool = False
    deviations: int | None = None
    square: Fraction | None = None

    @property
    def rooted(self) -> bool:
        """True if there is a root in it."""
        return self.more or self.content.measure.function == DEVIATION

    @property
    def exact(self) -> Decimal | None:
        """The limit in millionths to a thousand digits, of one with a root in it."""
        if self.content.value is None or self.times is None or self.plus is None or self.square is None:
            return None
        times = Fraction(self.times, SCALE)
        if not self.more:
            return combined(Fraction(self.plus), times, self.square)
        if self.deviations is None:
            return None
        whole = times * self.content.value + self.plus
        return combined(whole, Fraction(self.deviations, SCALE), self.square)

    @property
    def limit(self) -> Fraction | None:
        """The limit, exact, in millionths; of one with a root in it to the next one of these."""
        if self.rooted:
            return None if self.exact is None else rounded(self.exact)
        if self.content.value is None or self.times is None or self.plus is None:
            return None
        return Fraction(self.times, SCALE) * self.content.value + self.plus

    @property
    def deviation(self) -> Fraction | None:
        """That of an average of as many as are asked for, in whole millionths."""
        return None if self.content.value is None or self.square is None else root(self.square)


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


def holds_with_roots(
    condition: Condition, value: Fraction, limit: Fraction, window: list[Transaction], behind: Behind | None
) -> bool:
    """True if the condition holds, where its value or its limit, as they are told, is a rounded root."""
    square = variance([other.amount for other in window]) if condition.function == DEVIATION else None
    if behind is None:
        assert square is not None
        return deviates(square, condition.operator, limit)
    exact = number(value) if square is None else root_of(square)
    wanted = behind.exact if behind.rooted else number(limit)
    assert wanted is not None
    return stands(exact, condition.operator, wanted)


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
