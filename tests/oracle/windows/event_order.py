"""Values that depend on which transaction of a window comes before which (semantics 3)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tests.oracle.parsers.measures import CHANGED, SINCE_FIRST, SPEED, Measure
from tests.oracle.parsers.transactions import Transaction
from tests.oracle.values.decimals import SCALE
from tests.oracle.values.positions import speed_between


def value_of_order(part: Measure, event: Transaction, window: Sequence[Transaction]) -> Fraction | None:
    """The value in millionths; None if there is nothing to compare the event with.

    :param window: in order of acceptance; the event itself is in it, or not, if a filter leaves it out
    """
    if part.function == SINCE_FIRST:
        return _seconds(min(other.event_time for other in window), event.event_time) if window else None
    previous = _previous(event, window)
    if previous is None:
        return None
    if part.function == CHANGED:
        assert part.field is not None
        return Fraction(SCALE if event.keys[part.field] != previous.keys[part.field] else 0)
    if part.function == SPEED:
        assert part.field is not None
        here, there = event.keys[part.field], previous.keys[part.field]
        if not isinstance(here, str) or not isinstance(there, str):
            return None
        return speed_between(there, here, event.event_time - previous.event_time)
    return _seconds(previous.event_time, event.event_time)


def _previous(event: Transaction, window: Sequence[Transaction]) -> Transaction | None:
    """The newest other one; of equal times the last accepted."""
    newest = None
    for other in window:
        if other is not event and (newest is None or other.event_time >= newest.event_time):
            newest = other
    return newest


def _seconds(start: int, end: int) -> Fraction:
    return Fraction((end - start) * SCALE, 1000)
