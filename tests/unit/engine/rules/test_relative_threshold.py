"""Relative limits against Python's fractions, at the ends of what sums, counts and factors can be."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tripline_contracts.rules.rule_definition import Function, Operator
from tripline_engine.domain.memory.int128 import split
from tripline_engine.domain.rules.relative_threshold import compare_sides, limit_of, side
from tripline_engine.domain.rules.threshold import SCALE, satisfied_by

MOST, LARGEST_SUM, MOST_ROWS = 10**24 - 1, 2**127 - 1, 2**32 - 1
COUNTS = st.sampled_from([1, 2, 3, 7, MOST_ROWS]) | st.integers(1, MOST_ROWS)
SUMS = st.sampled_from([0, 1, -1, MOST, -MOST, LARGEST_SUM, -LARGEST_SUM]) | st.integers(
    -LARGEST_SUM, LARGEST_SUM
)
NUMBERS = st.sampled_from([0, 1, -1, SCALE, -SCALE, 3 * SCALE, MOST, -MOST]) | st.integers(-MOST, MOST)
SIDES = st.tuples(st.sampled_from(["SUM", "AVG", "COUNT", "MAX"]), COUNTS, SUMS)
OPERATORS: tuple[Operator, ...] = get_args(Operator)


def value(function: Function, count: int, total: int) -> Fraction:
    if function == "COUNT":
        return Fraction(count * SCALE)
    return Fraction(total, count) if function == "AVG" else Fraction(total)


def holds(
    operator: Operator,
    one: tuple[Function, int, int],
    other: tuple[Function, int, int],
    times: int,
    plus: int,
) -> bool:
    sides = []
    for function, count, total in (one, other):
        low, high = split(total)
        sides.append(side(function, np.array([count]), np.array([low]), np.array([high])))
    matches = np.ones(1, np.bool_)
    compare_sides(operator, sides[0], sides[1], times, plus, matches)
    return bool(matches[0])


@settings(deadline=None)
@given(SIDES, SIDES, NUMBERS, NUMBERS, st.sampled_from(OPERATORS))
def test_any_numbers(
    one: tuple[Function, int, int],
    other: tuple[Function, int, int],
    times: int,
    plus: int,
    operator: Operator,
) -> None:
    left, limit = value(*one), value(*other) * times / SCALE + plus
    expected = satisfied_by(operator)[1 + (left > limit) - (left < limit)]
    assert holds(operator, one, other, times, plus) == expected
    assert limit_of(*other, times, plus) == round(limit)


@pytest.mark.parametrize(("sign", "factor", "nudge"), [*product((1, -1), (1, -1), (-1, 0, 1))])
def test_the_ends(sign: int, factor: int, nudge: int) -> None:
    """The greatest sum there is, against itself so many times as it is counted: equal to the last digit, or not."""
    total = sign * (LARGEST_SUM // MOST_ROWS * MOST_ROWS)
    one: tuple[Function, int, int] = ("SUM", 1, factor * total // MOST_ROWS)
    other: tuple[Function, int, int] = ("AVG", MOST_ROWS, total)
    assert holds("=", one, other, factor * SCALE, nudge) is (nudge == 0)
    assert holds("<", one, other, factor * SCALE, nudge) is (nudge > 0)
    great: tuple[Function, int, int] = ("SUM", 1, sign * LARGEST_SUM)
    least: tuple[Function, int, int] = ("AVG", MOST_ROWS, sign * LARGEST_SUM)
    beyond = holds(">", great, least, factor * MOST, factor * MOST)
    assert beyond is (value(*great) > value(*least) * factor * MOST / SCALE + factor * MOST)
    beyond = holds(">", least, great, factor * MOST, factor * MOST)
    assert beyond is (value(*least) > value(*great) * factor * MOST / SCALE + factor * MOST)


def test_places_without_a_value_stay_as_they_are() -> None:
    counts, low, high = np.array([1, 1]), np.array([5, 5], np.uint64), np.array([0, 0])
    matches = np.array([False, True])
    compare_sides(">=", side("SUM", counts, low, high), side("SUM", counts, low, high), SCALE, 0, matches)
    assert matches.tolist() == [False, True]
