"""CLEAR_RULE and CLEAR_GROUP (decision 0039), each sentence by a case small enough to do by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.oracle import MicroBatch, Outcome, Record, judge
from tests.oracle.builders.drafts import Branch, Draft, chained
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import Part, draft, one_by_one, payment
from tests.oracle.malformed.operator_commands import wrong_commands
from tests.oracle.parsers.rule_events import Settings
from tests.oracle.values.model import Json

T = 472_223 * 3_600_000
# What is accepted is at most 20 seconds behind the clock.
SMALL = Settings(allowed_lateness=10_000, max_future_skew=300_000, max_disorder=10_000)
PAYEE = {"payeeId": "25"}


def ms(seconds: float) -> int:
    return T + round(1000 * seconds)


def at(offset: int, seconds: float, amount: str = "1", accepted: float | None = None, **more: Json) -> Record:
    """A payment at T + seconds, on record at T + accepted where that is later."""
    later = seconds if accepted is None else accepted
    return payment(offset, ms(seconds), amount, record_time=ms(later), more=dict(more))


def steps(*parts: Part) -> Outcome:
    """Rule events, payments and ticks, in seconds after T."""
    return judge(one_by_one(T, *parts))


def each(by: tuple[str, ...] = ("payeeId",), **more: Any) -> Draft:
    """An alert for every payment, with how many there are in an hour."""
    return draft("COUNT", ">=", "1", by=by, seconds=3600, **more)


def told(outcome: Outcome) -> list[tuple[object, object]]:
    """Rule and value of each alert."""
    return [(alert["ruleId"], alert["value"]) for alert in outcome.alerts]


def warm_from(outcome: Outcome) -> list[tuple[object, object]]:
    """Rule and seconds after T of each status."""
    return [
        (status["ruleId"], None if status["warmFrom"] is None else (int(str(status["warmFrom"])) - T) / 1000)
        for status in outcome.statuses
    ]


def clear(registry: Registry, kind: str) -> bytes:
    return registry.clear_rule(1) if kind == "rule" else registry.clear_group(1, PAYEE)


BOTH = pytest.mark.parametrize("kind", ["rule", "group"])


# --- what both do


@BOTH
def test_what_was_accepted_before_is_as_if_it_had_never_been(kind: str) -> None:
    registry = Registry()
    events = [registry.publish(1, each(), 0, 0), registry.publish(2, each(), 0, 0)]
    outcome = steps(*events, at(1, 0), at(2, 10), clear(registry, kind), at(3, 5, accepted=10), at(4, 10))
    first = [(alert["value"], alert["late"]) for alert in outcome.alerts if alert["ruleId"] == 1]
    # The third is not late, and has nothing before it; the fourth has the third.
    assert first == [("1", None), ("2", None), ("1", None), ("2", None)]
    # For another rule nothing has happened.
    other = [(alert["value"], alert["late"]) for alert in outcome.alerts if alert["ruleId"] == 2]
    assert other == [("1", None), ("2", None), ("2", {"newestEventTime": ms(10)}), ("4", None)]


@BOTH
def test_at_its_place_in_the_order(kind: str) -> None:
    registry = Registry()
    rule = registry.publish(1, each(), 0, 0)
    command = clear(registry, kind)
    again = registry.publish(1, each(), 0, 0)
    whole = MicroBatch((rule, command, again), (), (at(1, 0), at(2, 1)))
    # Before the transactions of its micro-batch; once, however often it comes.
    outcome = judge([whole, MicroBatch((command,), (), (at(3, 2),))])
    assert told(outcome) == [(1, "1"), (1, "2"), (1, "3")]


@BOTH
def test_ids_stay_known(kind: str) -> None:
    registry = Registry()
    outcome = steps(registry.publish(1, each(), 0, 0), at(1, 0), clear(registry, kind), at(1, 0))
    assert told(outcome) == [(1, "1")]
    assert (outcome.duplicates, outcome.counts[1].duplicates) == (3, 1)


@BOTH
def test_crossings_are_forgotten(kind: str) -> None:
    registry = Registry()
    rule = registry.publish(1, each(firing="crossing"), 0, 0)
    assert len(steps(rule, at(1, 0), at(2, 1)).alerts) == 1
    assert told(steps(rule, at(1, 0), clear(registry, kind), at(2, 1))) == [(1, "1"), (1, "1")]


@BOTH
def test_cooldowns_are_forgotten(kind: str) -> None:
    registry = Registry()
    rule = registry.publish(1, each(cooldown=60), 0, 0)
    assert len(steps(rule, at(1, 0), at(2, 1)).alerts) == 1
    assert told(steps(rule, at(1, 0), clear(registry, kind), at(2, 1))) == [(1, "1"), (1, "1")]


@BOTH
def test_resets_go_on_from_nothing(kind: str) -> None:
    registry = Registry()
    rule = registry.publish(1, draft("COUNT", ">=", "2", by=("payeeId",), reset=True), 0, 0)
    records = [at(number, number) for number in range(1, 6)]
    outcome = steps(rule, *records[:3], clear(registry, kind), *records[3:])
    # Without it the third and the fourth would be the second two.
    assert [alert["eventTime"] for alert in outcome.alerts] == [ms(2), ms(5)]


@BOTH
def test_nothing_from_before_is_judged_again(kind: str) -> None:
    registry = Registry()
    what = draft("COUNT", ">=", "2", by=("payeeId",), seconds=60, late_events="reevaluate")
    rule = registry.publish(1, what, 0, 0)
    late = at(2, 5, accepted=10)
    assert told(steps(rule, at(1, 10), late)) == [(1, "2")]
    outcome = steps(rule, at(1, 10), clear(registry, kind), late, at(3, 11), at(4, 4, accepted=11))
    # The third and the fourth with the second: all of after the clear.
    assert [alert["eventTime"] for alert in outcome.alerts] == [ms(11), ms(5)]
    assert outcome.counts[1].reevaluated == 1


@BOTH
def test_no_status_comes_of_it(kind: str) -> None:
    registry = Registry()
    outcome = steps(registry.publish(1, each(), 0, 0), clear(registry, kind))
    assert (len(outcome.statuses), outcome.skipped_rule_events, outcome.exports) == (1, 0, [])


@BOTH
def test_of_a_paused_rule_it_works(kind: str) -> None:
    registry = Registry()
    rule, pause = registry.publish(1, each(), 0, 0), registry.move("RulePaused", "PAUSED", 1, 0)
    resume = registry.move("RuleResumed", "ACTIVE", 1, 0)
    outcome = steps(rule, at(1, 0), pause, clear(registry, kind), resume, at(2, 1))
    assert told(outcome) == [(1, "1"), (1, "1")]


@BOTH
def test_of_an_unknown_rule_or_a_deleted_one_it_does_nothing(kind: str) -> None:
    registry = Registry()
    command = clear(registry, kind)
    rule = registry.publish(1, each(), 0, 0)
    # Before the rule is there; what it is then made over is all there.
    outcome = steps(at(1, 0), command, rule, at(2, 1))
    assert (told(outcome), outcome.skipped_rule_events) == ([(1, "1"), (1, "2")], 0)
    gone = registry.move("RuleDeleted", "DELETED", 1, 0)
    outcome = steps(rule, at(1, 0), gone, command, at(2, 1))
    assert (told(outcome), outcome.skipped_rule_events) == ([(1, "1")], 0)


def test_what_cannot_be_read_is_skipped() -> None:
    registry = Registry()
    rule = registry.publish(1, each(), 0, 0)
    for wrong in wrong_commands(registry, 0):
        outcome = steps(rule, at(1, 0), _raw(wrong), at(2, 1))
        assert (told(outcome), outcome.skipped_rule_events) == ([(1, "1"), (1, "2")], 1), wrong


def _raw(event: dict[str, Json]) -> bytes:
    return json.dumps(event).encode()


# --- CLEAR_RULE


def test_all_versions_and_all_groups_are_cleared() -> None:
    registry = Registry()
    first, second = registry.publish(1, each(), 0, 0), registry.publish(1, each(), ms(100), 0)
    before = [at(1, 0), at(2, 0, payeeId=7), at(3, 100)]
    after = [at(4, 99, accepted=100), at(5, 100), at(6, 100, payeeId=7)]
    outcome = steps(first, second, *before, registry.clear_rule(1), *after)
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
    first, second = registry.publish(1, each(), ms(50), 0), registry.publish(1, each(by=(by,)), 0, 0)
    other = registry.publish(2, each(by=(by,)), 0, 0)
    clear_it = registry.clear_rule(1)
    outcome = steps(first, at(1, 0), at(2, 1), clear_it, at(3, 2), second, other, at(4, 3))
    # Of the second version catch-up finds the third payment alone.
    assert told(outcome) == [(1, "1"), (2, "1"), (2, "2"), (2, "3"), (1, "2"), (2, "4")]


def test_a_rule_that_is_caught_up_again_has_forgotten_what_it_judged() -> None:
    registry = Registry()
    first, second = registry.publish(1, each(), ms(50), 0), registry.publish(1, each(), 0, 0)
    outcome = steps(first, at(1, 0), second, registry.clear_rule(1), at(2, 1))
    assert told(outcome) == [(1, "1"), (1, "1")]


def test_a_chained_rule_is_cleared_whole() -> None:
    registry = Registry()
    several = chained(Branch("any", (each(), each(by=("payeeId", "paymentType")))))
    rule = registry.publish(1, several, 0, 0)
    outcome = steps(rule, at(1, 0), registry.clear_rule(1), at(2, 1))
    conditions: list[Any] = [alert["conditions"] for alert in outcome.alerts]
    values = [[found["value"] for found in of_one] for of_one in conditions]
    assert values == [["1", "1"], ["1", "1"]]


def test_warm_one_window_after_the_clock_and_the_skew() -> None:
    registry = Registry()
    small = registry.change_settings(SMALL, 0)
    first, other = registry.publish(1, each(), 0, 0), registry.publish(2, each(), 0, 0)
    pauses = [registry.move("RulePaused", "PAUSED", rule_id, 0) for rule_id in (1, 2)]
    later = registry.publish(1, each(), 0, 0)
    outcome = steps(small, first, other, 100, 200, registry.clear_rule(1), *pauses, later, 300)
    assert warm_from(outcome) == [(1, None), (2, None), (1, 4100), (2, 3700), (1, 4100)]


def test_before_the_first_tick_it_makes_nothing_colder() -> None:
    registry = Registry()
    rule, pause = registry.publish(1, each(), 0, 0), registry.move("RulePaused", "PAUSED", 1, 0)
    assert warm_from(steps(rule, registry.clear_rule(1), 100, pause)) == [(1, None), (1, 3700)]


def test_the_higher_of_two_clears_counts() -> None:
    registry = Registry()
    rule, pause = registry.publish(1, each(), 0, 0), registry.move("RulePaused", "PAUSED", 1, 0)
    lowered = registry.change_settings(replace(SMALL, max_future_skew=0), 0)
    outcome = steps(
        rule,
        100,
        registry.clear_rule(1),
        lowered,
        registry.clear_rule(1),
        registry.control("CLEAR_STATE_ALL", 0),
        pause,
    )
    assert warm_from(outcome) == [(1, None), (1, 4000)]


BUCKETS = each(bucket=60)


def test_a_bucketed_rule_begins_new_buckets() -> None:
    registry = Registry()
    small = registry.change_settings(SMALL, 0)
    first, changed = registry.publish(1, BUCKETS, 0, 0), registry.publish(1, replace(BUCKETS, limit=2), 0, 0)
    outcome = steps(small, first, at(1, 0), 200, registry.clear_rule(1), at(2, 201), 400, changed, at(3, 401))
    # A later version shares the new ones.
    assert told(outcome) == [(1, "1"), (1, "1"), (1, "2")]


def test_no_rule_that_was_not_cleared_there_shares_them() -> None:
    registry = Registry()
    small = registry.change_settings(SMALL, 0)
    events: list[Part] = [small, registry.publish(1, BUCKETS, 0, 0), registry.publish(2, BUCKETS, 0, 0)]
    third = registry.publish(3, BUCKETS, ms(201), 0)
    outcome = steps(*events, at(1, 0), 200, registry.clear_rule(1), third, at(2, 201))
    assert told(outcome) == [(1, "1"), (2, "1"), (1, "1"), (2, "2"), (3, "2")]
    # Nor with another that is cleared elsewhere, nor with what was cleared before it was bucketed.
    exact, bucketed = registry.publish(4, each(), 0, 0), registry.publish(4, BUCKETS, ms(201), 0)
    clears = [registry.clear_rule(1), registry.clear_rule(4)]
    outcome = steps(*events, exact, at(1, 0), 200, *clears, third, bucketed, at(2, 201))
    assert told(outcome)[3:] == [(1, "1"), (2, "2"), (3, "2"), (4, "1")]


def test_warm_as_of_the_new_buckets() -> None:
    registry = Registry()
    small = registry.change_settings(replace(SMALL, max_future_skew=0), 0)
    rule, pause = registry.publish(1, BUCKETS, 0, 0), registry.move("RulePaused", "PAUSED", 1, 0)
    outcome = steps(small, rule, 100, registry.clear_rule(1), pause, 5000, pause)
    # From 120, the first bucket after 100. At 5000 their floor is 5000 - 20 - 3660, so 1320.
    assert warm_from(outcome) == [(1, None), (1, 3720), (1, 4920)]


# --- CLEAR_GROUP


def test_other_groups_stay() -> None:
    registry = Registry()
    records = [at(1, 0), at(2, 0, payeeId=7)]
    after = [at(3, 1), at(4, 1, payeeId=7)]
    outcome = steps(registry.publish(1, each(), 0, 0), *records, registry.clear_group(1, PAYEE), *after)
    assert [alert["value"] for alert in outcome.alerts] == ["1", "1", "1", "2"]


@pytest.mark.parametrize(
    ("by", "group"),
    [
        ((), {}),
        (("paymentAmount",), {"paymentAmount": "1"}),
        (("beneficiaryId", "paymentType"), {"paymentType": "CSH", "beneficiaryId": "12"}),
    ],
)
def test_groups_of_any_fields(by: tuple[str, ...], group: dict[str, Json]) -> None:
    registry = Registry()
    rule = registry.publish(1, each(by=by), 0, 0)
    outcome = steps(rule, at(1, 0), registry.clear_group(1, group), at(2, 1, "1.0"))
    assert told(outcome) == [(1, "1"), (1, "1")]


def test_the_warm_floor_stays() -> None:
    registry = Registry()
    rule, pause = registry.publish(1, each(), 0, 0), registry.move("RulePaused", "PAUSED", 1, 0)
    outcome = steps(rule, 100, registry.clear_group(1, PAYEE), pause)
    assert warm_from(outcome) == [(1, None), (1, 3700)]


def test_for_the_versions_that_are_held_and_no_later_one() -> None:
    registry = Registry()
    first, second = registry.publish(1, each(), 0, 0), registry.publish(1, each(), ms(100), 0)
    third = registry.publish(1, each(), ms(200), 0)
    records = [at(1, 0), at(2, 99, accepted=100), at(3, 100), at(4, 200)]
    outcome = steps(
        first, second, records[0], registry.clear_group(1, PAYEE), *records[1:3], third, records[3]
    )
    # Both that were there have forgotten the first; the one that came later sees all.
    assert [(alert["ruleVersion"], alert["value"]) for alert in outcome.alerts] == [
        (1, "1"),
        (1, "1"),
        (2, "2"),
        (3, "4"),
    ]


def test_a_later_version_catches_up_what_was_cleared_of_others() -> None:
    registry = Registry()
    first, second = registry.publish(1, each(), ms(50), 0), registry.publish(1, each(), 0, 0)
    outcome = steps(first, at(1, 0), registry.clear_group(1, PAYEE), second)
    assert told(outcome) == [(1, "1")]


def test_only_for_versions_that_group_by_these_fields() -> None:
    registry = Registry()
    first = registry.publish(1, each(by=("beneficiaryId",)), 0, 0)
    second = registry.publish(1, each(), ms(100), 0)
    records = [at(1, 0), at(2, 99, accepted=100), at(3, 100)]
    outcome = steps(first, second, records[0], registry.clear_group(1, PAYEE), *records[1:])
    assert [(alert["ruleVersion"], alert["value"]) for alert in outcome.alerts] == [
        (1, "1"),
        (1, "2"),
        (2, "2"),
    ]


def test_two_clears_of_one_group() -> None:
    registry = Registry()
    rule, command = registry.publish(1, each(), 0, 0), registry.clear_group(1, PAYEE)
    outcome = steps(rule, at(1, 0), command, at(2, 1), command, at(3, 2), at(4, 3))
    assert [alert["value"] for alert in outcome.alerts] == ["1", "1", "1", "2"]
