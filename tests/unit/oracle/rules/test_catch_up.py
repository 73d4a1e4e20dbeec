"""A version whose effectiveFrom lies in the past first judges what no version was in force for."""

from __future__ import annotations

import pytest

from tests.oracle import Outcome, Record
from tests.oracle.builders.drafts import Draft
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.oracle.values.model import Json
from tests.unit.oracle.support.agreement import judge

T = 1_700_000_000_000
MINUTE = 60_000
SLACK = 15 * MINUTE
EACH = draft("COUNT", ">=", "1", by=("payeeId",), seconds=60)


def alert_rows(outcome: Outcome) -> list[tuple[object, object, object, object]]:
    """Event time after T, version, value and partial of each alert."""
    told: list[tuple[object, object, object, object]] = []
    for alert in outcome.alerts:
        assert isinstance(alert["eventTime"], int)
        told.append((alert["eventTime"] - T, alert["ruleVersion"], alert["value"], alert["partial"]))
    return told


def outcome_of(*steps: bytes | Record) -> Outcome:
    """Each step a micro-batch of its own."""
    batches = [batch(events=[step]) if isinstance(step, bytes) else batch(records=[step]) for step in steps]
    return judge(batches)


def test_exactly_from_effective_from_on() -> None:
    rule = Registry().publish(1, EACH, T, 0)
    outcome = outcome_of(payment(1, T - 1), payment(2, T), payment(3, T + 1), rule, payment(4, T + 2))
    assert alert_rows(outcome) == [(0, 1, "2", True), (1, 1, "3", True), (2, 1, "4", False)]


def test_without_catch_up_only_what_comes_later() -> None:
    rule = Registry().publish(1, EACH, T, 0)
    batches = [batch(records=[payment(1, T)]), batch(events=[rule], records=[payment(2, T)])]
    assert alert_rows(judge(batches, catch_up=False)) == [(0, 1, "2", False)]


def test_the_same_alerts_whoever_won_the_race() -> None:
    rule = Registry().publish(1, EACH, T, 0)
    records = [payment(n, T + n) for n in range(3)]
    orders: list[tuple[bytes | Record, ...]] = [
        (*records, rule),
        (rule, *records),
        (records[0], rule, *records[1:]),
    ]
    told = [
        {alert["alertId"]: (alert["value"], alert["contributors"]) for alert in outcome_of(*steps).alerts}
        for steps in orders
    ]
    assert told[0] == told[1] == told[2]
    assert len(told[0]) == 3


def test_each_over_what_was_accepted_before_it() -> None:
    late = payment(2, T, record_time=T + 10)
    outcome = outcome_of(payment(1, T + 10), late, payment(3, T + 20), Registry().publish(1, EACH, 0, 0))
    assert alert_rows(outcome) == [(10, 1, "1", True), (0, 1, "1", True), (20, 1, "3", True)]
    assert [alert["late"] for alert in outcome.alerts] == [None, {"newestEventTime": T + 10}, None]


def test_those_judged_before_stay() -> None:
    registry = Registry()
    outcome = outcome_of(
        payment(1, T - 2),
        payment(2, T),
        registry.publish(1, EACH, T, 0),
        payment(3, T + 1),
        payment(4, T - 1, record_time=T + 1),
        registry.publish(1, EACH, T - 2, 0),
    )
    assert alert_rows(outcome) == [
        (0, 1, "2", True),
        (1, 1, "3", False),
        (-2, 2, "1", True),
        (-1, 2, "2", True),
    ]


def test_without_a_version_in_force_the_first_that_reaches_it_judges() -> None:
    # The second version has another grouping, under which the first payment has no group.
    registry = Registry()
    by_beneficiary = draft("COUNT", ">=", "1", by=("beneficiaryId",), seconds=60)
    no_payee: dict[str, Json] = {"payeeId": None}
    steps = (registry.publish(1, EACH, 0, 0), registry.publish(1, by_beneficiary, 0, 0))
    assert alert_rows(outcome_of(payment(1, T, more=no_payee), *steps)) == []
    assert alert_rows(outcome_of(payment(1, T), *steps)) == [(0, 1, "1", True)]


def test_a_rule_taken_while_paused_catches_up_nothing_for_ever() -> None:
    registry = Registry()
    outcome = outcome_of(
        payment(1, T),
        registry.publish(1, EACH, T + 5, 0),
        registry.move("RulePaused", "PAUSED", 1, 0),
        registry.publish(1, EACH, T, 0),
        payment(2, T + 1),
        registry.move("RuleResumed", "ACTIVE", 1, 0),
        registry.publish(1, EACH, T - 5, 0),
        payment(3, T + 2),
    )
    assert alert_rows(outcome) == [(2, 5, "3", False)]


def test_a_first_definition_that_is_paused_catches_up_nothing() -> None:
    registry = Registry()
    steps = (registry.publish(1, EACH, 0, 0, paused=True), registry.move("RuleResumed", "ACTIVE", 1, 0))
    assert alert_rows(outcome_of(payment(1, T), *steps, payment(2, T))) == [(0, 1, "2", False)]


def test_what_a_pause_had_nothing_to_skip_of_is_caught_up() -> None:
    registry = Registry()
    outcome = outcome_of(
        registry.publish(1, EACH, T + 5, 0),
        registry.move("RulePaused", "PAUSED", 1, 0),
        payment(1, T),
        payment(2, T + 5),
        registry.move("RuleResumed", "ACTIVE", 1, 0),
        registry.publish(1, EACH, T, 0),
    )
    assert alert_rows(outcome) == [(0, 4, "1", True)]


