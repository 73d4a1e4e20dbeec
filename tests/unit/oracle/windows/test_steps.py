"""Groups by amounts in steps, each sentence by a case small enough to do by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.oracle.builders.drafts import chained
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import draft
from tests.oracle.values.schema import AMOUNT
from tests.unit.oracle.support.chains import any_of, count, ids, outcome_of, values
from tests.unit.oracle.support.timeline import pay, play

LARGEST = "9" * 18 + "." + "9" * 6


def stepped(step: str, *more: str, **options: Any) -> Any:
    """So many of about the same amount within a minute."""
    return draft("COUNT", ">=", "2", by=(AMOUNT, *more), seconds=60, step=step, **options)


def test_amounts_of_one_step_are_one_group() -> None:
    records = [
        pay(1, 0, "99.99"),
        pay(2, 1, "100"),
        pay(3, 2, "0"),
        pay(4, 3, "199.999999"),
        pay(5, 4, "200"),
    ]
    outcome = outcome_of(stepped("100"), *records)
    assert ids(outcome) == ["t3", "t4"]
    assert [alert["group"] for alert in outcome.alerts] == [{AMOUNT: "0"}, {AMOUNT: "100"}]


def test_negative_amounts_go_downwards() -> None:
    records = [pay(1, 0, "0"), pay(2, 1, "-0.01"), pay(3, 2, "-100"), pay(4, 3, "-100.01"), pay(5, 4, "-0.5")]
    outcome = outcome_of(stepped("100"), *records)
    assert ids(outcome) == ["t3", "t5"]
    assert [alert["group"] for alert in outcome.alerts] == [{AMOUNT: "-100"}] * 2


@pytest.mark.parametrize(
    ("step", "one", "other", "group"),
    [
        ("0.000001", "0.000001", "0.000001", "0.000001"),
        ("7.3", "7.29", "0", "0"),
        (LARGEST, "-" + LARGEST, "-1", "-" + LARGEST),
        ("9" * 18, "-" + LARGEST, "-" + LARGEST, "-1999999999999999998"),
        ("18446744073709.551616", "18446744073709.551616", "36893488147419.103231", "18446744073709.551616"),
    ],
)
def test_any_step_is_exact(step: str, one: str, other: str, group: str) -> None:
    (alert,) = outcome_of(stepped(step), pay(1, 0, one), pay(2, 1, other)).alerts
    assert alert["group"] == {AMOUNT: group}


def test_steps_go_with_other_fields_and_apart_from_other_steps() -> None:
    registry = Registry()
    outcome = play(
        registry.publish(1, stepped("100", "payeeId"), 0, 0),
        registry.publish(2, stepped("1000", "payeeId"), 0, 0),
        registry.publish(3, draft("COUNT", ">=", "2", by=(AMOUNT, "payeeId"), seconds=60), 0, 0),
        pay(1, 0, "150"),
        pay(2, 1, "250"),
        pay(3, 2, "150.0"),
        pay(4, 3, "150", payeeId=7),
    )
    fired = [(alert["ruleId"], alert["transaction"]["transactionId"]) for alert in outcome.alerts]  # type: ignore[index, call-overload]
    assert sorted(fired) == [(1, "t3"), (2, "t2"), (2, "t3"), (3, "t3")]


def test_steps_go_with_every_option() -> None:
    records = [pay(1, 0, "5"), pay(2, 1, "7"), pay(3, 2, "9"), pay(4, 100, "3"), pay(5, 101, "4")]
    late = pay(6, 50, "8", accepted=102)
    alerted = {
        "every": (stepped("10"), ["t2", "t3", "t5", "t6"]),
        "crossing": (stepped("10", firing="crossing"), ["t2", "t5"]),
        "cooldown": (stepped("10", cooldown=200), ["t2"]),
        "reset": (stepped("10", reset=True), ["t2", "t5"]),
        "buckets": (stepped("10", bucket=10), ["t2", "t3", "t5", "t6"]),
        "stored": (stepped("10", late_events="store"), ["t2", "t3", "t5"]),
    }
    seen = {name: ids(outcome_of(what, *records, late)) for name, (what, _) in alerted.items()}
    assert seen == {name: expected for name, (_, expected) in alerted.items()}


def test_the_alert_of_a_plain_rule_says_the_step() -> None:
    records = [pay(1, 0, "5"), pay(2, 1, "7.25")]
    (alert,) = outcome_of(stepped("10", "payeeId"), *records).alerts
    assert alert["groupingKeyNames"] == ["payeeId", {"field": AMOUNT, "step": "10"}]
    (alert,) = outcome_of(draft("COUNT", ">=", "2", by=("payeeId",), seconds=60), *records).alerts
    assert "groupingKeyNames" not in alert


def test_a_measure_behind_a_limit_may_be_in_steps() -> None:
    # one more of about this amount than half of all that he paid in the hour before the last minute
    usual = replace(count(0, by=("payeeId",)), window=3600, offset=60)
    alike = replace(stepped("10", "payeeId"), operator=">", behind=usual, times="0.5", plus="1")
    records = [pay(1, 0, "300"), pay(2, 1, "3"), pay(3, 100, "5"), pay(4, 101, "15"), pay(5, 102, "9.99")]
    assert ids(outcome_of(chained(alike), *records, pay(6, 103, "0"))) == ["t6"]
    # two or more of one step within a minute, and none of that step in the hour before it
    fresh = replace(usual, grouping=(AMOUNT, "payeeId"), step="10")
    alike = replace(stepped("10", "payeeId"), operator=">", behind=fresh, times="1", plus="1")
    (alert,) = outcome_of(chained(alike), *records, pay(6, 103, "12")).alerts
    assert alert["group"] == {AMOUNT: "10", "payeeId": "25"}
    (behind,) = values(alert, "limitMeasure")
    assert isinstance(behind, dict)
    assert behind["groupingKeyNames"] == ["payeeId", {"field": AMOUNT, "step": "10"}]
    assert (behind["group"], behind["value"]) == ({AMOUNT: "10", "payeeId": "25"}, "0")


def test_conditions_may_share_steps_alone() -> None:
    by_step = stepped("10")
    what = any_of(by_step, count(9, by=(AMOUNT, "payeeId"), step="10"))
    (alert,) = outcome_of(what, pay(1, 0, "5"), pay(2, 1, "6", payeeId=7)).alerts
    assert alert["group"] == {AMOUNT: "0", "payeeId": "7"}
    assert values(alert, "group") == [{AMOUNT: "0"}, {AMOUNT: "0", "payeeId": "7"}]
    step = {"field": AMOUNT, "step": "10"}
    assert values(alert, "groupingKeyNames") == [[step], ["payeeId", step]]
    apart = chained(any_of(by_step, count(9, by=(AMOUNT,), step="20")).chain or count())
    assert outcome_of(apart, pay(1, 0), pay(2, 1)).skipped_rule_events == 1
    behind = replace(by_step, behind=count(0, by=(AMOUNT,)), times="1", plus="0")
    assert outcome_of(chained(behind), pay(1, 0), pay(2, 1)).skipped_rule_events == 1
