"""decimal(24,6) as integers of millionths."""

from __future__ import annotations

import re

from tests.oracle.values.errors import Unreadable
from tests.oracle.values.strict_json import Numeral, Value

PLACES = 6
SCALE = 1_000_000

_DECIMAL = re.compile(r"(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?")
_WHOLE_DIGITS = 18


def scaled(text: str) -> int:
    """The value of a decimal's text in millionths; Unreadable if finer than that, or not below 10^18."""
    match = _DECIMAL.fullmatch(text)
    if match is None:
        raise Unreadable("not a decimal")
    sign, whole, fraction, exponent_text = match.groups(default="")
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return 0
    significant = digits.rstrip("0")
    exponent = _exponent(exponent_text) - len(fraction) + len(digits) - len(significant)
    if exponent < -PLACES:
        raise Unreadable("finer than a millionth")
    if len(significant) + exponent > _WHOLE_DIGITS:
        raise Unreadable("not below 10^18")
    magnitude = int(significant) * int(10 ** (exponent + PLACES))
    return -magnitude if sign else magnitude


def _exponent(text: str) -> int:
    """The exponent; one of absurd length is cut to something just as much out of range."""
    digits = text.lstrip("+-").lstrip("0")
    magnitude = int(digits[:12]) if digits else 0
    return -magnitude if text.startswith("-") else magnitude


def read_decimal(value: Value | None, what: str) -> int:
    """A decimal given as JSON number or string, in millionths, or Unreadable."""
    if isinstance(value, Numeral):
        return scaled(value.text)
    if isinstance(value, str):
        return scaled(value)
    raise Unreadable(f"{what} is neither number nor string")


def plain(millionths: int) -> str:
    """The decimal as text without exponent and without trailing zeros."""
    whole, rest = divmod(abs(millionths), SCALE)
    fraction = f"{rest:06d}".rstrip("0")
    text = f"{whole}.{fraction}" if fraction else str(whole)
    return f"-{text}" if millionths < 0 else text