def test_a_pause_right_after_takes_back_nothing() -> None:
    registry = Registry()
    events = [registry.publish(1, EACH, T, 0), registry.move("RulePaused", "PAUSED", 1, 0)]
    outcome = judge([batch(records=[payment(1, T)]), batch(events=events, records=[payment(2, T)])])
    assert alert_rows(outcome) == [(0, 1, "1", True)]


def test_effective_from_ahead_of_the_clock_still_reaches_early_ones() -> None:
    early = payment(1, T + 5 * MINUTE, record_time=T)
    outcome = outcome_of(early, Registry().publish(1, EACH, T + 5 * MINUTE, T))
    assert alert_rows(outcome) == [(5 * MINUTE, 1, "1", True)]


def test_before_the_rest_of_its_micro_batch_and_by_position() -> None:
    registry = Registry()
    events = [registry.publish(2, EACH, 0, 0), registry.publish(1, EACH, 0, 0)]
    clock = T + SLACK + 1
    outcome = judge(
        [batch(records=[payment(1, T)]), batch(events=events, ticks=[clock], records=[payment(2, clock)])],
    )
    assert [(alert["ruleId"], alert["partial"]) for alert in outcome.alerts] == [
        (2, True),
        (1, True),
        (1, False),
        (2, False),
    ]


@pytest.mark.parametrize(("past", "expected"), [(0, [(0, 1, "1", True)]), (1, [])])
def test_only_visible_ones(past: int, expected: list[object]) -> None:
    # No rule kept history: visible is what lies at most the slack behind the clock.
    batches = [
        batch(ticks=[T], records=[payment(1, T)]),
        batch(ticks=[T + SLACK + past]),
        batch(events=[Registry().publish(1, EACH, 0, 0)]),
    ]
    assert alert_rows(judge(batches)) == expected


def test_a_window_in_catch_up_holds_visible_ones_only() -> None:
    wide = draft("COUNT", ">=", "1", by=("payeeId",), seconds=7200)
    batches = [
        batch(ticks=[T], records=[payment(1, T), payment(2, T + 1)]),
        batch(ticks=[T + SLACK + 1]),
        batch(events=[Registry().publish(1, wide, 0, 0)]),
    ]
    assert alert_rows(judge(batches)) == [(1, 1, "1", True)]


def test_rejects_and_duplicates_are_not_caught_up() -> None:
    again = payment(1, T + 1)
    outcome = outcome_of(
        payment(1, T), again, payment(2, T, record_time=T + SLACK), Registry().publish(1, EACH, 0, 0)
    )
    assert alert_rows(outcome) == [(0, 1, "1", True)]


def firing(limit: str, firing_: str, *, reset: bool = False, late: str = "evaluate") -> Draft:
    return draft(
        "COUNT", ">=", limit, by=("payeeId",), seconds=60, firing=firing_, reset=reset, late_events=late
    )


def test_firing_state_made_in_catch_up_goes_on() -> None:
    crossing = Registry().publish(1, firing("2", "crossing"), T, 0)
    records = [payment(n, T + n) for n in range(4)]
    assert alert_rows(outcome_of(*records[:3], crossing, records[3])) == [(1, 1, "2", True)]
    reset = Registry().publish(1, firing("2", "every", reset=True), T, 0)
    assert alert_rows(outcome_of(*records[:3], reset, records[3])) == [(1, 1, "2", True), (3, 1, "2", False)]


def test_late_ones_are_stored_in_catch_up_too() -> None:
    records = [payment(1, T + 9), payment(2, T, record_time=T + 9), payment(3, T + 10)]
    rule = Registry().publish(1, firing("1", "every", late="store"), 0, 0)
    assert alert_rows(outcome_of(*records, rule)) == [(9, 1, "1", True), (10, 1, "3", True)]


def test_a_partial_alert_carries_what_the_rule_uses() -> None:
    only: Json = {"not": {"field": "ingestionTimestamp", "operator": ">", "value": 5}}
    rule = draft("SUM", ">=", "1", by=("beneficiaryId",), seconds=60, only=only)
    (alert,) = outcome_of(payment(1, T, "2.50"), Registry().publish(1, rule, 0, 0)).alerts
    assert alert["transaction"] == {
        "transactionId": "t1",
        "eventTime": T,
        "beneficiaryId": "12",
        "paymentAmount": "2.5",
        "ingestionTimestamp": None,
    }
    assert (alert["partial"], alert["ingestedAt"], alert["mode"]) == (True, None, "live")
    count = draft("COUNT", ">=", "1", by=(), seconds=60)
    (alert,) = outcome_of(payment(1, T), Registry().publish(1, count, 0, 0)).alerts
    assert alert["transaction"] == {"transactionId": "t1", "eventTime": T}


@pytest.mark.parametrize(("after", "warm"), [(MINUTE - 1, False), (MINUTE, True)])
def test_warm_as_when_it_is_judged(after: int, warm: bool) -> None:
    batches = [
        batch(ticks=[T], records=[payment(1, T + after)]),
        batch(events=[Registry().publish(1, EACH, 0, 0)]),
    ]
    assert [alert["warm"] for alert in judge(batches).alerts] == [warm]
