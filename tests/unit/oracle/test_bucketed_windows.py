"""Bucketed windows (decision 0038): what is in them, how far back they see, whose buckets they share."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.oracle import Outcome, Record, judge
from tests.oracle.builders.drafts import Branch, Draft, chained, conditions_of
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import Part, batch, draft, one_by_one, payment
from tests.oracle.parsers.rule_events import Settings
from tests.oracle.values.canonical_json import definition_hash
from tests.oracle.values.model import Json

# A whole hour, so that every bucket that is used here begins with it.
T = 472_223 * 3_600_000
# What is accepted is at most 20 seconds behind the clock.
SMALL = Settings(allowed_lateness=10_000, max_future_skew=300_000, max_disorder=10_000)
CASH: Json = {"field": "paymentType", "operator": "=", "value": "CSH"}


def ms(seconds: float) -> int:
    return T + round(1000 * seconds)


def at(offset: int, seconds: float, amount: str = "1", accepted: float | None = None, **more: Json) -> Record:
    """A payment at T + seconds, on record at T + accepted where that is later."""
    later = seconds if accepted is None else accepted
    return payment(offset, ms(seconds), amount, record_time=ms(later), more=dict(more))


def by_buckets(
    function: str = "COUNT", limit: str = "1", seconds: int = 60, bucket: int = 10, **more: Any
) -> Draft:
    """By payee, alerting for whatever is at least the limit."""
    return draft(function, ">=", limit, by=("payeeId",), seconds=seconds, bucket=bucket, **more)


def steps(*parts: Part) -> Outcome:
    """Rule events, payments and ticks, in seconds after T."""
    return judge(one_by_one(T, *parts))


def settled(registry: Registry) -> bytes:
    return registry.change_settings(SMALL, 0)


def last(outcome: Outcome) -> tuple[object, object]:
    """Version and value of the last alert."""
    return outcome.alerts[-1]["ruleVersion"], outcome.alerts[-1]["value"]


# --- form


@pytest.mark.parametrize(
    "more",
    [
        {"precision": "bucketed(10)", "resetOnAlert": True},
        {"precision": "bucketed(10)", "lateEvents": "reevaluate"},
        {
            "precision": "bucketed(10)",
            "aggregatorFunctionType": "COUNT_DISTINCT",
            "aggregateFieldName": "payeeId",
        },
        {"precision": "bucketed(61)"},
        {"precision": "bucketed(0)"},
        {"precision": "bucketed(1)", "windowSeconds": 10_001},
    ],
)
def test_refused(more: dict[str, Json]) -> None:
    event = json.loads(Registry().publish(1, by_buckets(), 0, 0))
    event["definition"].update(more)
    event["definitionHash"] = definition_hash(event["definition"])
    outcome = steps(json.dumps(event).encode(), at(1, 0))
    assert (outcome.skipped_rule_events, outcome.alerts) == (1, [])


def test_refused_for_any_of_several_conditions() -> None:
    one, wide = by_buckets(), by_buckets(seconds=100_001)
    distinct = draft("COUNT_DISTINCT", ">=", "0", by=("payeeId",), seconds=60, field="beneficiaryId")
    for other, bucket in ((distinct, 10), (wide, 10), (one, 61)):
        several = replace(chained(Branch("any", (one, other))), bucket=bucket)
        outcome = steps(Registry().publish(1, several, 0, 0), at(1, 0))
        assert (outcome.skipped_rule_events, outcome.alerts) == (1, [])


@pytest.mark.parametrize(
    "what",
    [
        by_buckets(bucket=60),
        by_buckets(seconds=10_000, bucket=1),
        by_buckets(firing="crossing", cooldown=60),
        by_buckets(late_events="store", only=CASH),
        replace(chained(Branch("any", (by_buckets(), by_buckets(seconds=20)))), bucket=20),
    ],
)
def test_all_else_goes_with_it(what: Draft) -> None:
    outcome = steps(Registry().publish(1, what, 0, 0), at(1, 0))
    assert (outcome.skipped_rule_events, len(outcome.alerts)) == (0, 1)


# --- the window


@pytest.mark.parametrize(
    ("end", "value", "start"),
    [(59.999, "5", -10), (60, "4", 0), (60.001, "4", 0), (69.999, "4", 0), (70, "1", 10)],
)
def test_the_whole_bucket_in_which_it_begins_is_in(end: float, value: str, start: float) -> None:
    earlier = [at(1, -0.001), at(2, 0), at(3, 5), at(4, 9.999)]
    alert = steps(Registry().publish(1, by_buckets(), 0, 0), *earlier, at(5, end)).alerts[-1]
    assert (alert["value"], alert["windowStart"], alert["windowEnd"]) == (value, ms(start), ms(end))


def test_a_bucket_may_be_as_long_as_the_window() -> None:
    rule = Registry().publish(1, by_buckets(bucket=60), 0, 0)
    outcome = steps(rule, at(1, 0), at(2, 119.999), at(3, 120))
    # The third begins its window with the bucket in which only the second is.
    assert [alert["value"] for alert in outcome.alerts] == ["1", "2", "2"]


def test_what_is_newer_is_not_in_though_its_bucket_is() -> None:
    rule = Registry().publish(1, by_buckets(), 0, 0)
    outcome = steps(rule, at(1, 65), at(2, 63, accepted=65), at(3, 65))
    assert [alert["value"] for alert in outcome.alerts] == ["1", "1", "3"]
    assert outcome.alerts[1]["late"] == {"newestEventTime": ms(65)}


def test_buckets_begin_where_they_do_whatever_the_time_before_the_epoch() -> None:
    rule = Registry().publish(1, by_buckets(bucket=7), 0, 0)
    alert = judge([batch(events=[rule], records=[payment(1, 1), payment(2, 53_000)])]).alerts[-1]
    # From -7 s on is the whole bucket; it begins at -7 s and not at 0.
    assert (alert["value"], alert["windowStart"]) == ("2", -7000)


def test_filters_and_null_groups_are_as_in_an_exact_window() -> None:
    rule = Registry().publish(1, by_buckets(only=CASH), 0, 0)
    records = [at(1, 1), at(2, 2, paymentType="CRD"), at(3, 3, payeeId=None), at(4, 4, payeeId=7), at(5, 65)]
    outcome = steps(rule, *records)
    assert [alert["value"] for alert in outcome.alerts] == ["1", "1", "2"]
    assert outcome.counts[1].null_groups == 1


def test_each_condition_has_the_buckets_of_its_own_window() -> None:
    several = chained(Branch("all", (by_buckets(), by_buckets("SUM", "0", seconds=30))))
    rule = Registry().publish(1, replace(several, bucket=20), 0, 0)
    alert = steps(rule, at(1, 1, "5"), at(2, 22, "7"), at(3, 39, "9"), at(4, 65, "2")).alerts[-1]
    conditions: Any = alert["conditions"]
    # From 5 on, so from 0; from 35 on, so from 20.
    assert [(found["value"], found["windowStart"]) for found in conditions] == [("4", T), ("18", ms(20))]
    assert alert["windowStart"] == T


def test_a_crossing_s_record_counts_to_the_edge_of_the_window_and_not_of_its_bucket() -> None:
    for end, values in ((65, ["1"]), (65.001, ["1", "2"])):
        rule = Registry().publish(1, by_buckets(firing="crossing"), 0, 0)
        outcome = steps(rule, at(1, 5), at(2, end))
        assert [alert["value"] for alert in outcome.alerts] == values


def test_a_crossing_s_record_outlives_all_floors() -> None:
    registry = Registry()
    rule = registry.publish(1, by_buckets(firing="crossing", seconds=3600), 0, 0)
    outcome = steps(settled(registry), rule, at(1, 5), 3600, at(2, 3600))
    assert len(outcome.alerts) == 1


# --- what is kept for others


@pytest.mark.parametrize(("clock", "values"), [(80, ["1", "2"]), (80.001, ["1"])])
def test_of_the_fields_it_needs_a_bucket_only(clock: float, values: list[str]) -> None:
    registry = Registry()
    bucketed = registry.publish(1, by_buckets(seconds=3600, bucket=60), 0, 0)
    exact = registry.publish(2, draft("COUNT", ">=", "1", by=("payeeId",), seconds=3600), 0, 0)
    outcome = steps(settled(registry), bucketed, at(1, 0), clock, exact, at(2, 81))
    # The exact one catches up what is kept, 60 s and the 20 behind the clock.
    assert [alert["value"] for alert in outcome.alerts if alert["ruleId"] == 2] == values
    assert [alert["value"] for alert in outcome.alerts if alert["ruleId"] == 1] == ["1", "2"]


# --- whose buckets


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
    outcome = steps(settled(registry), first, at(1, 0), 200, registry.publish(1, next_one, 0, 0), at(2, 201))
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
    outcome = steps(settled(registry), first, at(1, 0), 200, registry.publish(1, next_one, 0, 0), at(2, 201))
    # History begins at 120 by then, or at 180 where nothing has needed it before.
    assert last(outcome) == (2, "1")


def test_rules_share_them() -> None:
    registry = Registry()
    parts: list[Part] = [settled(registry), registry.publish(1, LONG, 0, 0), at(1, 0), 200]
    other = registry.publish(2, replace(LONG, function="AVG", window=1800), ms(200), 0)
    gone = registry.move("RuleDeleted", "DELETED", 1, 0)
    # Deleted afterwards the first has handed them on.
    outcome = steps(*parts, other, gone, at(2, 201))
    assert [(alert["ruleId"], contributors(alert)) for alert in outcome.alerts] == [(1, 1), (2, 2)]


def test_of_a_rule_deleted_before_nobody_has_them() -> None:
    registry = Registry()
    parts: list[Part] = [settled(registry), registry.publish(1, LONG, 0, 0), at(1, 0), 200]
    gone = registry.move("RuleDeleted", "DELETED", 1, 0)
    outcome = steps(*parts, gone, registry.publish(2, LONG, ms(200), 0), at(2, 201))
    assert [(alert["ruleId"], contributors(alert)) for alert in outcome.alerts] == [(1, 1), (2, 1)]


def test_a_paused_rule_has_them() -> None:
    registry = Registry()
    parts: list[Part] = [settled(registry), registry.publish(1, LONG, 0, 0), at(1, 0), 200]
    paused = registry.move("RulePaused", "PAUSED", 1, 0)
    outcome = steps(*parts, paused, 300, registry.publish(2, LONG, ms(200), 0), at(2, 301))
    assert [(alert["ruleId"], contributors(alert)) for alert in outcome.alerts] == [(1, 1), (2, 2)]


@pytest.mark.parametrize(("clock", "value"), [(170, "2"), (170.001, "1")])
def test_a_superseded_version_has_them_until_it_leaves(clock: float, value: str) -> None:
    registry = Registry()
    first, other = registry.publish(1, LONG, 0, 0), registry.publish(1, replace(LONG, bucket=30), ms(150), 0)
    third = registry.publish(1, LONG, ms(150), 0)
    outcome = steps(settled(registry), first, at(1, 0), 100, other, clock, third, at(2, 171))
    assert last(outcome) == (3, value)


def contributors(alert: dict[str, Json]) -> Json:
    of: Any = alert["contributors"]
    count: Json = of["count"]
    return count


def test_a_condition_shares_them_with_a_rule_that_has_it_alone() -> None:
    """What triggers and what contributes is the same, though one of the two is written as conditions."""
    registry = Registry()
    count = by_buckets(seconds=3600, bucket=60)
    parts: list[Part] = [settled(registry), registry.publish(1, count, 0, 0), at(1, 0), 200]
    several = chained(Branch("all", (count, replace(count, window=1800, limit=1))))
    outcome = steps(*parts, registry.publish(2, replace(several, bucket=60), ms(200), 0), at(2, 201))
    conditions: Any = outcome.alerts[-1]["conditions"]
    assert [found["value"] for found in conditions] == ["2", "2"]


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
        parts: list[Part] = [settled(registry), registry.publish(1, before, 0, 0), at(1, 0), 200]
        changed = replace(after, firing="crossing")
        outcome = steps(*parts, registry.publish(1, changed, 0, 0), trace(registry), at(2, 201))
        conditions: Any = outcome.traces[-1]["conditions"]
        assert [found["value"] for found in conditions] == values
        registry = Registry()


def trace(registry: Registry) -> bytes:
    return registry.trace(1, 2**50, 0)


# --- how far back


@pytest.mark.parametrize(("clock", "value"), [(100, "3"), (100.001, "1")])
def test_their_floor_rises_by_whole_buckets(clock: float, value: str) -> None:
    registry = Registry()
    first, wider = (
        registry.publish(1, by_buckets(), 0, 0),
        registry.publish(1, by_buckets(seconds=3600), 0, 0),
    )
    outcome = steps(settled(registry), first, at(1, 5), at(2, 10), at(3, 15), clock, wider, at(4, 101))
    # 100 less 20, less 60, less 10: from 10 on. A millisecond later from the next bucket on.
    assert last(outcome) == (2, value)


def test_their_floor_goes_by_the_widest_that_has_them() -> None:
    registry = Registry()
    events: list[Part] = [
        registry.publish(1, by_buckets(), 0, 0),
        registry.publish(2, by_buckets(seconds=120), 0, 0),
    ]
    wider = registry.publish(1, by_buckets(seconds=3600), 0, 0)
    outcome = steps(settled(registry), *events, at(1, 5), at(2, 10), at(3, 15), 100, wider, at(4, 101))
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
    parts: list[Part] = [settled(registry), first, at(1, 5), at(2, 10), at(3, 15), 100.001]
    assert last(steps(*parts, *more, wider, at(4, 101))) == (2, value)


def test_those_of_a_condition_go_by_the_widest_window_of_its_rule() -> None:
    registry = Registry()
    narrow = by_buckets("SUM", "0", seconds=20)
    first = replace(chained(Branch("all", (by_buckets(), narrow))), bucket=10)
    wide = replace(
        chained(Branch("all", (by_buckets(seconds=3600), replace(narrow, window=3600)))), bucket=10
    )
    events: list[Part] = [settled(registry), registry.publish(1, first, 0, 0)]
    records = [at(1, 5), at(2, 10), at(3, 15)]
    outcome = steps(*events, *records, 100, registry.publish(1, wide, 0, 0), at(4, 101))
    conditions: Any = outcome.alerts[-1]["conditions"]
    assert [found["value"] for found in conditions] == ["3", "3"]


def test_they_begin_where_history_does_and_that_stays() -> None:
    registry = Registry()
    small, rule = settled(registry), registry.publish(1, by_buckets(seconds=3600, bucket=60), ms(100), 0)
    outcome = steps(small, at(1, 79.999), at(2, 80), 100, rule, at(3, 101), 300, at(4, 301))
    # History begins at 80, amid a bucket. Later no such old payments are kept; the buckets are.
    assert [alert["value"] for alert in outcome.alerts] == ["2", "3"]


def test_before_the_first_tick_they_begin_with_everything() -> None:
    registry = Registry()
    small, rule = settled(registry), registry.publish(1, by_buckets(seconds=3600, bucket=60), ms(100), 0)
    outcome = steps(small, at(1, 0), rule, 300, at(2, 301))
    assert [alert["value"] for alert in outcome.alerts] == ["2"]


def test_a_clear_empties_them() -> None:
    registry = Registry()
    rule, clear = registry.publish(1, by_buckets(), 0, 0), registry.control("CLEAR_STATE_ALL", 0)
    outcome = steps(rule, at(1, 0), clear, at(2, -1, accepted=0), at(3, 1))
    assert [(alert["value"], alert["late"]) for alert in outcome.alerts] == [
        ("1", None),
        ("1", None),
        ("2", None),
    ]


# --- catch-up


def test_catch_up_judges_what_is_kept() -> None:
    registry = Registry()
    parts: list[Part] = [settled(registry), at(1, 0), at(2, 30), at(3, 100)]
    kept = registry.publish(1, draft("COUNT", ">=", "9", by=("payeeId",), seconds=3600), 0, 0)
    rule = registry.publish(2, by_buckets(bucket=20, seconds=65), 0, 0)
    outcome = steps(*parts, kept, 130, rule)
    # The window of the third begins at 35, so at 20.
    assert [(alert["partial"], alert["value"]) for alert in outcome.alerts] == [
        (True, "1"),
        (True, "2"),
        (True, "2"),
    ]
    registry = Registry()
    settings, rule = settled(registry), registry.publish(2, by_buckets(bucket=20, seconds=65), 0, 0)
    outcome = steps(settings, *parts[1:], at(4, 110), 130, rule)
    assert [alert["value"] for alert in outcome.alerts] == ["1"]


def test_catch_up_does_not_look_into_buckets() -> None:
    registry = Registry()
    what = by_buckets(seconds=3600, bucket=60)
    first, second = registry.publish(1, what, ms(100), 0), registry.publish(1, what, 0, 0)
    outcome = steps(settled(registry), first, at(1, 0), at(2, 30), at(3, 100), 110, second, at(4, 111))
    # History is kept from 30 on, and the second catches up what is there; live it sees all that the first saw.
    told = [(alert["ruleVersion"], alert["eventTime"], alert["value"]) for alert in outcome.alerts]
    assert told == [(1, ms(100), "3"), (2, ms(30), "1"), (2, ms(111), "4")]


def test_catch_up_of_a_chained_rule_sees_what_each_window_does() -> None:
    """Of the second version one condition has buckets of before, with a floor, and one begins new ones."""
    registry = Registry()
    no_card: Json = {"field": "paymentType", "operator": "!=", "value": "CRD"}
    kept = registry.publish(2, draft("SUM", ">", "99", by=("payeeId",), seconds=3600, only=CASH), 0, 0)
    before, after = (
        replace(chained(Branch("any", (by_buckets(), by_buckets("SUM", "0", only=only)))), bucket=10)
        for only in (CASH, no_card)
    )
    first, second = registry.publish(1, before, ms(50), 0), registry.publish(1, after, 0, 0)
    outcome = steps(settled(registry), kept, first, at(1, 9.999), at(2, 10), 100, second)
    # What is judged goes by the highest floor of all, 10; the window over new buckets holds what is below as well.
    conditions: list[Any] = [alert["conditions"] for alert in outcome.alerts]
    assert [[found["value"] for found in of_one] for of_one in conditions] == [["1", "2"]]


# --- warm


def warm_from(outcome: Outcome) -> list[Json]:
    return [
        None if status["warmFrom"] is None else int(str(status["warmFrom"])) - T
        for status in outcome.statuses
    ]


def test_warm_from_a_whole_bucket_after_the_first_tick() -> None:
    registry = Registry()
    events: list[Part] = [settled(registry), registry.publish(1, by_buckets(), 0, 0)]
    pause = registry.move("RulePaused", "PAUSED", 1, 0)
    resume = registry.move("RuleResumed", "ACTIVE", 1, 0)
    outcome = steps(*events, 100.5, pause, resume, at(1, 169.999), at(2, 170))
    assert warm_from(outcome) == [None, 170_000, 170_000]
    assert [alert["warm"] for alert in outcome.alerts] == [False, True]


def test_warm_from_the_floor_of_its_buckets() -> None:
    registry = Registry()
    events: list[Part] = [settled(registry), registry.publish(1, by_buckets(), 0, 0)]
    outcome = steps(*events, 100.5, 400.5, registry.move("RulePaused", "PAUSED", 1, 0))
    # 400.5 less 90 is 310.5; the next bucket begins at 320.
    assert warm_from(outcome) == [None, 380_000]


def test_warm_from_where_its_buckets_begin() -> None:
    registry = Registry()
    settings, rule = settled(registry), registry.publish(1, by_buckets(), 0, 0)
    # History begins at 380.5 for fields that no rule has used.
    assert warm_from(steps(settings, 100.5, 400.5, rule)) == [450_000]


def test_warm_from_a_whole_bucket_after_a_clear() -> None:
    registry = Registry()
    events: list[Part] = [settled(registry), registry.publish(1, by_buckets(), 0, 0)]
    clear, pause = registry.control("CLEAR_STATE_ALL", 0), registry.move("RulePaused", "PAUSED", 1, 0)
    assert warm_from(steps(*events, 100.5, clear, pause)) == [None, 470_000]


def test_a_deleted_rule_is_as_warm_as_it_was() -> None:
    registry = Registry()
    events: list[Part] = [settled(registry), registry.publish(1, by_buckets(), 0, 0)]
    outcome = steps(*events, 100.5, 400.5, registry.move("RuleDeleted", "DELETED", 1, 0))
    assert warm_from(outcome) == [None, 380_000]


def test_a_chained_one_is_warm_by_the_highest_of_its_buckets_and_its_widest_window() -> None:
    registry = Registry()
    count, total = by_buckets(), by_buckets("SUM", "0", seconds=20)
    several = replace(chained(Branch("all", (count, total))), bucket=10)
    assert max(condition.window for condition in conditions_of(several)) == 60
    settings, first = settled(registry), registry.publish(1, several, 0, 0)
    # Of the second version one condition has another filter, so buckets that begin at 400 less 20 and 10.
    filtered = replace(chained(Branch("all", (count, replace(total, condition=CASH)))), bucket=10)
    outcome = steps(settings, 100, first, 400, registry.publish(1, filtered, 0, 0))
    assert warm_from(outcome) == [160_000, 440_000]
