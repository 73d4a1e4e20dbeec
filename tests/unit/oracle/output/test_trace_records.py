"""Trace records: their members, their order, and how two lists of them are compared."""

from __future__ import annotations

from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.oracle.output.traces import comparable
from tests.oracle.values.model import Json
from tests.unit.oracle.support.agreement import judge
from tests.unit.oracle.support.traces import FAR, MINUTE, T, count, pay, rows, with_trace


def test_a_record_whole() -> None:
    registry = Registry()
    what = draft("SUM", ">", "1000.5", by=("beneficiaryId", "payeeId"), seconds=1200)
    events = [registry.publish(7, what, 0, 0), registry.trace(7, FAR, 0)]
    records = [
        payment(5, T, "1000.50", partition=1),
        payment(8, T + 1, "0.010", record_time=T + 3, partition=1),
    ]
    outcome = judge([batch(events=events, records=records)])
    second: dict[str, Json] = {
        "ruleId": 7,
        "version": 1,
        "transactionId": "t8",
        "eventTime": T + 1,
        "recordTime": T + 3,
        "partition": 1,
        "offset": 8,
        "group": {"beneficiaryId": "12", "payeeId": "25"},
        "windowStart": T + 1 - 20 * MINUTE,
        "windowEnd": T + 1,
        "value": "1000.51",
        "contributingCount": 2,
        "limit": "1000.5",
        "limitOperatorType": ">",
        "holds": True,
        "alerted": True,
        "late": False,
    }
    changes: dict[str, Json] = {
        "transactionId": "t5",
        "eventTime": T,
        "recordTime": T,
        "offset": 5,
        "windowStart": T - 20 * MINUTE,
        "windowEnd": T,
        "value": "1000.5",
        "contributingCount": 1,
        "holds": False,
        "alerted": False,
    }
    assert outcome.traces == [{**second, **changes}, second]


def test_what_an_alert_says_too_is_the_same() -> None:
    outcome = judge(
        [with_trace(draft("AVG", ">", "1", by=()), *(payment(n, T, str(n)) for n in range(1, 121)))]
    )
    alerts, traces = outcome.alerts, [trace for trace in outcome.traces if trace["alerted"]]
    # More than the hundred contributors that an alert lists.
    assert len(alerts) == len(traces) == 119
    for alert, trace in zip(alerts, traces, strict=True):
        contributors = alert["contributors"]
        assert isinstance(contributors, dict)
        assert trace["contributingCount"] == contributors["count"]
        assert (trace["version"], trace["limitOperatorType"]) == (alert["ruleVersion"], alert["operator"])
        for name in ("ruleId", "group", "value", "limit", "windowStart", "windowEnd", "eventTime"):
            assert trace[name] == alert[name]


def test_holds_is_decided_by_the_exact_value_not_by_the_one_reported() -> None:
    records = [payment(1, T, "0.000001"), payment(2, T, "0.000001"), payment(3, T, "0")]
    judged = rows([with_trace(draft("AVG", ">=", "0.000001", by=()), *records)], "value", "holds")
    assert judged == [("0.000001", True), ("0.000001", True), ("0.000001", False)]


def test_under_crossing_it_holds_without_alerting() -> None:
    records = [pay(1), pay(2, 1), pay(3, 2)]
    assert rows([with_trace(count(2, firing="crossing"), *records)], "holds", "alerted") == [
        (False, False),
        (True, True),
        (True, False),
    ]


def test_after_a_reset_the_window_is_what_the_alert_left() -> None:
    records = [pay(n, n) for n in (1, 2, 3)]
    judged = rows([with_trace(count(2, reset=True), *records)], "value", "contributingCount", "alerted")
    assert judged == [("1", 1, False), ("2", 2, True), ("1", 1, False)]


def test_records_come_in_the_engine_s_order_then_by_rule() -> None:
    registry = Registry()
    events = [registry.publish(rule, count(), 0, 0) for rule in (2, 1)]
    events += [registry.trace(rule, FAR, 0) for rule in (2, 1)]
    records = [payment(1, T + 5, partition=0), payment(2, T + 4, partition=1)]
    assert rows([batch(events=events, records=records)], "transactionId", "ruleId", "partition") == [
        ("t2", 1, 1),
        ("t2", 2, 1),
        ("t1", 1, 0),
        ("t1", 2, 0),
    ]


def test_comparable_forgets_when_and_how_often_but_not_what() -> None:
    outcome = judge([with_trace(count(), pay(1), pay(2))])
    one, two = outcome.traces
    again: list[dict[str, Json]] = [{**two, "judgedAt": 5}, {**one, "judgedAt": 3}, {**two, "judgedAt": 9}]
    assert comparable(again) == comparable([one, two])
    assert len(comparable([*again, {**one, "value": "7"}])) == 3
