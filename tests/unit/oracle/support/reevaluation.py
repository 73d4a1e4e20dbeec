"""Definitions, histories and alerts for the cases of re-evaluation."""

from __future__ import annotations

from typing import Any

from tests.oracle import Outcome, Record
from tests.oracle.builders.drafts import Draft
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.oracle.values.model import Json, MicroBatch
from tests.unit.oracle.support.agreement import judge

T = 1_700_000_000_000
MINUTE = 60_000
CASH: Json = {"field": "paymentType", "operator": "=", "value": "CSH"}


def at(offset: int, seconds: float, amount: str = "1", accepted: float | None = None, **more: Json) -> Record:
    """A payment at T + seconds, on record at T + accepted where that is later."""
    later = seconds if accepted is None else accepted
    return payment(
        offset, T + int(1000 * seconds), amount, record_time=T + int(1000 * later), more=dict(more)
    )


def again(function: str, operator: str, limit: str, late: str = "reevaluate", **more: Any) -> Draft:
    """By payee, over a minute."""
    return draft(function, operator, limit, by=("payeeId",), seconds=60, late_events=late, **more)


def judged(what: Draft, *records: Record) -> Outcome:
    return judge([batch(events=[Registry().publish(1, what, 0, 0)], records=records)])


def steps(*parts: bytes | Record | int) -> Outcome:
    """Rule events, ticks and payments, each a micro-batch of its own."""
    batches: list[MicroBatch] = []
    for part in parts:
        if isinstance(part, bytes):
            batches.append(batch(events=[part]))
        else:
            batches.append(batch(ticks=[part]) if isinstance(part, int) else batch(records=[part]))
    return judge(batches)


def told(outcome: Outcome) -> list[tuple[object, object, object]]:
    """Of each alert its transaction, its value, and the late one if it comes from judging again."""
    found: list[tuple[object, object, object]] = []
    for alert in outcome.alerts:
        transaction, late = alert["transaction"], alert["late"]
        assert isinstance(transaction, dict)
        by = late.get("transactionId") if isinstance(late, dict) else None
        found.append((transaction["transactionId"], alert["value"], by))
    return found
