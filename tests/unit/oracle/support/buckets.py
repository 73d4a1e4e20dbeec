"""Definitions, histories and alerts for the cases of bucketed windows."""

from __future__ import annotations

from typing import Any

from tests.oracle import Outcome, Record
from tests.oracle.builders.drafts import Draft
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import Part, draft, one_by_one, payment
from tests.oracle.parsers.rule_events import Settings
from tests.oracle.values.model import Json
from tests.unit.oracle.support.agreement import judge

# A whole hour, so that every bucket that is used here begins with it.
T = 472_223 * 3_600_000
# What is accepted is at most 20 seconds behind the clock.
SMALL = Settings(allowed_lateness=10_000, max_future_skew=300_000, max_disorder=10_000)
CASH: Json = {"field": "paymentType", "operator": "=", "value": "CSH"}


def ms(seconds: float) -> int:
    return T + round(1000 * seconds)


def at(offset: int, seconds: float, amount: str = "1", accepted: float | None = None, **more: Json) -> Record:
    """A payment at T + seconds, on record at T + accepted where that is later."""
    later = seconds if accepted is None else accepted
    return payment(offset, ms(seconds), amount, record_time=ms(later), more=dict(more))


def by_buckets(
    function: str = "COUNT", limit: str = "1", seconds: int = 60, bucket: int = 10, **more: Any
) -> Draft:
    """By payee, alerting for whatever is at least the limit."""
    return draft(function, ">=", limit, by=("payeeId",), seconds=seconds, bucket=bucket, **more)


def steps(*parts: Part) -> Outcome:
    """Rule events, payments and ticks, in seconds after T."""
    return judge(one_by_one(T, *parts))


def settled(registry: Registry) -> bytes:
    return registry.change_settings(SMALL, 0)


def last(outcome: Outcome) -> tuple[object, object]:
    """Version and value of the last alert."""
    return outcome.alerts[-1]["ruleVersion"], outcome.alerts[-1]["value"]
