"""Alerts of re-evaluation."""

from __future__ import annotations

import pytest

from tests.oracle.builders.registry import Registry
from tests.unit.oracle.support.reevaluation import CASH, outcome_of, rejudge, rows
from tests.unit.oracle.support.timeline import T, pay, play


def test_the_alert_whole() -> None:
    what = rejudge("SUM", ">", "1000", only=CASH)
    newer = pay(1, 10, "600", ingestionTimestamp=T + 3)
    outcome = outcome_of(what, newer, pay(2, 5, "500.50", accepted=12))
    (alert,) = outcome.alerts
    del alert["alertId"], alert["definitionHash"]
    assert alert == {
        "ruleId": 1,
        "ruleVersion": 1,
        "ruleName": "rule 1 as of 1",
        "group": {"payeeId": "25"},
        "transaction": {
            "transactionId": "t1",
            "eventTime": T + 10_000,
            "payeeId": "25",
            "paymentAmount": "600",
            "paymentType": "CSH",
        },
        "partial": True,
        "value": "1100.5",
        "operator": ">",
        "limit": "1000",
        "windowStart": T - 50_000,
        "windowEnd": T + 10_000,
        "contributors": {
            "count": 2,
            "transactions": [
                {"transactionId": "t1", "eventTime": T + 10_000, "value": "600"},
                {"transactionId": "t2", "eventTime": T + 5000, "value": "500.5"},
            ],
            "truncated": False,
        },
        "late": {"transactionId": "t2", "eventTime": T + 5000},
        "warm": False,
        "mode": "live",
        "eventTime": T + 10_000,
        "ingestedAt": None,
    }


def test_its_id_is_that_of_the_transaction_s_alert() -> None:
    (alert,) = outcome_of(rejudge("COUNT", ">", "1"), pay(1, 10), pay(2, 5, accepted=10)).alerts
    in_order = outcome_of(rejudge("COUNT", ">", "1"), pay(2, 5), pay(1, 10)).alerts
    assert [alert["alertId"]] == [other["alertId"] for other in in_order]


def test_contributors_of_equal_times_the_last_accepted_first() -> None:
    records = [pay(1, 10), pay(2, 10), pay(3, 5, accepted=10), pay(4, 5, accepted=10)]
    first = outcome_of(rejudge("COUNT", ">=", "4"), *records).alerts[0]
    contributors = first["contributors"]
    assert isinstance(contributors, dict)
    ids = [one["transactionId"] for one in contributors["transactions"]]  # type: ignore[index,union-attr,call-overload]
    assert ids == ["t2", "t1", "t4", "t3"]


@pytest.mark.parametrize(("seconds", "warm"), [(69.999, False), (70, True)])
def test_warm_as_of_now(seconds: float, warm: bool) -> None:
    # Judged first before any tick, again when the first tick has said 10.
    rule = Registry().publish(1, rejudge("COUNT", ">", "1"), 0, 0)
    outcome = play(rule, pay(1, seconds), T + 10_000, pay(2, 60, accepted=70))
    assert [(alert["eventTime"], alert["warm"]) for alert in outcome.alerts] == [
        (T + int(1000 * seconds), warm)
    ]


def test_it_follows_the_alert_of_the_late_one_by_the_same_rule() -> None:
    registry = Registry()
    events = [registry.publish(rule, rejudge("MAX", ">", "10"), 0, 0) for rule in (1, 2)]
    outcome = play(*events, pay(1, 10), pay(2, 5, "99", accepted=10))
    assert [(alert["ruleId"], one) for alert, one in zip(outcome.alerts, rows(outcome), strict=True)] == [
        (1, ("t2", "99", None)),
        (1, ("t1", "99", "t2")),
        (2, ("t2", "99", None)),
        (2, ("t1", "99", "t2")),
    ]
    assert [alert["late"] for alert in outcome.alerts[:2]] == [
        {"newestEventTime": T + 10_000},
        {"transactionId": "t2", "eventTime": T + 5000},
    ]
