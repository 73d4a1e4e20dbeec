"""Evaluations that are traced, and judgements that are none."""

from __future__ import annotations

import pytest

from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch
from tests.oracle.values.model import Json
from tests.unit.oracle.support.agreement import judge
from tests.unit.oracle.support.traces import FAR, MINUTE, T, count, pay, rows, with_trace

CASH: Json = {"field": "paymentType", "operator": "=", "value": "CSH"}


def test_a_catch_up_is_not_traced() -> None:
    registry = Registry()
    trace_first = [registry.publish(1, count(), T + 10, 0), registry.trace(1, FAR, 0)]
    batches = [
        batch(events=trace_first, records=[pay(1)]),
        batch(events=[registry.publish(1, count(), 0, 0)], records=[pay(2)]),
    ]
    outcome = judge(batches)
    assert [alert["partial"] for alert in outcome.alerts] == [True, False]
    assert [(trace["transactionId"], trace["value"]) for trace in outcome.traces] == [("t2", "2")]


def test_only_transactions_that_pass_have_a_group_and_are_no_duplicates() -> None:
    records = [pay(1), pay(2, paymentType="CRD"), pay(3, payeeId=None), pay(1, 1), pay(4)]
    outcome = judge([with_trace(count(only=CASH), *records)])
    assert [trace["transactionId"] for trace in outcome.traces] == ["t1", "t4"]
    assert outcome.counts[1].evaluations == 2


def test_a_rejected_transaction_is_not_traced() -> None:
    assert rows([with_trace(count(), pay(1, -11 * MINUTE, accepted=0), pay(2))], "transactionId") == ["t2"]


@pytest.mark.parametrize(
    ("policy", "firing", "expected"),
    [
        ("evaluate", "every", [("t1", False, True), ("t2", True, True), ("t3", False, True)]),
        ("evaluate", "crossing", [("t1", False, True), ("t2", True, False), ("t3", False, False)]),
        ("store", "every", [("t1", False, True), ("t3", False, True)]),
        ("store", "crossing", [("t1", False, True), ("t3", False, False)]),
    ],
)
def test_a_late_one_is_traced_unless_it_is_only_stored(
    policy: str, firing: str, expected: list[object]
) -> None:
    what = count(late_events=policy, firing=firing)
    records = [pay(1, 10), pay(2, 9, accepted=10), pay(3, 10)]
    assert rows([with_trace(what, *records)], "transactionId", "late", "alerted") == expected


def test_late_is_for_the_group_alone() -> None:
    records = [pay(1, 10), pay(2, 9, accepted=10, payeeId=7), pay(3, 9, accepted=10)]
    assert rows([with_trace(count(), *records)], "transactionId", "late") == [
        ("t1", False),
        ("t2", False),
        ("t3", True),
    ]
