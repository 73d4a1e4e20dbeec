"""Functions and operators over exact numbers (semantics 4)."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from fractions import Fraction

from tests.oracle.values.decimals import SCALE

_HOLDS: dict[str, Callable[[Fraction, Fraction], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}


def aggregate(function: str, amounts: Sequence[int]) -> Fraction:
    """The exact value in millionths of a function over amounts in millionths, of some but for COUNT and SUM."""
    if function == "COUNT":
        return Fraction(len(amounts) * SCALE)
    if function == "SUM":
        return Fraction(sum(amounts))
    if function == "AVG":
        return Fraction(sum(amounts), len(amounts))
    return Fraction(min(amounts) if function == "MIN" else max(amounts))


def different(values: Sequence[object]) -> Fraction:
    """The number of different values, in millionths."""
    return Fraction(len(set(values)) * SCALE)


def holds(value: Fraction, symbol: str, limit: int) -> bool:
    """True if an exact value stands in the relation to the limit, both in millionths."""
    return _HOLDS[symbol](value, Fraction(limit))


def reported(value: Fraction) -> int:
    """The value in whole millionths, rounded half-even."""
    return round(value)
