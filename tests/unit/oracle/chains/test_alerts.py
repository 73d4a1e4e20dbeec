"""Alerts and traces of chained rules."""

from __future__ import annotations

from tests.oracle.builders.drafts import chained, definition_document
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft
from tests.oracle.values.canonical_json import definition_hash
from tests.oracle.values.model import Json
from tests.unit.oracle.support.agreement import judge
from tests.unit.oracle.support.chains import (
    BOTH,
    CARD,
    CASH,
    MINUTE,
    PAYEE,
    all_of,
    any_of,
    count,
    json_object,
    negate,
    outcome_of,
    total,
    values,
)
from tests.unit.oracle.support.timeline import T, pay, play

SUM_CONDITION: Json = {
    "groupingKeyNames": ["beneficiaryId", "payeeId"],
    "aggregatorFunctionType": "SUM",
    "aggregateFieldName": "paymentAmount",
    "group": {"beneficiaryId": "12", "payeeId": "25"},
    "value": "10.25",
    "operator": ">",
    "limit": "10",
    "windowSeconds": 20,
    "windowStart": T + 10_000,
    "windowEnd": T + 30_000,
    "holds": True,
    "contributors": {
        "count": 1,
        "transactions": [{"transactionId": "t2", "eventTime": T + 30_000, "value": "10.25"}],
        "truncated": False,
    },
}
AVERAGE_CONDITION: Json = {
    "groupingKeyNames": ["payeeId"],
    "aggregatorFunctionType": "AVG",
    "aggregateFieldName": "paymentAmount",
    "group": {"payeeId": "25"},
    "value": None,
    "operator": ">",
    "limit": "5",
    "windowSeconds": 60,
    "windowStart": T - 30_000,
    "windowEnd": T + 30_000,
    "holds": False,
    "contributors": {"count": 0, "transactions": [], "truncated": False},
}


def test_an_alert_whole() -> None:
    what = all_of(
        total("10", by=BOTH, seconds=20, only=CASH),
        negate(draft("AVG", ">", "5", by=PAYEE, seconds=60, only=CARD)),
        condition=None,
    )
    registry = Registry()
    outcome = play(registry.publish(7, what, 0, 0), pay(1, 0, "10.5"), pay(2, 30, "10.25"))
    first, second = outcome.alerts
    assert second == {
        "alertId": second["alertId"],
        "ruleId": 7,
        "ruleVersion": 1,
        "ruleName": "rule 7 as of 1",
        "definitionHash": definition_hash(definition_document(what)),
        "group": {"beneficiaryId": "12", "payeeId": "25"},
        "transaction": {
            "transactionId": "t2",
            "eventTime": T + 30_000,
            "payeeId": "25",
            "beneficiaryId": "12",
            "paymentAmount": "10.25",
            "paymentType": "CSH",
            "ingestionTimestamp": None,
        },
        "partial": False,
        "value": None,
        "operator": None,
        "limit": None,
        "windowStart": T - 30_000,
        "windowEnd": T + 30_000,
        "contributors": None,
        "conditions": [SUM_CONDITION, AVERAGE_CONDITION],
        "late": None,
        "warm": False,
        "mode": "live",
        "eventTime": T + 30_000,
        "ingestedAt": T + 30_000,
    }
    assert first["alertId"] != second["alertId"]


def test_a_plain_alert_has_no_conditions_and_one_condition_alone_has() -> None:
    registry = Registry()
    events = [registry.publish(1, count(), 0, 0), registry.publish(2, chained(count()), 0, 0)]
    outcome = play(*events, registry.trace(1, T + 9, 0), registry.trace(2, T + 9, 0), pay(1, 0))
    assert ["conditions" in alert for alert in outcome.alerts] == [False, True]
    assert ["conditions" in trace for trace in outcome.traces] == [False, True]


def test_a_partial_alert_has_the_fields_of_all_conditions_and_filters() -> None:
    before = pay(1, 0)
    for what, fields in (
        (all_of(count(), count(only=CASH)), {"payeeId", "paymentType"}),
        (all_of(count(), total("0")), {"payeeId", "paymentAmount"}),
        (all_of(count(), count(by=BOTH)), {"payeeId", "beneficiaryId"}),
        (all_of(count(), condition={"not": CARD}), {"payeeId", "paymentType"}),
    ):
        (alert,) = play(before, Registry().publish(1, what, T, 0)).alerts
        assert set(json_object(alert["transaction"])) == {"transactionId", "eventTime", *fields}


def test_a_trace_whole() -> None:
    registry = Registry()
    what = all_of(
        total("10", seconds=20, only=CARD), negate(draft("MAX", ">", "5", by=BOTH, seconds=60, only=CARD))
    )
    what = any_of(what.chain or count(), count(1, only=CASH), firing="crossing")
    events = [registry.publish(7, what, 0, 0), registry.trace(7, T + MINUTE, 0)]
    outcome = judge([batch(events=events, records=[pay(1, 0, "3"), pay(2, 30, "2")])])
    conditions: list[Json] = [
        {"value": "0", "limit": "10", "limitOperatorType": ">", "contributingCount": 0, "holds": False},
        {"value": None, "limit": "5", "limitOperatorType": ">", "contributingCount": 0, "holds": False},
        {"value": "2", "limit": "1", "limitOperatorType": ">=", "contributingCount": 2, "holds": True},
    ]
    assert outcome.traces[1] == {
        "ruleId": 7,
        "version": 1,
        "transactionId": "t2",
        "eventTime": T + 30_000,
        "recordTime": T + 30_000,
        "partition": 0,
        "offset": 2,
        "group": {"beneficiaryId": "12", "payeeId": "25"},
        "windowStart": T - 30_000,
        "windowEnd": T + 30_000,
        "value": None,
        "contributingCount": 0,
        "limit": None,
        "limitOperatorType": None,
        "holds": True,
        "alerted": False,
        "late": False,
        "conditions": conditions,
    }
    assert [trace["alerted"] for trace in outcome.traces] == [True, False]


def test_the_conditions_share_the_hundred_contributors_that_are_listed() -> None:
    what = all_of(count(34), count(1, seconds=30), total("0", by=BOTH))
    outcome = outcome_of(what, *(pay(i, i) for i in range(34)))
    (alert,) = outcome.alerts
    contributors_of = [json_object(contributors) for contributors in values(alert, "contributors")]
    listed = [contributors["transactions"] for contributors in contributors_of]
    assert [len(transactions) for transactions in listed if isinstance(transactions, list)] == [33, 31, 33]
    assert [(contributors["count"], contributors["truncated"]) for contributors in contributors_of] == [
        (34, True),
        (31, False),
        (34, True),
    ]
