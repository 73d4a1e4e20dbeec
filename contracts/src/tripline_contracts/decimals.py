"""Exact decimals: decimal(24,6), that is a multiple of 10**-6 with an absolute value below 10**18.

Nothing here depends on the decimal context and nothing is ever a float. "Scaled" is times 10**6, as an int.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from tripline_contracts.errors import InvalidDecimal

PLACES: Final = 6
WHOLE_DIGITS: Final = 18
SCALE: Final = 10**PLACES
SCALED_BOUND: Final = 10 ** (PLACES + WHOLE_DIGITS)

_GRAMMAR: Final = re.compile(r"(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?)([0-9]+))?")
# An exponent of more digits than this can't be made good by the digits of any text that fits in memory.
_EXPONENT_DIGITS: Final = 12


def parse(value: str | int | Decimal) -> Decimal:
    """The value as a decimal(24,6), in its shortest spelling.

    A string has to read `-?digits[.digits][(e|E)[+|-]digits]` in ASCII, spaces not allowed.
    Raises InvalidDecimal with the reason; a float or bool too is refused with it.
    """
    return from_scaled(parse_scaled(value))


def parse_scaled(value: str | int | Decimal) -> int:
    """Like `parse`, but times 10**6 as an int: what the engine computes with."""
    if isinstance(value, str):
        return _scaled_text(value)
    if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
        raise InvalidDecimal(f"expected a decimal number or its text, not a {type(value).__name__}")
    if isinstance(value, int):
        # compared before anything is printed: Python refuses to print integers of thousands of digits
        if not -(10**WHOLE_DIGITS) < value < 10**WHOLE_DIGITS:
            raise _too_large()
        return value * SCALE
    if not value.is_finite():
        raise InvalidDecimal(f"expected a finite number, not {value}")
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)  # finite
    return _scaled(bool(sign), "".join(map(str, digits)), exponent)


def to_scaled(value: Decimal) -> int:
    """value times 10**6, exactly and of any size. Raises InvalidDecimal if it has more than six places."""
    if not value.is_finite():
        raise InvalidDecimal(f"expected a finite number, not {value}")
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)  # finite
    stripped, shift = _strip("".join(map(str, digits)), exponent)
    if not stripped:
        return 0
    if shift < -PLACES:
        raise _too_fine()
    magnitude = int(stripped) * int(10 ** (shift + PLACES))
    return -magnitude if sign else magnitude


def from_scaled(scaled: int) -> Decimal:
    """scaled times 10**-6, exactly and of any size (a sum may be larger than what `parse` lets in)."""
    return Decimal(plain_scaled(scaled))


def plain(value: Decimal) -> str:
    """The value without exponent, trailing zeros or minus zero, as all JSON of ours carries it."""
    if not value.is_finite():
        raise InvalidDecimal(f"expected a finite number, not {value}")
    text = format(value, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def plain_scaled(scaled: int) -> str:
    """`plain(from_scaled(scaled))`, without the way through Decimal."""
    whole, fraction = divmod(abs(scaled), SCALE)
    sign = "-" if scaled < 0 else ""
    if fraction == 0:
        return f"{sign}{whole}"
    return f"{sign}{whole}.{fraction:06d}".rstrip("0")


def _scaled_text(text: str) -> int:
    match = _GRAMMAR.fullmatch(text)
    if match is None:
        raise InvalidDecimal("expected a decimal number: -?digits[.digits][e[+-]digits]")
    sign, whole, fraction, exponent_sign, exponent_digits = match.groups(default="")
    exponent_digits = exponent_digits.lstrip("0")[: _EXPONENT_DIGITS + 1]
    exponent = int(exponent_digits or "0") * (-1 if exponent_sign == "-" else 1)
    return _scaled(sign == "-", whole + fraction, exponent - len(fraction))


def _scaled(negative: bool, digits: str, exponent: int) -> int:
    """digits times 10**exponent, scaled; sizes are checked before any number is made of them."""
    stripped, shift = _strip(digits, exponent)
    if not stripped:
        return 0
    if len(stripped) + shift > WHOLE_DIGITS:
        raise _too_large()
    if shift < -PLACES:
        raise _too_fine()
    magnitude = int(stripped) * int(10 ** (shift + PLACES))
    return -magnitude if negative else magnitude


def _strip(digits: str, exponent: int) -> tuple[str, int]:
    """The same value without leading or trailing zeros; no digits at all is zero."""
    significant = digits.rstrip("0")
    return significant.lstrip("0"), exponent + len(digits) - len(significant)


def _too_large() -> InvalidDecimal:
    return InvalidDecimal("the absolute value must be below 10^18")


def _too_fine() -> InvalidDecimal:
    return InvalidDecimal("at most 6 decimal places are kept exactly; this value has more")
