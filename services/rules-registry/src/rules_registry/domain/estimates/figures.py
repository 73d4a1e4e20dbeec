"""Figures of a sample, each with the range in which a day's own figure lies in 95 of 100 cases.

Counts. Clusters (groups; of a rule without groups, hours) are Poisson events, each with as many alerts as it has: a sum
of weighted Poisson counts. Its limits are those of Dobson, Kuulasmaa, Eberle and Scherer (Statistics in Medicine 10,
1991), over Byar's limits of the number of clusters, as public health rates have them. The variance is that of the rate,
which the sample leaves open, and that of one day, which chance does: a range for the rate alone would be narrower than
days are.

Totals. What is not made of events is a mean over slices, samples of their own: Student's t over their spread, the
method of random groups (Wolter, Introduction to Variance Estimation).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist, variance
from typing import Any, Final, Self

SURE: Final = 0.95
_Z: Final = NormalDist().inv_cdf((1 + SURE) / 2)
_T_OF_EIGHT: Final = 2.364624
"""The quantile of Student's t for seven degrees of freedom."""
SLICES: Final = 8


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure and its range; without one where there is nothing to compare."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Clusters:
    """What a sample has of something that comes in clusters.

    :ivar clusters: that have any
    :ivar squares: the sum of the squares of what the clusters have
    :ivar day_squares: the sum of the squares of what they have on single days
    """

    clusters: int
    sum: int
    squares: int
    day_squares: int

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Self:
        """Of what the engine tells."""
        return cls(told["clusters"], told["sum"], told["squares"], told["daySquares"])


def a_day(seen: Clusters, days: float, parts: int) -> Figure:
    """What a day will have of it, where one of so many parts was seen, over so many days."""
    weight, of_a_day = parts / days, max(1.0, 1 / days)
    if not seen.clusters:
        return Figure(0.0, 0.0, _byar(0)[1] * sqrt(weight**2 + weight * of_a_day))
    value = seen.sum * weight
    spread = sqrt((weight**2 * seen.squares + weight * of_a_day * seen.day_squares) / seen.clusters)
    low, high = _byar(seen.clusters)
    return Figure(
        value, max(0.0, value + spread * (low - seen.clusters)), value + spread * (high - seen.clusters)
    )


def total(slices: Sequence[float], parts: int) -> Figure:
    """The total of all parts, of which these are the slices of one; a range where there are as many as should be."""
    value = parts * sum(slices)
    if len(slices) != SLICES:
        return Figure(value)
    half = parts * _T_OF_EIGHT * sqrt(SLICES * variance(slices))
    return Figure(value, max(0.0, value - half), value + half)


def plus(figure: Figure, fixed: float) -> Figure:
    """With something that is sure."""
    low, high = (None if limit is None else limit + fixed for limit in (figure.low, figure.high))
    return Figure(figure.value + fixed, low, high)


def at_most(figure: Figure, most: float) -> Figure:
    """With what cannot be more."""
    high = None if figure.high is None else min(figure.high, most)
    return Figure(min(figure.value, most), figure.low, high)


def divided(figure: Figure, by: float) -> Figure:
    """All of it by a number above 0."""
    low, high = (None if limit is None else limit / by for limit in (figure.low, figure.high))
    return Figure(figure.value / by, low, high)


def _byar(count: int) -> tuple[float, float]:
    """Limits of a Poisson count."""
    low = 0.0 if not count else count * (1 - 1 / (9 * count) - _Z / (3 * sqrt(count))) ** 3
    more = count + 1
    return max(0.0, low), more * (1 - 1 / (9 * more) + _Z / (3 * sqrt(more))) ** 3
