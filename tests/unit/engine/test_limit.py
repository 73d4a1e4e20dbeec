"""Limits against exact fractions; averages rounded half-even."""

from __future__ import annotations

import operator
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripline_contracts.rule_definition import Operator
from tripline_engine.domain.int128 import split
from tripline_engine.domain.limit import Limit, average
from tripline_engine.domain.rows import Amounts, Totals

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


def totals_of(count: int, scaled_sum: int) -> Totals:
    low, high = split(scaled_sum)
    return Totals(np.array([count]), np.array([low]), np.array([high]))


@given(st.sampled_from(sorted(OPERATORS)), SCALED | SMALL, SCALED | SMALL, st.integers(1, 1000))
def test_sum_average_and_count(symbol: Operator, limit: int, total: int, count: int) -> None:
    holds, held = OPERATORS[symbol], Limit(symbol, limit)
    totals = totals_of(count, total)
    assert held.sums(totals)[0] == holds(total, limit)
    assert held.averages(totals)[0] == holds(Fraction(total, count), limit)
    assert held.counts(totals)[0] == holds(count * 10**6, limit)


@given(st.sampled_from(sorted(OPERATORS)), SCALED | SMALL, SCALED | SMALL)
def test_a_value_in_a_row(symbol: Operator, limit: int, value: int) -> None:
    low, high = split(value)
    amounts = Amounts(np.array([low]), np.array([high]))
    found = Limit(symbol, limit).values(np.array([0, -1]), amounts)
    assert found.tolist() == [OPERATORS[symbol](value, limit), False]


@pytest.mark.parametrize("symbol", sorted(OPERATORS))
def test_nothing_holds_of_an_empty_window(symbol: Operator) -> None:
    held, nothing = Limit(symbol, 0), totals_of(0, 0)
    found = [held.sums(nothing)[0], held.averages(nothing)[0], held.counts(nothing)[0]]
    assert found == [False, False, False]


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
