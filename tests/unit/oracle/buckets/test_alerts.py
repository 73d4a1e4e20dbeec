"""What a bucketed rule's alert tells (decision 0038): contributors that stand singly, and bounds of the value."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.oracle import Outcome, Record
from tests.oracle.builders.drafts import Branch, Draft, chained
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import Part, draft, one_by_one, payment
from tests.oracle.parsers.rule_events import Settings
from tests.oracle.values.model import Json
from tests.unit.oracle.support.agreement import judge

# A whole hour, so that every bucket that is used here begins with it.
T = 472_223 * 3_600_000
# What is accepted is at most 20 seconds behind the clock.
SMALL = Settings(allowed_lateness=10_000, max_future_skew=300_000, max_disorder=10_000)
CARD: Json = {"field": "paymentType", "operator": "=", "value": "CRD"}


def ms(seconds: float) -> int:
    return T + round(1000 * seconds)


def pay(offset: int, seconds: float, amount: str = "1", **more: Json) -> Record:
    return payment(offset, ms(seconds), amount, more=dict(more))


def by_buckets(
    function: str = "COUNT", limit: str = "0", seconds: int = 60, bucket: int | None = 10, **more: Any
) -> Draft:
    """By payee."""
    return draft(function, "!=", limit, by=("payeeId",), seconds=seconds, bucket=bucket, **more)


def play(*parts: Part) -> Outcome:
    """Rule events, payments and ticks, in seconds after T."""
    return judge(one_by_one(T, *parts))


def listed(alert: dict[str, Json]) -> tuple[int, list[str], bool]:
    """How many contribute, which are named, and whether there are more."""
    contributors: Any = alert["contributors"]
    return (
        contributors["count"],
        [other["transactionId"] for other in contributors["transactions"]],
        contributors["truncated"],
    )


# --- contributors


@pytest.mark.parametrize(
    ("clock", "named"),
    [
        (29.999, ["t3", "t2", "t1"]),
        (30, ["t3", "t2"]),
        (32.999, ["t3", "t2"]),
        (33, ["t3"]),
    ],
)
def test_named_are_those_that_stand_singly(clock: float, named: list[str]) -> None:
    registry = Registry()
    events = [registry.change_settings(SMALL, 0), registry.publish(1, by_buckets("SUM"), 0, 0)]
    alert = play(*events, pay(1, 0), pay(2, 3), clock, pay(3, 35)).alerts[-1]
    # At 30 the bound is 10, a bucket's length after the first.
    assert listed(alert) == (3, named, len(named) < 3)


def test_before_the_first_tick_all_stand_singly() -> None:
    alert = play(Registry().publish(1, by_buckets(seconds=3600), 0, 0), pay(1, 0), pay(2, 3599)).alerts[-1]
    assert listed(alert) == (2, ["t2", "t1"], False)


def test_what_no_longer_stands_singly_never_does_again() -> None:
    registry = Registry()
    small, rule = registry.change_settings(SMALL, 0), registry.publish(1, by_buckets(), 0, 0)
    raised = registry.change_settings(Settings(), 0)
    alert = play(small, rule, pay(1, 0), pay(2, 3), 30, raised, 31, pay(3, 35)).alerts[-1]
    assert listed(alert) == (3, ["t3", "t2"], True)


def test_newest_first_and_at_most_a_hundred() -> None:
    registry = Registry()
    events = [registry.change_settings(SMALL, 0), registry.publish(1, by_buckets(), 0, 0)]
    many = [pay(number, 20 + number / 100) for number in range(2, 103)]
    alert = play(*events, pay(1, 0), 30, *many).alerts[-1]
    assert listed(alert) == (102, [f"t{number}" for number in range(102, 2, -1)], True)
    fewer = play(*events, pay(1, 19), 30, *many[:99]).alerts[-1]
    assert listed(fewer) == (100, [f"t{number}" for number in range(100, 0, -1)], False)


def test_each_condition_names_its_share_of_them() -> None:
    registry = Registry()
    several = chained(Branch("all", (by_buckets(), by_buckets(seconds=30), by_buckets("SUM"))))
    events = [
        registry.change_settings(SMALL, 0),
        registry.publish(1, replace(several, bucket=10), 0, 0),
    ]
    alert = play(*events, pay(1, 0), pay(2, 15), 30, pay(3, 35)).alerts[-1]
    conditions: Any = alert["conditions"]
    # The window of the second begins at 5, so with the first's bucket.
    assert [listed(condition) for condition in conditions] == [(3, ["t3", "t2"], True)] * 3
    assert alert["contributors"] is None
    many = [pay(number, 20 + number / 100) for number in range(2, 60)]
    conditions = play(*events, 30, *many).alerts[-1]["conditions"]
    assert [len(listed(condition)[1]) for condition in conditions] == [33, 33, 33]


# --- bounds


def bounds(alert: Any) -> tuple[object, object, object]:
    assert alert["precision"].keys() == {"bucketSeconds", "atLeast", "atMost"}
    assert alert["precision"]["bucketSeconds"] == 10
    return alert["value"], alert["precision"]["atLeast"], alert["precision"]["atMost"]


FIRST = (pay(1, 0, "7"), pay(2, 4, "-3"))


@pytest.mark.parametrize(
    ("function", "value", "at_least", "at_most"),
    [
        ("COUNT", "4", "2", "4"),
        ("SUM", "11", "4", "14"),
        ("MIN", "-3", "-3", "2"),
        ("MAX", "7", "5", "7"),
        ("AVG", "2.75", None, None),
    ],
)
def test_between_what_the_first_bucket_leaves_open(
    function: str, value: str, at_least: str | None, at_most: str | None
) -> None:
    rule = Registry().publish(1, by_buckets(function), 0, 0)
    alert = play(rule, *FIRST, pay(3, 15, "5"), pay(4, 65, "2")).alerts[-1]
    assert bounds(alert) == (value, at_least, at_most)


def test_they_count_what_is_merged_too() -> None:
    """Bounds do not depend on what still stands singly."""
    registry = Registry()
    events = [registry.change_settings(SMALL, 0), registry.publish(1, by_buckets("SUM"), 0, 0)]
    alert = play(*events, *FIRST, pay(3, 15, "5"), 60, pay(4, 65, "2")).alerts[-1]
    assert bounds(alert) == ("11", "4", "14")


@pytest.mark.parametrize(
    ("function", "value"), [("COUNT", "4"), ("SUM", "11"), ("MIN", "-3"), ("MAX", "7"), ("AVG", "2.75")]
)
def test_both_are_the_value_where_the_window_begins_with_a_bucket(function: str, value: str) -> None:
    rule = Registry().publish(1, by_buckets(function), 0, 0)
    alert = play(rule, *FIRST, pay(3, 15, "5"), pay(4, 60, "2")).alerts[-1]
    same = None if function == "AVG" else value
    assert bounds(alert) == (value, same, same)


@pytest.mark.parametrize(
    ("function", "value"), [("COUNT", "2"), ("SUM", "7"), ("MIN", "2"), ("MAX", "5"), ("AVG", "3.5")]
)
def test_both_are_the_value_where_nothing_is_in_the_first_bucket(function: str, value: str) -> None:
    rule = Registry().publish(1, by_buckets(function), 0, 0)
    alert = play(rule, pay(3, 15, "5"), pay(4, 65, "2")).alerts[-1]
    same = None if function == "AVG" else value
    assert bounds(alert) == (value, same, same)


def test_both_are_the_value_below_the_floor_of_the_buckets() -> None:
    registry = Registry()
    small, first = registry.change_settings(SMALL, 0), registry.publish(1, by_buckets(), 0, 0)
    wider = registry.publish(1, by_buckets(seconds=3600), 0, 0)
    alert = play(small, first, pay(1, 5), pay(2, 12), 100, wider, pay(3, 105)).alerts[-1]
    assert bounds(alert) == ("2", "2", "2")


def test_where_the_buckets_begin_excuses_nothing() -> None:
    registry = Registry()
    small, rule = registry.change_settings(SMALL, 0), registry.publish(1, by_buckets(), ms(100), 0)
    alert = play(small, pay(1, 86), 105, rule, pay(2, 141)).alerts[-1]
    # From 81 on; they begin at 85, amid the bucket from 80 on.
    assert bounds(alert) == ("2", "1", "2")


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("COUNT", ("1", "0", "1")),
        ("SUM", ("7", "0", "7")),
        ("MIN", ("7", "7", None)),
        ("MAX", ("7", None, "7")),
        ("AVG", ("7", None, None)),
    ],
)
def test_a_condition_may_have_nothing_but_its_first_bucket(
    function: str, expected: tuple[str | None, ...]
) -> None:
    several = chained(Branch("any", (by_buckets(), by_buckets(function, only=CARD))))
    rule = Registry().publish(1, replace(several, bucket=10), 0, 0)
    alert = play(rule, pay(1, 4, "7", paymentType="CRD"), pay(2, 65)).alerts[-1]
    conditions: Any = alert["conditions"]
    assert bounds(conditions[1]) == expected
    assert "precision" not in alert


@pytest.mark.parametrize(
    ("function", "of_nothing"), [("COUNT", "0"), ("SUM", "0"), ("MIN", None), ("MAX", None), ("AVG", None)]
)
def test_of_nothing(function: str, of_nothing: str | None) -> None:
    several = chained(Branch("any", (by_buckets(), by_buckets(function, only=CARD))))
    rule = Registry().publish(1, replace(several, bucket=10), 0, 0)
    conditions: Any = play(rule, pay(1, 65)).alerts[-1]["conditions"]
    assert bounds(conditions[1]) == (of_nothing, of_nothing, of_nothing)


def test_of_a_chained_one_each_condition_has_its_own() -> None:
    several = chained(Branch("all", (by_buckets(), by_buckets("SUM", seconds=50), by_buckets(seconds=55))))
    rule = Registry().publish(1, replace(several, bucket=10), 0, 0)
    alert = play(rule, *FIRST, pay(3, 15, "5"), pay(4, 65, "2")).alerts[-1]
    conditions: Any = alert["conditions"]
    # From 5, 15 and 10 on: only the last begins with a bucket.
    assert [bounds(condition) for condition in conditions] == [
        ("4", "2", "4"),
        ("7", "2", "7"),
        ("2", "2", "2"),
    ]


def test_in_catch_up_too() -> None:
    rule = Registry().publish(1, by_buckets(), 0, 0)
    alert = play(*FIRST, pay(3, 65), rule).alerts[-1]
    assert (alert["partial"], bounds(alert)) == (True, ("3", "1", "3"))


def test_in_catch_up_too_both_are_the_value_below_the_floor_of_the_buckets() -> None:
    registry = Registry()
    kept = registry.publish(1, draft("COUNT", ">", "99", by=("payeeId",), seconds=3600), 0, 0)
    first, second = registry.publish(2, by_buckets(), ms(50), 0), registry.publish(2, by_buckets(), 0, 0)
    events = [registry.change_settings(SMALL, 0), kept, first]
    outcome = play(*events, pay(1, -26), pay(2, 9.999), pay(3, 10), pay(4, 35), 100, second)
    # The buckets' floor is 10 by now: what lies below is neither caught up nor in a window, though it is kept.
    assert [bounds(alert) for alert in outcome.alerts] == [("1", "1", "1"), ("2", "2", "2")]


def test_an_exact_alert_has_none() -> None:
    registry = Registry()
    one, several = by_buckets(bucket=None), chained(Branch("all", (by_buckets(bucket=None),)))
    alerts = play(registry.publish(1, one, 0, 0), registry.publish(2, several, 0, 0), pay(1, 0)).alerts
    conditions: Any = alerts[1]["conditions"]
    assert all("precision" not in alert for alert in (*alerts, conditions[0]))


# --- traces


def test_a_trace_is_that_of_an_exact_rule() -> None:
    registry = Registry()
    parts: list[Part] = [
        registry.change_settings(SMALL, 0),
        registry.publish(1, by_buckets("SUM"), 0, 0),
        registry.trace(1, 2**50, 0),
        *FIRST,
        60,
        pay(3, 65, "2"),
    ]
    (*_, trace) = play(*parts).traces
    assert "precision" not in trace
    assert (trace["value"], trace["contributingCount"]) == ("6", 3)
    assert (trace["windowStart"], trace["windowEnd"]) == (T, ms(65))
