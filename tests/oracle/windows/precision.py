"""Bounds of the exact value where a window begins with a whole bucket (decision 0038)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tests.oracle.parsers.conditions import Condition
from tests.oracle.parsers.transactions import Transaction
from tests.oracle.windows.aggregates import aggregate
from tests.oracle.windows.bucket_times import bucket_start
from tests.oracle.windows.horizon import Horizon


@dataclass(frozen=True, slots=True)
class Precision:
    """The length of a bucket in ms and the bounds, exact, in millionths; None where there is none."""

    length: int
    at_least: Fraction | None
    at_most: Fraction | None


def precision_of(
    condition: Condition,
    value: Fraction | None,
    window: Sequence[Transaction],
    end: int,
    length: int,
    horizon: Horizon,
) -> Precision:
    """The bounds of a value over a window that ends at `end`; any surplus is in its first bucket."""
    if value is None or condition.function == "AVG":
        return Precision(length, None, None)
    start = end - condition.window
    first = bucket_start(start, length)
    if start == first or (horizon.dropped is not None and start < horizon.dropped):
        return Precision(length, value, value)
    there = [other.amount for other in window if other.event_time < first + length]
    others = [other.amount for other in window if other.event_time >= first + length]
    without = aggregate(condition.function, others) if others else None
    if condition.function == "MIN":
        return Precision(length, value, without)
    if condition.function == "MAX":
        return Precision(length, without, value)
    if condition.function == "COUNT":
        return Precision(length, value - aggregate("COUNT", there), value)
    positive = sum(amount for amount in there if amount > 0)
    negative = sum(amount for amount in there if amount < 0)
    return Precision(length, value - positive, value - negative)
