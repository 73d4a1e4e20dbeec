"""Buckets shared by versions, rules and conditions (decision 0038)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.oracle.builders.drafts import Branch, Draft, chained
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import Part
from tests.oracle.values.model import Json
from tests.unit.oracle.support.buckets import CASH, by_buckets, narrow_settings, newest
from tests.unit.oracle.support.hour_timeline import ms, pay, play

LONG = by_buckets("SUM", "0", seconds=3600, bucket=60, only=CASH)


@pytest.mark.parametrize(
    ("next_one", "value"),
    [
        (replace(LONG, limit=1), "2"),
        (replace(LONG, operator="!="), "2"),
        (replace(LONG, parameter=None, function="MAX"), "1"),
        (replace(LONG, window=1800), "2"),
        (replace(LONG, window=7200), "2"),
        (replace(LONG, firing="crossing", cooldown=5, late_events="store"), "2"),
    ],
)
def test_another_limit_function_operator_window_or_firing_keeps_them(next_one: Draft, value: str) -> None:
    registry = Registry()
    first = registry.publish(1, LONG, 0, 0)
    outcome = play(
        narrow_settings(registry), first, pay(1, 0), 200, registry.publish(1, next_one, 0, 0), pay(2, 201)
    )
    alert = outcome.alerts[-1]
    contributors: Any = alert["contributors"]
    assert (alert["ruleVersion"], alert["value"], contributors["count"]) == (2, value, 2)


@pytest.mark.parametrize(
    "next_one",
    [
        replace(LONG, bucket=30),
        replace(LONG, condition=None),
        replace(LONG, condition={"not": {"not": CASH}}),
        replace(LONG, grouping=("payeeId", "paymentType")),
        replace(LONG, function="COUNT"),
        replace(LONG, grouping=("beneficiaryId",)),
    ],
)
def test_another_length_filter_grouping_or_field_begins_new_ones(next_one: Draft) -> None:
    registry = Registry()
    first = registry.publish(1, LONG, 0, 0)
    outcome = play(
        narrow_settings(registry), first, pay(1, 0), 200, registry.publish(1, next_one, 0, 0), pay(2, 201)
    )
    # History begins at 120 by then, or at 180 where nothing has needed it before.
    assert newest(outcome) == (2, "1")


def test_rules_share_them() -> None:
    registry = Registry()
    parts: list[Part] = [narrow_settings(registry), registry.publish(1, LONG, 0, 0), pay(1, 0), 200]
    other = registry.publish(2, replace(LONG, function="AVG", window=1800), ms(200), 0)
    gone = registry.move("RuleDeleted", "DELETED", 1, 0)
    # Deleted afterwards the first has handed them on.
    outcome = play(*parts, other, gone, pay(2, 201))
    assert [(alert["ruleId"], contributors(alert)) for alert in outcome.alerts] == [(1, 1), (2, 2)]


def test_of_a_rule_deleted_before_nobody_has_them() -> None:
    registry = Registry()
    parts: list[Part] = [narrow_settings(registry), registry.publish(1, LONG, 0, 0), pay(1, 0), 200]
    gone = registry.move("RuleDeleted", "DELETED", 1, 0)
    outcome = play(*parts, gone, registry.publish(2, LONG, ms(200), 0), pay(2, 201))
    assert [(alert["ruleId"], contributors(alert)) for alert in outcome.alerts] == [(1, 1), (2, 1)]


def test_a_paused_rule_has_them() -> None:
    registry = Registry()
    parts: list[Part] = [narrow_settings(registry), registry.publish(1, LONG, 0, 0), pay(1, 0), 200]
    paused = registry.move("RulePaused", "PAUSED", 1, 0)
    outcome = play(*parts, paused, 300, registry.publish(2, LONG, ms(200), 0), pay(2, 301))
    assert [(alert["ruleId"], contributors(alert)) for alert in outcome.alerts] == [(1, 1), (2, 2)]


@pytest.mark.parametrize(("clock", "value"), [(170, "2"), (170.001, "1")])
def test_a_superseded_version_has_them_until_it_leaves(clock: float, value: str) -> None:
    registry = Registry()
    first, other = registry.publish(1, LONG, 0, 0), registry.publish(1, replace(LONG, bucket=30), ms(150), 0)
    third = registry.publish(1, LONG, ms(150), 0)
    outcome = play(narrow_settings(registry), first, pay(1, 0), 100, other, clock, third, pay(2, 171))
    assert newest(outcome) == (3, value)


def contributors(alert: dict[str, Json]) -> Json:
    of: Any = alert["contributors"]
    count: Json = of["count"]
    return count


def test_a_condition_shares_them_with_a_rule_that_has_it_alone() -> None:
    """What triggers and what contributes is the same, though one of the two is written as conditions."""
    registry = Registry()
    count = by_buckets(seconds=3600, bucket=60)
    parts: list[Part] = [narrow_settings(registry), registry.publish(1, count, 0, 0), pay(1, 0), 200]
    several = chained(Branch("all", (count, replace(count, window=1800, limit=1))))
    outcome = play(*parts, registry.publish(2, replace(several, bucket=60), ms(200), 0), pay(2, 201))
    conditions: Any = outcome.alerts[-1]["conditions"]
    assert [condition["value"] for condition in conditions] == ["2", "2"]


def test_conditions_share_them_only_if_the_same_triggers() -> None:
    """The same condition, beside one that lets other payments trigger the rule."""
    registry = Registry()
    cash, card = (
        by_buckets(seconds=3600, bucket=60, only={"field": "paymentType", "operator": "=", "value": kind})
        for kind in ("CSH", "CRD")
    )
    one, both = (replace(chained(Branch("any", tree)), bucket=60) for tree in ((cash,), (cash, card)))
    turned = replace(chained(Branch("all", (card, cash))), bucket=60)
    for before, after, values in ((both, one, ["1"]), (both, both, ["2", "0"]), (both, turned, ["0", "2"])):
        parts: list[Part] = [narrow_settings(registry), registry.publish(1, before, 0, 0), pay(1, 0), 200]
        changed = replace(after, firing="crossing")
        outcome = play(*parts, registry.publish(1, changed, 0, 0), trace(registry), pay(2, 201))
        conditions: Any = outcome.traces[-1]["conditions"]
        assert [condition["value"] for condition in conditions] == values
        registry = Registry()


def trace(registry: Registry) -> bytes:
    return registry.trace(1, 2**50, 0)
