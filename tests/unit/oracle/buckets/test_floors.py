"""Floors of buckets: how far back a bucketed window sees (decision 0038)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.oracle.builders.drafts import Branch, chained
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import Part
from tests.oracle.parsers.rule_events import Settings
from tests.unit.oracle.support.buckets import by_buckets, narrow_settings, newest
from tests.unit.oracle.support.hour_timeline import ms, pay, play


@pytest.mark.parametrize(("clock", "value"), [(100, "3"), (100.001, "1")])
def test_their_floor_rises_by_whole_buckets(clock: float, value: str) -> None:
    registry = Registry()
    first, wider = (
        registry.publish(1, by_buckets(), 0, 0),
        registry.publish(1, by_buckets(seconds=3600), 0, 0),
    )
    outcome = play(
        narrow_settings(registry), first, pay(1, 5), pay(2, 10), pay(3, 15), clock, wider, pay(4, 101)
    )
    # 100 less 20, less 60, less 10: from 10 on. A millisecond later from the next bucket on.
    assert newest(outcome) == (2, value)


def test_their_floor_goes_by_the_widest_that_has_them() -> None:
    registry = Registry()
    events: list[Part] = [
        registry.publish(1, by_buckets(), 0, 0),
        registry.publish(2, by_buckets(seconds=120), 0, 0),
    ]
    wider = registry.publish(1, by_buckets(seconds=3600), 0, 0)
    outcome = play(
        narrow_settings(registry), *events, pay(1, 5), pay(2, 10), pay(3, 15), 100, wider, pay(4, 101)
    )
    values = {(alert["ruleId"], alert["ruleVersion"]): alert["value"] for alert in outcome.alerts}
    assert values[1, 2] == "4"


@pytest.mark.parametrize(
    ("more", "value"),
    [([], "1"), ([100.0], "1"), ([Registry().change_settings(Settings(), 0), 101.0], "1")],
)
def test_their_floor_stays_where_the_clock_goes_back_or_a_setting_is_raised(
    more: list[Part], value: str
) -> None:
    registry = Registry()
    first, wider = (
        registry.publish(1, by_buckets(), 0, 0),
        registry.publish(1, by_buckets(seconds=3600), 0, 0),
    )
    parts: list[Part] = [narrow_settings(registry), first, pay(1, 5), pay(2, 10), pay(3, 15), 100.001]
    assert newest(play(*parts, *more, wider, pay(4, 101))) == (2, value)


def test_those_of_a_condition_go_by_the_widest_window_of_its_rule() -> None:
    registry = Registry()
    narrow = by_buckets("SUM", "0", seconds=20)
    first = replace(chained(Branch("all", (by_buckets(), narrow))), bucket=10)
    wide = replace(
        chained(Branch("all", (by_buckets(seconds=3600), replace(narrow, window=3600)))), bucket=10
    )
    events: list[Part] = [narrow_settings(registry), registry.publish(1, first, 0, 0)]
    records = [pay(1, 5), pay(2, 10), pay(3, 15)]
    outcome = play(*events, *records, 100, registry.publish(1, wide, 0, 0), pay(4, 101))
    conditions: Any = outcome.alerts[-1]["conditions"]
    assert [condition["value"] for condition in conditions] == ["3", "3"]


def test_they_begin_where_history_does_and_that_stays() -> None:
    registry = Registry()
    small, rule = (
        narrow_settings(registry),
        registry.publish(1, by_buckets(seconds=3600, bucket=60), ms(100), 0),
    )
    outcome = play(small, pay(1, 79.999), pay(2, 80), 100, rule, pay(3, 101), 300, pay(4, 301))
    # History begins at 80, amid a bucket. Later no such old payments are kept; the buckets are.
    assert [alert["value"] for alert in outcome.alerts] == ["2", "3"]


def test_before_the_first_tick_they_begin_with_everything() -> None:
    registry = Registry()
    small, rule = (
        narrow_settings(registry),
        registry.publish(1, by_buckets(seconds=3600, bucket=60), ms(100), 0),
    )
    outcome = play(small, pay(1, 0), rule, 300, pay(2, 301))
    assert [alert["value"] for alert in outcome.alerts] == ["2"]


def test_a_clear_empties_them() -> None:
    registry = Registry()
    rule, clear = registry.publish(1, by_buckets(), 0, 0), registry.control("CLEAR_STATE_ALL", 0)
    outcome = play(rule, pay(1, 0), clear, pay(2, -1, accepted=0), pay(3, 1))
    assert [(alert["value"], alert["late"]) for alert in outcome.alerts] == [
        ("1", None),
        ("1", None),
        ("2", None),
    ]
