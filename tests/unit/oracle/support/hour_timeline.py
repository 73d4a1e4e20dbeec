"""Payments and histories on a timeline from a whole hour on, with which every bucket of the cases begins."""

from __future__ import annotations

from tests.oracle import Outcome, Record
from tests.oracle.builders.shorthand import Part, one_by_one, payment
from tests.oracle.parsers.rule_events import Settings
from tests.oracle.values.model import Json
from tests.unit.oracle.support.agreement import judge

# A whole hour, so that every bucket that is used here begins with it.
T = 472_223 * 3_600_000
# What is accepted is at most 20 seconds behind the clock.
SMALL = Settings(allowed_lateness=10_000, max_future_skew=300_000, max_disorder=10_000)


def ms(seconds: float) -> int:
    return T + round(1000 * seconds)


def pay(
    offset: int, seconds: float, amount: str = "1", accepted: float | None = None, **more: Json
) -> Record:
    """A payment at T + seconds, on record at T + accepted where that is later."""
    later = seconds if accepted is None else accepted
    return payment(offset, ms(seconds), amount, record_time=ms(later), more=dict(more))


def play(*parts: Part) -> Outcome:
    """Rule events, payments and ticks, in seconds after T."""
    return judge(one_by_one(T, *parts))
