"""Distances and speeds on the sphere: as the oracle has them, to the last digit, and near to what haversines say."""

from __future__ import annotations

from math import asin, cos, pi, radians, sin, sqrt

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.oracle.values import positions as oracle
from tripline_engine.domain.memory import great_circles
from tripline_engine.domain.memory.great_circles import distance, speed, speeds

DEGREE = 1_000_000
LATITUDES = st.integers(-90 * DEGREE, 90 * DEGREE)
LONGITUDES = st.integers(-180 * DEGREE + 1, 180 * DEGREE)
ANYWHERE = st.tuples(LATITUDES, LONGITUDES)
Place = tuple[int, int]


@st.composite
def nearby(draw: st.DrawFn) -> tuple[Place, Place]:
    """Two that are as near to each other, or to being opposite, as any power of ten."""
    latitude, longitude = draw(ANYWHERE)
    reach = 10 ** draw(st.integers(0, 7))
    north, east = draw(st.integers(-reach, reach)), draw(st.integers(-reach, reach))
    if draw(st.booleans()):
        latitude, longitude = -latitude, longitude - 180 * DEGREE
    other = min(max(latitude + north, -90 * DEGREE), 90 * DEGREE), wrapped(longitude + east)
    return draw(
        st.sampled_from([((latitude, wrapped(longitude)), other), (other, (latitude, wrapped(longitude)))])
    )


def wrapped(longitude: int) -> int:
    return (longitude - 1 + 180 * DEGREE) % (360 * DEGREE) - 180 * DEGREE + 1


def haversine(one: Place, other: Place) -> float:
    """In hundredths of a millimetre, by the formula as floating-point numbers have it."""
    (north, east), (other_north, other_east) = (
        [radians(number / DEGREE) for number in pair] for pair in (one, other)
    )
    across = cos(north) * cos(other_north) * sin((other_east - east) / 2) ** 2
    return great_circles.DIAMETER * asin(min(1.0, sqrt(sin((other_north - north) / 2) ** 2 + across)))


def check(one: Place, other: Place) -> None:
    hundredths = distance(*one, *other)
    assert hundredths == distance(*other, *one) == oracle.distance(one, other)
    exact = haversine(one, other)
    # a twentieth of a millimetre where rounding is all, and one part in two hundred thousand
    assert abs(hundredths - exact) <= 5 + exact / 200_000
    if exact >= 1000:  # a centimetre: what is nearer is hardly told apart by a millionth of a degree
        assert abs(hundredths - exact) <= exact * 0.005


@given(ANYWHERE, ANYWHERE)
@example((90 * DEGREE, 0), (-90 * DEGREE, 0))
@example((0, 0), (0, 180 * DEGREE))
@example((45 * DEGREE, 90 * DEGREE), (-45 * DEGREE, -90 * DEGREE))
@example((30 * DEGREE, 180 * DEGREE), (30 * DEGREE, -180 * DEGREE + 1))
@example((90 * DEGREE - 1, 0), (90 * DEGREE - 1, 180 * DEGREE))
@example((0, 0), (0, 1))
@example((0, 0), (1, 0))
@example((60 * DEGREE, 0), (60 * DEGREE + 1, 1))
def test_any_two(one: Place, other: Place) -> None:
    check(one, other)


@given(nearby())
def test_near_and_opposite_ones(both: tuple[Place, Place]) -> None:
    check(*both)


@given(ANYWHERE)
def test_where_one_is_is_no_distance(one: Place) -> None:
    assert distance(*one, *one) == 0


def test_a_millionth_of_a_degree_and_ten_degrees() -> None:
    assert distance(0, 0, 0, 1) == 11118
    assert distance(0, 180 * DEGREE, 0, -180 * DEGREE + 1) == 11118
    assert distance(50 * DEGREE, 10 * DEGREE, 40 * DEGREE, 10 * DEGREE) == 111_195_080_229
    assert distance(90 * DEGREE, 0, -90 * DEGREE, 0) == 2_001_507_234_720


def test_constants_are_what_they_stand_for() -> None:
    assert int(pi / 2 * 2**40) - great_circles.QUARTER_TURN == 0
    assert abs(great_circles.HALF_MICRODEGREE - pi / 360e6 * 2**60) < 1e-5 * 2**20
    assert great_circles.DIAMETER - 2 * 6_371_008_800 * 100 == 0
    assert great_circles.SPEED == 36_000


@given(st.integers(0, great_circles.ONE), st.integers(0, great_circles.ONE + 10))
def test_roots_and_products(a: int, b: int) -> None:
    root = great_circles.root(a, a, b, b)
    assert root**2 <= a * a + b * b < (root + 1) ** 2
    root = great_circles.root(a, b, 0, 0)
    assert root**2 <= a * b < (root + 1) ** 2
    assert great_circles.product(a, b) == a * b >> 40


SPEEDS: list[tuple[int, int, int]] = [
    (0, 0, 0),
    (1, 1, 36_000),
    (1, 0, 36_000),
    (111_195_080_229, 3_600_000, 1_111_950_802),
    (1, 72_000, 0),
    (3, 72_000, 2),
    (5, 72_000, 2),
    (7, 72_000, 4),
    (1, 71_999, 1),
    (2_001_511_444_202, 1, 72_054_411_991_272_000),
    (2_001_511_444_202, 400 * 86_400_000, 2_084_908),
]


@pytest.mark.parametrize(("hundredths", "milliseconds", "expected"), SPEEDS)
def test_speeds_are_rounded_half_even(hundredths: int, milliseconds: int, expected: int) -> None:
    assert speed(hundredths, milliseconds) == expected


def test_of_many_each() -> None:
    rng = np.random.default_rng(7)
    one, other = (
        (rng.integers(-90 * DEGREE, 90 * DEGREE, 500), rng.integers(-180 * DEGREE, 180 * DEGREE, 500))
        for _ in "ab"
    )
    milliseconds, out = rng.integers(0, 10**9, 500), np.empty(500, np.int64)
    speeds(*one, *other, milliseconds, out)
    for i, value in enumerate(out.tolist()):
        before, after = (oracle.position_text(int(north[i]), int(east[i])) for north, east in (one, other))
        assert value == oracle.speed_between(before, after, int(milliseconds[i]))
