"""Spans of numbers: intervals whose ends may be open, closed or none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from tripline_contracts.spelling import Operator


@dataclass(frozen=True, slots=True)
class Span:
    """The numbers from `low` to `high`; None is no end, an end that is `open` does not belong to it."""

    low: Decimal | None = None
    high: Decimal | None = None
    low_open: bool = False
    high_open: bool = False

    @property
    def is_empty(self) -> bool:
        """True if no number is in it."""
        if self.low is None or self.high is None:
            return False
        return self.low > self.high or (self.low == self.high and (self.low_open or self.high_open))

    def above(self, number: Decimal, *, open_: bool) -> Span:
        """The part from that number on, or above it."""
        if self.low is not None and (self.low, self.low_open) >= (number, open_):
            return self
        return replace(self, low=number, low_open=open_)

    def below(self, number: Decimal, *, open_: bool) -> Span:
        """The part up to that number, or below it."""
        if self.high is not None and (self.high, not self.high_open) <= (number, not open_):
            return self
        return replace(self, high=number, high_open=open_)

    def compared(self, operator: Operator, number: Decimal) -> Span:
        """The part that stands so to the number; `!=` takes nothing away that a span could say."""
        match operator:
            case ">" | ">=":
                return self.above(number, open_=operator == ">")
            case "<" | "<=":
                return self.below(number, open_=operator == "<")
            case "=":
                return self.above(number, open_=False).below(number, open_=False)
            case "!=":
                return self

    def hull(self, other: Span) -> Span:
        """The least span that has both; neither is empty."""
        low = (
            None
            if self.low is None or other.low is None
            else min((self.low, self.low_open), (other.low, other.low_open))
        )
        high = (
            None
            if self.high is None or other.high is None
            else max((self.high, not self.high_open), (other.high, not other.high_open))
        )
        return Span(
            None if low is None else low[0],
            None if high is None else high[0],
            low_open=low is not None and low[1],
            high_open=high is not None and not high[1],
        )

    def never(self, operator: Operator, number: Decimal) -> bool:
        """True if none of its numbers stands so to that one."""
        if operator == "!=":
            return self.low == self.high == number
        return self.compared(operator, number).is_empty

    def always(self, operator: Operator, number: Decimal) -> bool:
        """True if each of its numbers stands so to that one."""
        return self.never(_OPPOSITE[operator], number)


EVERYTHING: Final = Span()
"""All numbers."""
_OPPOSITE: Final[dict[Operator, Operator]] = {
    "=": "!=",
    "!=": "=",
    ">": "<=",
    ">=": "<",
    "<": ">=",
    "<=": ">",
}


def opposite(operator: Operator) -> Operator:
    """The operator that holds wherever this one does not, of numbers."""
    return _OPPOSITE[operator]
