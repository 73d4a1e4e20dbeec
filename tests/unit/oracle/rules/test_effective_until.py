"""From its effectiveUntil on a version judges nothing, and is in force all the same."""

from __future__ import annotations

import json

import pytest

from tests.oracle import Outcome, Record
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.oracle.values.model import Json
from tests.unit.oracle.support.agreement import judge

T = 1_700_000_000_000
EACH = draft("COUNT", ">=", "1", by=("payeeId",), seconds=60)


def judged(outcome: Outcome) -> list[tuple[object, object, object]]:
    """Event time after T, version and value of each alert."""
    told: list[tuple[object, object, object]] = []
    for alert in outcome.alerts:
        assert isinstance(alert["eventTime"], int)
        told.append((alert["eventTime"] - T, alert["ruleVersion"], alert["value"]))
    return told


def outcome_of(*steps: bytes | Record) -> Outcome:
    """Each step a micro-batch of its own."""
    batches = [batch(events=[step]) if isinstance(step, bytes) else batch(records=[step]) for step in steps]
    return judge(batches)


def test_it_judges_to_just_before_its_end() -> None:
    rule = Registry().publish(1, EACH, 0, 0, effective_until=T + 2)
    records = [payment(n, T + n) for n in range(1, 4)]
    assert judged(outcome_of(rule, *records)) == [(1, 1, "1")]


def test_a_late_one_from_before_the_end_is_judged_after_it() -> None:
    rule = Registry().publish(1, EACH, 0, 0, effective_until=T + 2)
    outcome = outcome_of(rule, payment(1, T + 5), payment(2, T + 1, record_time=T + 6))
    assert judged(outcome) == [(1, 1, "1")]


def test_no_older_version_comes_back() -> None:
    registry = Registry()
    first = registry.publish(1, EACH, 0, 0)
    second = registry.publish(1, EACH, T, 0, effective_until=T + 1)
    records = [payment(n, time) for n, time in enumerate((T - 1, T, T + 1, T + 2))]
    assert [row[:2] for row in judged(outcome_of(first, second, *records))] == [(-1, 1), (0, 2)]


def test_a_version_that_ends_before_it_begins_judges_nothing() -> None:
    registry = Registry()
    first, second = registry.publish(1, EACH, 0, 0), registry.publish(1, EACH, T, 0, effective_until=T - 5)
    assert [row[:2] for row in judged(outcome_of(first, second, payment(1, T - 1), payment(2, T)))] == [
        (-1, 1)
    ]


def test_catch_up_ends_there_too() -> None:
    rule = Registry().publish(1, EACH, T, 0, effective_until=T + 2)
    records = [payment(n, T + n) for n in range(-1, 4)]
    assert judged(outcome_of(*records, rule)) == [(0, 1, "2"), (1, 1, "3")]


def test_what_an_end_let_pass_no_later_version_catches_up() -> None:
    registry = Registry()
    outcome = outcome_of(
        registry.publish(1, EACH, T, 0, effective_until=T + 2),
        payment(1, T + 1),
        payment(2, T + 3),
        registry.publish(1, EACH, T - 9, 0),
        payment(3, T + 4),
    )
    assert [row[:2] for row in judged(outcome)] == [(1, 1), (4, 2)]


def test_history_from_after_the_end_counts_for_the_next_version() -> None:
    registry = Registry()
    outcome = outcome_of(
        registry.publish(1, EACH, 0, 0, effective_until=T),
        payment(1, T + 1),
        registry.publish(1, EACH, T + 2, 0),
        payment(2, T + 2),
    )
    assert judged(outcome) == [(2, 2, "2")]


@pytest.mark.parametrize("wrong", [None, "5", 1.5, True, 2**53], ids=str)
def test_an_end_that_is_no_time_makes_the_event_unreadable(wrong: Json) -> None:
    event = json.loads(Registry().publish(1, EACH, 0, 0))
    raw = json.dumps(event | {"effectiveUntil": wrong}).encode()
    outcome = outcome_of(raw, payment(1, T))
    assert judged(outcome) == []
    assert outcome_of(Registry().publish(1, EACH, 0, 0, effective_until=T + 1), payment(1, T)).alerts
