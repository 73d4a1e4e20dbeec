"""Functions and operators over exact numbers (semantics 4)."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import isqrt

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


def variance(amounts: Sequence[int]) -> Fraction:
    """The exact variance of a sample of two or more, in squares of millionths."""
    mean = Fraction(sum(amounts), len(amounts))
    return sum((amount - mean) ** 2 for amount in amounts) / Fraction(len(amounts) - 1)


def root(square: Fraction) -> Fraction:
    """The root in whole numbers, of two as near the even one."""
    below = isqrt(square.numerator // square.denominator)
    half = Fraction(2 * below + 1, 2)
    if square == half * half:
        return Fraction(below + below % 2)
    return Fraction(below if square < half * half else below + 1)


def deviates(square: Fraction, symbol: str, limit: Fraction) -> bool:
    """True if the root of an exact square stands in the relation to the limit; it is never negative."""
    return _HOLDS[symbol](square, limit * limit if limit >= 0 else Fraction(-1))


def holds(value: Fraction, symbol: str, limit: Fraction) -> bool:
    """True if an exact value stands in the relation to the limit, both in millionths."""
    return _HOLDS[symbol](value, limit)


def reported(value: Fraction) -> int:
    """The value in whole millionths, rounded half-even."""
    return round(value)
