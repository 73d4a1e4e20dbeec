"""Named lists and parameters before their first event."""

from __future__ import annotations

import pytest

from tests.oracle.values.model import Json
from tests.oracle.values.rule_counts import Counts
from tests.unit.oracle.support.named_values import WATCHED, Script, count, rows, total
from tests.unit.oracle.support.timeline import T, pay, play

FAR = T + 10**9


@pytest.mark.parametrize("operator", ["=", "!=", ">=", "<=", ">", "<"])
def test_a_limit_without_a_value_does_not_hold(operator: str) -> None:
    script = Script()
    outcome = play(script.rule(total(operator)), script.trace(1, FAR, 0), pay(1, 0), pay(2, 1, "-1"))
    assert outcome.alerts == []
    told = [(t["value"], t["limit"], t["limitOperatorType"], t["holds"]) for t in outcome.traces]
    assert told == [("1", None, operator, False), ("0", None, operator, False)]
    assert outcome.counts == {1: Counts(evaluations=2)}


@pytest.mark.parametrize("operator", ["=", "!=", ">=", "<=", ">", "<"])
def test_a_comparison_with_a_parameter_without_a_value_is_false_and_its_not_true(operator: str) -> None:
    only: Json = {"field": "paymentAmount", "operator": operator, "value": {"parameter": "large"}}
    script = Script()
    outcome = play(script.rule(count(only=only)), script.rule(count(only={"not": only}), 2), pay(1, 0))
    assert [alert["ruleId"] for alert in outcome.alerts] == [2]


def test_a_list_that_nobody_made_is_empty() -> None:
    script = Script()
    outcome = play(script.rule(count(only=WATCHED)), script.rule(count(only={"not": WATCHED}), 2), pay(1, 0))
    assert [alert["ruleId"] for alert in outcome.alerts] == [2]


def test_what_came_before_its_first_event_stays_without_it() -> None:
    script = Script()
    outcome = play(pay(1, 0, "9"), script.most("1"), script.rule(total()), pay(2, 1, "9"))
    assert rows(outcome, "value", "limit") == [("t2", "18", "1")]
