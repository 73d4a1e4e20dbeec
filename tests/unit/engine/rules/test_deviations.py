"""Standard deviations: decided as exact fractions are, and reported rounded half-even."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripline_contracts.spelling import OPERATORS, Operator
from tripline_engine.domain.memory.int128 import split
from tripline_engine.domain.memory.wide_integers import split3
from tripline_engine.domain.rules.deviations import Squares, Sums, deviation, matches
from tripline_engine.domain.rules.threshold import Threshold, satisfied_by

LARGEST = 10**24 - 1
AMOUNTS = st.sampled_from([0, 1, -1, LARGEST, -LARGEST]) | st.integers(-LARGEST, LARGEST)
LIMITS = st.sampled_from([0, 1, -1, LARGEST, -LARGEST]) | st.integers(-LARGEST, LARGEST)


def holds(operator: Operator, count: int, total: int, squares: int, limit: int | None) -> bool:
    """The engine's answer for one window."""
    sums = Sums(np.array([count]), *(np.array([word]) for word in split(total)))
    words = Squares(*(np.array([word]) for word in split3(squares)))
    return bool(matches(Threshold(operator, limit), sums, words)[0])


def expected(operator: Operator, count: int, total: int, squares: int, limit: int) -> bool:
    """The same by fractions: of two numbers from 0 on the larger has the larger square."""
    variance = Fraction(count * squares - total * total, count * (count - 1))
    order = 1 if limit < 0 else (variance > limit * limit) - (variance < limit * limit)
    return satisfied_by(operator)[1 + order]


@given(st.lists(AMOUNTS, min_size=2, max_size=5), LIMITS, st.sampled_from(list(OPERATORS.values())))
def test_amounts_and_limits_of_any_size(amounts: list[int], limit: int, operator: Operator) -> None:
    window = len(amounts), sum(amounts), sum(amount**2 for amount in amounts)
    assert holds(operator, *window, limit) == expected(operator, *window, limit)
    exact = deviation(*window)
    for near in (exact, exact - 1, exact + 1):
        assert holds(operator, *window, near) == expected(operator, *window, near)


@pytest.mark.parametrize("operator", list(OPERATORS.values()))
@pytest.mark.parametrize("limit", [0, LARGEST, -LARGEST])
def test_as_many_of_the_largest_as_a_history_numbers(operator: Operator, limit: int) -> None:
    count = 2**31 - 1
    alike = count, count * LARGEST, count * LARGEST**2
    assert holds(operator, *alike, limit) == expected(operator, *alike, limit)
    apart = count, -LARGEST, count * LARGEST**2
    assert holds(operator, *apart, limit) == expected(operator, *apart, limit)
    assert holds("=", *alike, 0)


@pytest.mark.parametrize("operator", list(OPERATORS.values()))
def test_of_fewer_than_two_or_without_a_limit_nothing_holds(operator: Operator) -> None:
    for count in (0, 1):
        assert not holds(operator, count, 5 * count, 25 * count, 5)
    assert not holds(operator, 2, 10, 52, None)


@given(st.lists(AMOUNTS | st.integers(-3, 3), min_size=2, max_size=5))
def test_reported_is_the_nearest_millionth(amounts: list[int]) -> None:
    count, total, squares = len(amounts), sum(amounts), sum(amount**2 for amount in amounts)
    with localcontext(prec=120):
        exact = (Decimal(count * squares - total * total) / (count * (count - 1))).sqrt()
        assert deviation(count, total, squares) == int(exact.to_integral_value("ROUND_HALF_EVEN"))


@pytest.mark.parametrize(("k", "reported"), [(1, 2), (3, 4), (5, 8), (7, 10)])
def test_halves_go_to_the_even_one(k: int, reported: int) -> None:
    # √(9 × 18k² / (9 × 8)) = 1.5k
    assert deviation(9, 0, 18 * k**2) == reported
