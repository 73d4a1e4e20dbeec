"""Positions in millionths of a degree, their one text, and the speed between two (semantics 3 and 10).

Everything is a whole number or an exact fraction; the formulas are those of the specification, written from it.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from math import isqrt

from tests.oracle.values.errors import Unreadable

_DEGREE = 10**6
_UNIT = 2**40
_RIGHT_ANGLE = 1727108826178
_HALF_MILLIONTH = 10061138136
_DIAMETER = 1274201760000


def read_position(text: str) -> tuple[int, int]:
    """Latitude and longitude, or Unreadable; 180 degrees west is 180 degrees east, and a pole has no longitude."""
    parts = re.fullmatch("(-?[0-9]{1,2}(?:[.][0-9]{1,6})?), ?(-?[0-9]{1,3}(?:[.][0-9]{1,6})?)", text)
    if parts is None or re.search("(?<![0-9.])0[0-9]", text):
        raise Unreadable("no position")
    latitude, longitude = (int(Decimal(part) * _DEGREE) for part in parts.groups())
    if abs(latitude) > 90 * _DEGREE or abs(longitude) > 180 * _DEGREE:
        raise Unreadable("not on the earth")
    if abs(latitude) == 90 * _DEGREE:
        return latitude, 0
    return latitude, 180 * _DEGREE if longitude == -180 * _DEGREE else longitude


def position_text(latitude: int, longitude: int) -> str:
    """Both in degrees, as short as they can be written."""
    return f"{_degrees(latitude)},{_degrees(longitude)}"


def _degrees(number: int) -> str:
    whole, behind = divmod(abs(number), _DEGREE)
    decimals = f".{behind:06}".rstrip("0") if behind else ""
    return f"{'-' if number < 0 else ''}{whole}{decimals}"


def speed_between(before: str, after: str, milliseconds: int) -> Fraction:
    """From one position's text to the other's, in millionths of a kilometre per hour; half a millionth to the even."""
    return Fraction(
        round(Fraction(36000 * distance(read_position(before), read_position(after)), milliseconds or 1))
    )


def distance(one: tuple[int, int], other: tuple[int, int]) -> int:
    """On the sphere, in hundredths of a millimetre."""
    (latitude, longitude), (other_latitude, other_longitude) = one, other
    turned = abs(longitude - other_longitude)
    meridian = _sine(abs(latitude - other_latitude))
    parallels = isqrt(_cosine(latitude) * _cosine(other_latitude))
    across = parallels * _sine(min(turned, 360 * _DEGREE - turned)) // _UNIT
    half_chord = min(_UNIT, isqrt(meridian**2 + across**2))
    return _arcsine(half_chord) * _DIAMETER // _UNIT


def _cosine(latitude: int) -> int:
    return _sine(2 * (90 * _DEGREE - abs(latitude)))


def _sine(half_millionths: int) -> int:
    angle = half_millionths * _HALF_MILLIONTH // 2**20
    square = angle**2 // _UNIT
    series = _UNIT
    for n in range(7, 0, -1):
        series = _UNIT - (series * square // _UNIT) // (2 * n * (2 * n + 1))
    return angle * series // _UNIT


def _arcsine(sine: int) -> int:
    if 2 * sine > _UNIT:
        return _RIGHT_ANGLE - 2 * _arcsine(isqrt((_UNIT - sine) * _UNIT // 2))
    square = sine**2 // _UNIT
    series = _UNIT
    for n in range(12, 0, -1):
        odd = 2 * n - 1
        series = _UNIT + (series * square // _UNIT) * odd * odd // ((odd + 1) * (odd + 2))
    return sine * series // _UNIT
