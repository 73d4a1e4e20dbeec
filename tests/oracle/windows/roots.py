"""Numbers with roots in them, to a thousand digits.

The difference of two such numbers is a root of an equation whose whole coefficients have a few hundred digits: it is
nothing, or far greater than the last of the thousand. So what vanishes in the last two hundred is nothing.
"""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction
from math import isqrt

from tests.oracle.windows.aggregates import holds

_EXACT = Context(prec=1000, Emin=-(10**6), Emax=10**6)
_PLACES = Decimal(10) ** -700
_DIGITS = 950
"""Of a root, behind the point: what a limit multiplies it by leaves far more than seven hundred of them right."""


def number(value: Fraction | int) -> Decimal:
    """A fraction to as many digits as there are."""
    exact = Fraction(value)
    return _EXACT.divide(Decimal(exact.numerator), Decimal(exact.denominator))


def root_of(square: Fraction) -> Decimal:
    """The root to as many digits; by whole numbers, which is ten times as fast as by decimals."""
    whole = isqrt(square.numerator * 10 ** (2 * _DIGITS) // square.denominator)
    return _EXACT.scaleb(Decimal(whole), -_DIGITS)


def combined(whole: Fraction, factor: Fraction, square: Fraction) -> Decimal:
    """A number, and so many times a root more."""
    return _EXACT.add(number(whole), _EXACT.multiply(number(factor), root_of(square)))


def stands(value: Decimal, symbol: str, limit: Decimal) -> bool:
    """True if a number stands in the relation to another."""
    return holds(Fraction(_settled(_EXACT.subtract(value, limit))), symbol, Fraction(0))


def rounded(value: Decimal) -> Fraction:
    """The whole number next to it, of two the even one."""
    return Fraction(round(Fraction(_settled(value))))


def _settled(value: Decimal) -> Decimal:
    return _EXACT.quantize(value, _PLACES)
