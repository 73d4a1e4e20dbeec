"""CLEAR_RULE (decision 0039), each sentence by a case small enough to do by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.oracle.builders.drafts import Branch, chained
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import Part
from tests.oracle.parsers.rule_events import Settings
from tests.unit.oracle.support.clears import rows, tally, warm_from
from tests.unit.oracle.support.hour_timeline import ms, pay, play

# What is accepted is at most 20 seconds behind the clock.
SMALL = Settings(allowed_lateness=10_000, max_future_skew=300_000, max_disorder=10_000)


def test_all_versions_and_all_groups_are_cleared() -> None:
    registry = Registry()
    first, second = registry.publish(1, tally(), 0, 0), registry.publish(1, tally(), ms(100), 0)
    before = [pay(1, 0), pay(2, 0, payeeId=7), pay(3, 100)]
    after = [pay(4, 99, accepted=100), pay(5, 100), pay(6, 100, payeeId=7)]
    outcome = play(first, second, *before, registry.clear_rule(1), *after)
    assert [(alert["ruleVersion"], alert["value"]) for alert in outcome.alerts] == [
        (1, "1"),
        (1, "1"),
        (2, "2"),
        (1, "1"),
        (2, "2"),
        (2, "1"),
    ]


@pytest.mark.parametrize("by", ["payeeId", "beneficiaryId", "paymentType"])
def test_versions_taken_later_belong_to_the_rule(by: str) -> None:
    """On another anchor too: they know nothing of before, and catch it up no more."""
    registry = Registry()
    first, second = registry.publish(1, tally(), ms(50), 0), registry.publish(1, tally(by=(by,)), 0, 0)
    other = registry.publish(2, tally(by=(by,)), 0, 0)
    clear_it = registry.clear_rule(1)
    outcome = play(first, pay(1, 0), pay(2, 1), clear_it, pay(3, 2), second, other, pay(4, 3))
    # Of the second version catch-up finds the third payment alone.
    assert rows(outcome) == [(1, "1"), (2, "1"), (2, "2"), (2, "3"), (1, "2"), (2, "4")]


def test_a_rule_that_is_caught_up_again_has_forgotten_what_it_judged() -> None:
    registry = Registry()
    first, second = registry.publish(1, tally(), ms(50), 0), registry.publish(1, tally(), 0, 0)
    outcome = play(first, pay(1, 0), second, registry.clear_rule(1), pay(2, 1))
    assert rows(outcome) == [(1, "1"), (1, "1")]


def test_a_chained_rule_is_cleared_whole() -> None:
    registry = Registry()
    several = chained(Branch("any", (tally(), tally(by=("payeeId", "paymentType")))))
    rule = registry.publish(1, several, 0, 0)
    outcome = play(rule, pay(1, 0), registry.clear_rule(1), pay(2, 1))
    conditions: list[Any] = [alert["conditions"] for alert in outcome.alerts]
    values = [[condition["value"] for condition in of_one] for of_one in conditions]
    assert values == [["1", "1"], ["1", "1"]]


def test_warm_one_window_after_the_clock_and_the_skew() -> None:
    registry = Registry()
    small = registry.change_settings(SMALL, 0)
    first, other = registry.publish(1, tally(), 0, 0), registry.publish(2, tally(), 0, 0)
    pauses = [registry.move("RulePaused", "PAUSED", rule_id, 0) for rule_id in (1, 2)]
    later = registry.publish(1, tally(), 0, 0)
    outcome = play(small, first, other, 100, 200, registry.clear_rule(1), *pauses, later, 300)
    assert warm_from(outcome) == [(1, None), (2, None), (1, 4100), (2, 3700), (1, 4100)]


def test_before_the_first_tick_it_makes_nothing_colder() -> None:
    registry = Registry()
    rule, pause = registry.publish(1, tally(), 0, 0), registry.move("RulePaused", "PAUSED", 1, 0)
    assert warm_from(play(rule, registry.clear_rule(1), 100, pause)) == [(1, None), (1, 3700)]


def test_the_higher_of_two_clears_counts() -> None:
    registry = Registry()
    rule, pause = registry.publish(1, tally(), 0, 0), registry.move("RulePaused", "PAUSED", 1, 0)
    lowered = registry.change_settings(replace(SMALL, max_future_skew=0), 0)
    outcome = play(
        rule,
        100,
        registry.clear_rule(1),
        lowered,
        registry.clear_rule(1),
        registry.control("CLEAR_STATE_ALL", 0),
        pause,
    )
    assert warm_from(outcome) == [(1, None), (1, 4000)]


BUCKETS = tally(bucket=60)


def test_a_bucketed_rule_begins_new_buckets() -> None:
    registry = Registry()
    small = registry.change_settings(SMALL, 0)
    first, changed = registry.publish(1, BUCKETS, 0, 0), registry.publish(1, replace(BUCKETS, limit=2), 0, 0)
    outcome = play(
        small, first, pay(1, 0), 200, registry.clear_rule(1), pay(2, 201), 400, changed, pay(3, 401)
    )
    # A later version shares the new ones.
    assert rows(outcome) == [(1, "1"), (1, "1"), (1, "2")]


def test_no_rule_that_was_not_cleared_there_shares_them() -> None:
    registry = Registry()
    small = registry.change_settings(SMALL, 0)
    events: list[Part] = [small, registry.publish(1, BUCKETS, 0, 0), registry.publish(2, BUCKETS, 0, 0)]
    third = registry.publish(3, BUCKETS, ms(201), 0)
    outcome = play(*events, pay(1, 0), 200, registry.clear_rule(1), third, pay(2, 201))
    assert rows(outcome) == [(1, "1"), (2, "1"), (1, "1"), (2, "2"), (3, "2")]
    # Nor with another that is cleared elsewhere, nor with what was cleared before it was bucketed.
    exact, bucketed = registry.publish(4, tally(), 0, 0), registry.publish(4, BUCKETS, ms(201), 0)
    clears = [registry.clear_rule(1), registry.clear_rule(4)]
    outcome = play(*events, exact, pay(1, 0), 200, *clears, third, bucketed, pay(2, 201))
    assert rows(outcome)[3:] == [(1, "1"), (2, "2"), (3, "2"), (4, "1")]


def test_warm_as_of_the_new_buckets() -> None:
    registry = Registry()
    small = registry.change_settings(replace(SMALL, max_future_skew=0), 0)
    rule, pause = registry.publish(1, BUCKETS, 0, 0), registry.move("RulePaused", "PAUSED", 1, 0)
    outcome = play(small, rule, 100, registry.clear_rule(1), pause, 5000, pause)
    # From 120, the first bucket after 100. At 5000 their floor is 5000 - 20 - 3660, so 1320.
    assert warm_from(outcome) == [(1, None), (1, 3720), (1, 4920)]
