"""Alerts as the projector reads them, new ones without end."""

from __future__ import annotations

import functools
import itertools
import json
import uuid
from collections.abc import Iterator
from typing import Any, Final

from alert_api.adapters.alert_schema import alert_validator
from alert_api.domain.cases.policy import CasePolicy
from alert_api.service.records import ReceivedAlert, Record, Validate, read_record
from bench.harness.stack import BenchFailed

END: Final = 1_763_690_000_000
"""The newest one's event time, ms since the epoch."""
MONTH_MS: Final = 30 * 24 * 3_600_000
RULES: Final = 50
PAYEES: Final = 20_000
POLICY: Final = CasePolicy(subject_fields=("payeeId",))


@functools.cache
def _is_alert() -> Validate:
    return alert_validator()


def received(number: int, rule: int, group: int, event_time: int, contributors: int) -> ReceivedAlert:
    """One of version 1 of a rule, by payer, as the projector reads it."""
    transactions = [
        {"transactionId": f"t-{number}-{index}", "eventTime": event_time, "value": "50.5"}
        for index in range(contributors)
    ]
    made: dict[str, Any] = {
        "alertId": str(uuid.UUID(int=number)),
        "ruleId": rule,
        "ruleVersion": 1,
        "ruleName": "Large sums",
        "definitionHash": "ab" * 32,
        "group": {"payeeId": str(group)},
        "transaction": {
            "transactionId": f"t-{number}-0",
            "eventTime": event_time,
            "payeeId": str(group),
            "beneficiaryId": None,
            "paymentAmount": "50.5",
            "paymentType": "CSH",
            "ingestionTimestamp": None,
        },
        "partial": False,
        "value": str(1001 + number % 997),
        "operator": ">",
        "limit": "1000",
        "windowStart": event_time - 60_000,
        "windowEnd": event_time,
        "contributors": {"count": contributors, "transactions": transactions, "truncated": False},
        "late": None,
        "warm": True,
        "mode": "live",
        "eventTime": event_time,
        "ingestedAt": event_time + 5,
        "detectedAt": event_time + 80,
    }
    record = Record("alerts.v1", 0, number, None, json.dumps(made).encode())
    read = read_record(record, _is_alert(), "transactionId")
    if not isinstance(read, ReceivedAlert):
        raise BenchFailed(f"an alert of this bench is none: {read.detail}")
    return read


def fresh(first: int) -> Iterator[ReceivedAlert]:
    """New ones without end, from that event time on, one a millisecond: their ids are made of it.

    One in ten is of a payee that has alerts, and reopens a case that is resolved; the others are of others. Else no
    case would be resolved any more after ten seconds, and nothing be left to list by outcome.
    """
    for number in itertools.count(first):
        payee = number % PAYEES
        yield received(number, 1 + number % RULES, payee if payee % 10 == 0 else PAYEES + payee, number, 3)
