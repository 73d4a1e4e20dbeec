"""Bucketed windows (decision 0038): what is in them, and the history that they need."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.oracle.builders.drafts import Branch, chained
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.unit.oracle.support.agreement import judge
from tests.unit.oracle.support.buckets import CASH, by_buckets, narrow_settings
from tests.unit.oracle.support.hour_timeline import T, ms, pay, play


@pytest.mark.parametrize(
    ("end", "value", "start"),
    [(59.999, "5", -10), (60, "4", 0), (60.001, "4", 0), (69.999, "4", 0), (70, "1", 10)],
)
def test_the_whole_bucket_in_which_it_begins_is_in(end: float, value: str, start: float) -> None:
    earlier = [pay(1, -0.001), pay(2, 0), pay(3, 5), pay(4, 9.999)]
    alert = play(Registry().publish(1, by_buckets(), 0, 0), *earlier, pay(5, end)).alerts[-1]
    assert (alert["value"], alert["windowStart"], alert["windowEnd"]) == (value, ms(start), ms(end))


def test_a_bucket_may_be_as_long_as_the_window() -> None:
    rule = Registry().publish(1, by_buckets(bucket=60), 0, 0)
    outcome = play(rule, pay(1, 0), pay(2, 119.999), pay(3, 120))
    # The third begins its window with the bucket in which only the second is.
    assert [alert["value"] for alert in outcome.alerts] == ["1", "2", "2"]


def test_what_is_newer_is_not_in_though_its_bucket_is() -> None:
    rule = Registry().publish(1, by_buckets(), 0, 0)
    outcome = play(rule, pay(1, 65), pay(2, 63, accepted=65), pay(3, 65))
    assert [alert["value"] for alert in outcome.alerts] == ["1", "1", "3"]
    assert outcome.alerts[1]["late"] == {"newestEventTime": ms(65)}


def test_buckets_begin_where_they_do_whatever_the_time_before_the_epoch() -> None:
    rule = Registry().publish(1, by_buckets(bucket=7), 0, 0)
    alert = judge([batch(events=[rule], records=[payment(1, 1), payment(2, 53_000)])]).alerts[-1]
    # From -7 s on is the whole bucket; it begins at -7 s and not at 0.
    assert (alert["value"], alert["windowStart"]) == ("2", -7000)


def test_filters_and_null_groups_are_as_in_an_exact_window() -> None:
    rule = Registry().publish(1, by_buckets(only=CASH), 0, 0)
    records = [
        pay(1, 1),
        pay(2, 2, paymentType="CRD"),
        pay(3, 3, payeeId=None),
        pay(4, 4, payeeId=7),
        pay(5, 65),
    ]
    outcome = play(rule, *records)
    assert [alert["value"] for alert in outcome.alerts] == ["1", "1", "2"]
    assert outcome.counts[1].null_groups == 1


def test_each_condition_has_the_buckets_of_its_own_window() -> None:
    several = chained(Branch("all", (by_buckets(), by_buckets("SUM", "0", seconds=30))))
    rule = Registry().publish(1, replace(several, bucket=20), 0, 0)
    alert = play(rule, pay(1, 1, "5"), pay(2, 22, "7"), pay(3, 39, "9"), pay(4, 65, "2")).alerts[-1]
    conditions: Any = alert["conditions"]
    # From 5 on, so from 0; from 35 on, so from 20.
    assert [(condition["value"], condition["windowStart"]) for condition in conditions] == [
        ("4", T),
        ("18", ms(20)),
    ]
    assert alert["windowStart"] == T


def test_a_crossing_s_record_counts_to_the_edge_of_the_window_and_not_of_its_bucket() -> None:
    for end, values in ((65, ["1"]), (65.001, ["1", "2"])):
        rule = Registry().publish(1, by_buckets(firing="crossing"), 0, 0)
        outcome = play(rule, pay(1, 5), pay(2, end))
        assert [alert["value"] for alert in outcome.alerts] == values


def test_a_crossing_s_record_outlives_all_floors() -> None:
    registry = Registry()
    rule = registry.publish(1, by_buckets(firing="crossing", seconds=3600), 0, 0)
    outcome = play(narrow_settings(registry), rule, pay(1, 5), 3600, pay(2, 3600))
    assert len(outcome.alerts) == 1


@pytest.mark.parametrize(("clock", "values"), [(80, ["1", "2"]), (80.001, ["1"])])
def test_of_the_fields_it_needs_a_bucket_only(clock: float, values: list[str]) -> None:
    registry = Registry()
    bucketed = registry.publish(1, by_buckets(seconds=3600, bucket=60), 0, 0)
    exact = registry.publish(2, draft("COUNT", ">=", "1", by=("payeeId",), seconds=3600), 0, 0)
    outcome = play(narrow_settings(registry), bucketed, pay(1, 0), clock, exact, pay(2, 81))
    # The exact one catches up what is kept, 60 s and the 20 behind the clock.
    assert [alert["value"] for alert in outcome.alerts if alert["ruleId"] == 2] == values
    assert [alert["value"] for alert in outcome.alerts if alert["ruleId"] == 1] == ["1", "2"]
