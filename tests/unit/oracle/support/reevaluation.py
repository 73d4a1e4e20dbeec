"""Definitions, histories and alerts for the cases of re-evaluation."""

from __future__ import annotations

from typing import Any

from tests.oracle import Outcome, Record
from tests.oracle.builders.drafts import Draft
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft
from tests.oracle.values.model import Json
from tests.unit.oracle.support.agreement import judge

MINUTE = 60_000
CASH: Json = {"field": "paymentType", "operator": "=", "value": "CSH"}


def rejudge(function: str, operator: str, limit: str, late: str = "reevaluate", **more: Any) -> Draft:
    """By payee, over a minute."""
    return draft(function, operator, limit, by=("payeeId",), seconds=60, late_events=late, **more)


def outcome_of(what: Draft, *records: Record) -> Outcome:
    return judge([batch(events=[Registry().publish(1, what, 0, 0)], records=records)])


def rows(outcome: Outcome) -> list[tuple[object, object, object]]:
    """Of each alert its transaction, its value, and the late one if it comes from judging again."""
    alert_rows: list[tuple[object, object, object]] = []
    for alert in outcome.alerts:
        transaction, late = alert["transaction"], alert["late"]
        assert isinstance(transaction, dict)
        by = late.get("transactionId") if isinstance(late, dict) else None
        alert_rows.append((transaction["transactionId"], alert["value"], by))
    return alert_rows
