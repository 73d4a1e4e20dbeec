"""Thresholds against exact fractions; averages rounded half-even."""

from __future__ import annotations

import operator
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripline_contracts.rules.rule_definition import Function, Operator
from tripline_engine.domain.memory.int128 import split
from tripline_engine.domain.rules.threshold import Threshold, average
from tripline_engine.domain.transactions.columns import Amounts

OPERATORS = {
    "=": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
SCALED = st.integers(-(10**24) + 1, 10**24 - 1)
SMALL = st.integers(-3, 3)


def satisfies(threshold: Threshold, function: Function, count: int, scaled: int) -> bool:
    low, high = split(scaled)
    return bool(threshold.matches(function, np.array([count]), np.array([low]), np.array([high]))[0])


@given(st.sampled_from(sorted(OPERATORS)), SCALED | SMALL, SCALED | SMALL, st.integers(1, 1000))
def test_sum_average_and_count(symbol: Operator, limit: int, total: int, count: int) -> None:
    compare, threshold = OPERATORS[symbol], Threshold(symbol, limit)
    assert satisfies(threshold, "SUM", count, total) == compare(total, limit)
    assert satisfies(threshold, "AVG", count, total) == compare(Fraction(total, count), limit)
    assert satisfies(threshold, "COUNT", count, total) == compare(count * 10**6, limit)
    assert satisfies(threshold, "MAX", count, total) == compare(total, limit)
    assert satisfies(threshold, "COUNT_DISTINCT", count, total) == compare(total, limit)


@given(st.sampled_from(sorted(OPERATORS)), SCALED | SMALL, SCALED | SMALL)
def test_a_value_in_a_row(symbol: Operator, limit: int, value: int) -> None:
    low, high = split(value)
    amounts = Amounts(np.array([low]), np.array([high]))
    matches = Threshold(symbol, limit).matching_rows(np.array([0, -1]), amounts)
    assert matches.tolist() == [OPERATORS[symbol](value, limit), False]


@pytest.mark.parametrize("symbol", sorted(OPERATORS))
def test_sums_and_counts_of_an_empty_window_are_0(symbol: Operator) -> None:
    threshold = Threshold(symbol, 0)
    means: tuple[Function, ...] = ("AVG", "MIN", "MAX")
    assert not any(satisfies(threshold, function, 0, 0) for function in means)
    numbers: tuple[Function, ...] = ("SUM", "COUNT", "COUNT_DISTINCT")
    assert all(satisfies(threshold, function, 0, 0) == OPERATORS[symbol](0, 0) for function in numbers)


@pytest.mark.parametrize("symbol", sorted(OPERATORS))
def test_nothing_satisfies_a_parameter_without_a_value(symbol: Operator) -> None:
    assert not satisfies(Threshold(symbol, None), "COUNT_DISTINCT", 3, 3)
    assert Threshold(symbol, None).text is None


@given(SCALED, st.integers(1, 10**6))
def test_an_average_is_rounded_half_even_to_six_places(total: int, count: int) -> None:
    with_spare_digits = Decimal(total) / Decimal(count) if total % count == 0 else None
    exact = Fraction(total, count)
    rounded = average(total, count)
    assert abs(exact - rounded) <= Fraction(1, 2)
    if with_spare_digits is not None:
        assert rounded == with_spare_digits


@pytest.mark.parametrize(
    ("total", "count", "expected"), [(1, 2, 0), (3, 2, 2), (5, 2, 2), (-1, 2, 0), (-3, 2, -2), (7, 3, 2)]
)
def test_ties_go_to_the_even_neighbour(total: int, count: int, expected: int) -> None:
    assert average(total, count) == expected
    assert expected == int((Decimal(total) / count).quantize(Decimal(1), ROUND_HALF_EVEN))
