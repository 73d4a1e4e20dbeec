"""`warmFrom` of bucketed rules (decision 0038)."""

from __future__ import annotations

from dataclasses import replace

from tests.oracle import Outcome
from tests.oracle.builders.drafts import Branch, chained, conditions_of
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import Part
from tests.oracle.values.model import Json
from tests.unit.oracle.support.buckets import CASH, by_buckets, narrow_settings
from tests.unit.oracle.support.hour_timeline import T, pay, play


def warm_from(outcome: Outcome) -> list[Json]:
    return [
        None if status["warmFrom"] is None else int(str(status["warmFrom"])) - T
        for status in outcome.statuses
    ]


def test_warm_from_a_whole_bucket_after_the_first_tick() -> None:
    registry = Registry()
    events: list[Part] = [narrow_settings(registry), registry.publish(1, by_buckets(), 0, 0)]
    pause = registry.move("RulePaused", "PAUSED", 1, 0)
    resume = registry.move("RuleResumed", "ACTIVE", 1, 0)
    outcome = play(*events, 100.5, pause, resume, pay(1, 169.999), pay(2, 170))
    assert warm_from(outcome) == [None, 170_000, 170_000]
    assert [alert["warm"] for alert in outcome.alerts] == [False, True]


def test_warm_from_the_floor_of_its_buckets() -> None:
    registry = Registry()
    events: list[Part] = [narrow_settings(registry), registry.publish(1, by_buckets(), 0, 0)]
    outcome = play(*events, 100.5, 400.5, registry.move("RulePaused", "PAUSED", 1, 0))
    # 400.5 less 90 is 310.5; the next bucket begins at 320.
    assert warm_from(outcome) == [None, 380_000]


def test_warm_from_where_its_buckets_begin() -> None:
    registry = Registry()
    settings, rule = narrow_settings(registry), registry.publish(1, by_buckets(), 0, 0)
    # History begins at 380.5 for fields that no rule has used.
    assert warm_from(play(settings, 100.5, 400.5, rule)) == [450_000]


def test_warm_from_a_whole_bucket_after_a_clear() -> None:
    registry = Registry()
    events: list[Part] = [narrow_settings(registry), registry.publish(1, by_buckets(), 0, 0)]
    clear, pause = registry.control("CLEAR_STATE_ALL", 0), registry.move("RulePaused", "PAUSED", 1, 0)
    assert warm_from(play(*events, 100.5, clear, pause)) == [None, 470_000]


def test_a_deleted_rule_is_as_warm_as_it_was() -> None:
    registry = Registry()
    events: list[Part] = [narrow_settings(registry), registry.publish(1, by_buckets(), 0, 0)]
    outcome = play(*events, 100.5, 400.5, registry.move("RuleDeleted", "DELETED", 1, 0))
    assert warm_from(outcome) == [None, 380_000]


def test_a_chained_one_is_warm_by_the_highest_of_its_buckets_and_its_widest_window() -> None:
    registry = Registry()
    count, total = by_buckets(), by_buckets("SUM", "0", seconds=20)
    several = replace(chained(Branch("all", (count, total))), bucket=10)
    assert max(condition.window for condition in conditions_of(several)) == 60
    settings, first = narrow_settings(registry), registry.publish(1, several, 0, 0)
    # Of the second version one condition has another filter, so buckets that begin at 400 less 20 and 10.
    filtered = replace(chained(Branch("all", (count, replace(total, condition=CASH)))), bucket=10)
    outcome = play(settings, 100, first, 400, registry.publish(1, filtered, 0, 0))
    assert warm_from(outcome) == [160_000, 440_000]
