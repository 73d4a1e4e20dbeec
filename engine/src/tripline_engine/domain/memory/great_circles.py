"""Great circles: distances on a sphere in whole numbers, so that every machine comes to the same.

Sines, roots and angles (in radians) are fixed-point: int64, in units of 2⁻⁴⁰. Each product, quotient and root is
rounded down. The formulas and their constants are part of what a rule means (docs/semantics.md, `SPEED_KMH`), and so is
each rounding. Positions are whole millionths of a degree, distances hundredths of a millimetre, speeds millionths of
a kilometre per hour.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np

from tripline_engine.domain.memory.array_types import Int64Array, int64
from tripline_engine.domain.memory.kernel import kernel

Fixed: TypeAlias = int
"""A multiple of 2⁻⁴⁰."""

ONE: Final = 1 << 40
QUARTER_TURN: Final = 1_727_108_826_178
"""A right angle: π/2 in units of 2⁻⁴⁰, rounded down."""
HALF_MICRODEGREE: Final = 10_061_138_136
"""Half a millionth of a degree, in units of 2⁻⁶⁰, rounded down."""
DIAMETER: Final = 1_274_201_760_000
"""Of the earth, in hundredths of a millimetre: 2 × 6,371.0088 km."""
TURN: Final = 360_000_000
"""Around the earth, in millionths of a degree."""
POLE: Final = TURN // 4
"""The latitude of a pole."""
SPEED: Final = 36_000
"""Hundredths of a millimetre in a millisecond, in millionths of a kilometre per hour."""

_HALF_BITS: Final = 20
_LOW: Final = (1 << _HALF_BITS) - 1


@kernel(inline="always")
def product(a: Fixed, b: Fixed) -> Fixed:
    """The product: a × b / 2⁴⁰ rounded down, of what stays below 2⁴¹ each, without more than 64 bits on the way."""
    return (a * (b >> _HALF_BITS) + (a * (b & _LOW) >> _HALF_BITS)) >> _HALF_BITS


@kernel()
def root(a: Fixed, b: Fixed, c: Fixed, d: Fixed) -> Fixed:
    """The root of a × b + c × d, rounded down; of numbers up to 2⁴¹.

    The sum takes 83 bits. A root in floating point is off by one or two; what the sum is more than its square then fits
    in 64 bits, and so is right though both have overflowed.
    """
    result = int64(np.sqrt(float(a) * float(b) + float(c) * float(d)))
    rest = a * b + c * d - result * result
    while rest < 0:
        result -= 1
        rest += 2 * result + 1
    while rest > 2 * result:
        rest -= 2 * result + 1
        result += 1
    return result


@kernel()
def sine(angle: int) -> Fixed:
    """The sine of an angle from 0 to a right one, in halves of a millionth of a degree."""
    radians = angle * HALF_MICRODEGREE >> _HALF_BITS
    square, factor = product(radians, radians), int64(ONE)
    for divisor in (210, 156, 110, 72, 42, 20, 6):
        factor = ONE - product(factor, square) // divisor
    return product(radians, factor)


@kernel()
def arcsine(of: Fixed) -> Fixed:
    """The angle from 0 to a right one with this sine, which is from 0 to 1."""
    is_large = 2 * of > ONE
    small = root(ONE - of, ONE >> 1, 0, 0) if is_large else of
    square, factor = product(small, small), int64(ONE)
    for n in range(12, 0, -1):
        factor = ONE + product(factor, square) * (2 * n - 1) ** 2 // (2 * n * (2 * n + 1))
    angle = product(small, factor)
    return QUARTER_TURN - 2 * angle if is_large else angle


@kernel()
def distance(latitude: int, longitude: int, other_latitude: int, other_longitude: int) -> int:
    """The distance along the great circle: haversines, half the chord as a hypotenuse."""
    apart = abs(longitude - other_longitude)
    north = sine(abs(latitude - other_latitude))
    shrink = root(sine(2 * (POLE - abs(latitude))), sine(2 * (POLE - abs(other_latitude))), 0, 0)
    east = product(shrink, sine(min(apart, TURN - apart)))
    return product(arcsine(min(root(north, north, east, east), int64(ONE))), DIAMETER)


@kernel()
def speed(hundredths: int, milliseconds: int) -> int:
    """The speed over a distance, rounded half-even; a time of 0 counts as a millisecond."""
    whole, time = hundredths * SPEED, max(milliseconds, 1)
    quotient = whole // time
    twice = 2 * (whole - quotient * time)
    return quotient + int64(twice > time or (twice == time and quotient % 2 == 1))


@kernel()
def speeds(
    latitude: Int64Array,
    longitude: Int64Array,
    other_latitude: Int64Array,
    other_longitude: Int64Array,
    milliseconds: Int64Array,
    out: Int64Array,
) -> None:
    """The speeds of n journeys, in ``milliseconds`` each, into ``out``."""
    for i in range(len(out)):
        way = distance(latitude[i], longitude[i], other_latitude[i], other_longitude[i])
        out[i] = speed(way, milliseconds[i])
