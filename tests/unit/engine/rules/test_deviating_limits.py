"""Limits with deviations in them against exact algebra, at the ends of what sums, counts and factors can be."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from typing import TypeAlias, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tripline_contracts.rules.rule_definition import Function, Operator
from tripline_engine.domain.judging.deviating_limits import (
    DeviatingSide,
    compare_deviating,
    deviating_side,
    limit_in_deviations,
)
from tripline_engine.domain.memory.int128 import split
from tripline_engine.domain.memory.wide_integers import split3
from tripline_engine.domain.rules.deviations import Squares, deviation
from tripline_engine.domain.rules.threshold import SCALE, satisfied_by

LARGEST, MOST_ROWS = 10**24 - 1, 2**32 - 1
NUMBERS = st.sampled_from([0, 1, -1, SCALE, -SCALE, 3 * SCALE, LARGEST, -LARGEST]) | st.integers(
    -LARGEST, LARGEST
)
SMALL = st.integers(-9, 9)
OPERATORS: tuple[Operator, ...] = get_args(Operator)
Window: TypeAlias = tuple[int, int, int]
Sided: TypeAlias = tuple[Function, Window]


def window(amounts: list[int]) -> Window:
    """Count, sum and sum of squares."""
    return len(amounts), sum(amounts), sum(amount**2 for amount in amounts)


AMOUNTS = st.sampled_from([0, 1, -1, LARGEST, -LARGEST]) | st.integers(-LARGEST, LARGEST)
WINDOWS = st.lists(AMOUNTS, min_size=2, max_size=5).map(window)
LIMITED = st.one_of(
    st.tuples(st.just("AVG"), WINDOWS, st.tuples(NUMBERS, NUMBERS, NUMBERS)),
    st.tuples(st.just("STDDEV"), WINDOWS, st.tuples(NUMBERS, NUMBERS)),
)
VALUES = st.tuples(st.sampled_from(["SUM", "AVG", "COUNT", "MAX", "STDDEV"]), WINDOWS)


def side(function: Function, window: Window) -> DeviatingSide:
    count, total, squares = window
    low, high = split(total)
    words = Squares(*(np.array([word]) for word in split3(squares)))
    return deviating_side(function, np.array([count]), np.array([low]), np.array([high]), words)


def holds(operator: Operator, value: Sided, base: Sided, numbers: tuple[int, ...]) -> bool:
    matches = np.ones(1, np.bool_)
    compare_deviating(operator, side(*value), side(*base), numbers, matches)
    return bool(matches[0])


def exact(function: Function, window: Window) -> Decimal:
    """In millionths, to as many digits as are asked for."""
    count, total, squares = window
    if function == "STDDEV":
        return (Decimal(count * squares - total**2) / Decimal(count * (count - 1))).sqrt()
    return (
        Decimal(count * SCALE)
        if function == "COUNT"
        else Decimal(total) / (count if function == "AVG" else 1)
    )


def limit(base: Sided, numbers: tuple[int, ...]) -> Decimal:
    times, plus, *more = (Decimal(number) for number in numbers)
    beyond = more[0] / SCALE * exact("STDDEV", base[1]) if more else 0
    return times / SCALE * exact(*base) + plus + beyond


def expected(operator: Operator, value: Sided, base: Sided, numbers: tuple[int, ...]) -> bool:
    """By a thousand digits: what differs at all differs far above the last of them."""
    with localcontext(prec=1000, Emax=10**6, Emin=-(10**6)):
        difference = exact(*value) - limit(base, numbers)
        order = 0 if abs(difference) < Decimal(10) ** -800 else (1 if difference > 0 else -1)
    return satisfied_by(operator)[1 + order]


@settings(deadline=None)
@given(VALUES, LIMITED, st.sampled_from(OPERATORS))
def test_any_numbers(
    value: Sided, limited: tuple[Function, Window, tuple[int, ...]], operator: Operator
) -> None:
    function, base, numbers = limited
    assert holds(operator, value, (function, base), numbers) == expected(
        operator, value, (function, base), numbers
    )


@settings(deadline=None)
@given(
    st.lists(SMALL, min_size=2, max_size=4).map(window),
    st.lists(SMALL, min_size=2, max_size=4).map(window),
    st.sampled_from(["SUM", "AVG", "STDDEV"]),
    st.tuples(SMALL, SMALL, SMALL),
)
def test_small_numbers_that_often_are_equal(
    one: Window, other: Window, function: Function, numbers: tuple[int, ...]
) -> None:
    scaled = numbers[0] * SCALE, numbers[1], numbers[2] * SCALE
    value: Sided = (function, one)
    limits: list[tuple[Sided, tuple[int, ...]]] = [(("AVG", other), scaled), (("STDDEV", other), scaled[:2])]
    for base, said in limits:
        assert holds("=", value, base, said) == expected("=", value, base, said)
        assert holds("<", value, base, said) == expected("<", value, base, said)


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("function", ["SUM", "AVG", "STDDEV"])
@pytest.mark.parametrize("sign", [1, -1])
def test_as_many_of_the_largest_as_counts_reach(operator: Operator, function: Function, sign: int) -> None:
    """The greatest counts, sums and squares that words have room for, and the greatest factors."""
    apart = MOST_ROWS, sign * MOST_ROWS, MOST_ROWS * LARGEST**2
    alike = MOST_ROWS, sign * MOST_ROWS * LARGEST, MOST_ROWS * LARGEST**2
    for value in (apart, alike):
        for numbers in ((LARGEST, LARGEST, LARGEST), (-LARGEST, LARGEST, -LARGEST), (0, -LARGEST, LARGEST)):
            limits: list[tuple[Sided, tuple[int, ...]]] = [
                (("AVG", apart), numbers), (("AVG", alike), numbers), (("STDDEV", apart), numbers[1:]),
            ]  # fmt: skip
            for base, said in limits:
                sides: tuple[Sided, Sided] = (function, value), base
                assert holds(operator, *sides, said) == expected(operator, *sides, said)


def test_two_roots_are_equal_to_the_last_digit_or_not() -> None:
    """√8 = 2 √2, √18 = √8 + √2, and what lies beside them by a millionth of a millionth."""
    two, eight = window([-1, 1]), window([-2, 2])
    assert holds("=", ("STDDEV", eight), ("STDDEV", two), (2 * SCALE, 0))
    assert holds("=", ("STDDEV", window([-3, 3])), ("STDDEV", two), (3 * SCALE, 0))
    assert holds("<", ("STDDEV", eight), ("STDDEV", two), (2 * SCALE + 1, 0))
    assert holds(">", ("STDDEV", eight), ("STDDEV", two), (2 * SCALE - 1, 0))
    assert holds("<", ("STDDEV", eight), ("STDDEV", two), (2 * SCALE, 1))
    # the deviation of 0, 0, 3 and 3 is √3, that of 1, 2, 3 is 1
    whole = window([1, 2, 3])
    assert holds("=", ("STDDEV", whole), ("AVG", whole), (SCALE, -2, SCALE))
    assert holds("=", ("SUM", (1, 5, 25)), ("AVG", whole), (SCALE, 0, 3 * SCALE))
    assert holds("=", ("SUM", (1, -1, 1)), ("AVG", whole), (SCALE, 0, -3 * SCALE))


@pytest.mark.parametrize("function", ["AVG", "STDDEV"])
@given(
    window=WINDOWS | st.lists(SMALL, min_size=2, max_size=4).map(window),
    numbers=st.tuples(NUMBERS, NUMBERS, NUMBERS),
)
def test_reported_half_even(function: Function, window: Window, numbers: tuple[int, ...]) -> None:
    said = numbers if function == "AVG" else numbers[:2]
    with localcontext(prec=1000, Emax=10**6, Emin=-(10**6)):
        # what vanishes in the last digits is nothing: a third and two thirds are one
        settled = limit((function, window), said).quantize(Decimal(10) ** -800)
        told = int(settled.quantize(Decimal(1), "ROUND_HALF_EVEN"))
    assert limit_in_deviations(function, window, *said) == told


def test_halves_go_to_the_even_one() -> None:
    """One deviation of 1, 2 and 3 millionths is 1, so half of it is a half; that of 0 and 1 is below √½."""
    whole = window([1, 2, 3])
    half = SCALE // 2
    told = [limit_in_deviations("AVG", whole, 0, plus, half) for plus in (0, 1, 2, -1)]
    assert told == [0, 2, 2, 0]
    assert [limit_in_deviations("STDDEV", whole, half, plus) for plus in (0, 1)] == [0, 2]
    assert limit_in_deviations("STDDEV", window([0, 1]), SCALE, 0) == deviation(*window([0, 1])) == 1
    assert Fraction(limit_in_deviations("AVG", whole, SCALE, 0, -SCALE)) == 1
