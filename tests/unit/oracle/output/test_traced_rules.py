"""Traces of rules that are paused, deleted, unknown or defined anew."""

from __future__ import annotations

import pytest

from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch
from tests.unit.oracle.support.agreement import judge
from tests.unit.oracle.support.traces import FAR, T, count, pay, rows


def test_a_paused_rule_has_no_records_and_has_them_again_when_it_is_resumed() -> None:
    registry = Registry()
    batches = [
        batch(events=[registry.publish(1, count(), 0, 0), registry.trace(1, FAR, 0)], records=[pay(1)]),
        batch(events=[registry.move("RulePaused", "PAUSED", 1, 0)], records=[pay(2)]),
        batch(events=[registry.move("RuleResumed", "ACTIVE", 1, 0)], records=[pay(3)]),
    ]
    assert rows(batches, "transactionId", "version") == [("t1", 1), ("t3", 1)]


def test_a_command_for_a_paused_rule_counts_when_it_is_resumed() -> None:
    registry = Registry()
    paused = [registry.publish(1, count(), 0, 0, paused=True), registry.trace(1, FAR, 0)]
    batches = [
        batch(events=paused, records=[pay(1)]),
        batch(events=[registry.move("RuleResumed", "ACTIVE", 1, 0)], records=[pay(2)]),
    ]
    assert rows(batches, "transactionId") == ["t2"]


def test_deletion_ends_it_and_a_deleted_rule_is_not_traced() -> None:
    registry = Registry()
    batches = [
        batch(events=[registry.publish(1, count(), 0, 0), registry.trace(1, FAR, 0)], records=[pay(1)]),
        batch(events=[registry.move("RuleDeleted", "DELETED", 1, 0)], records=[pay(2)]),
        batch(events=[registry.trace(1, FAR, 0), registry.publish(1, count(), 0, 0)], records=[pay(3)]),
    ]
    assert rows(batches, "transactionId") == ["t1"]


def test_a_command_for_an_unknown_rule_has_no_effect_on_the_rule_that_comes() -> None:
    registry = Registry()
    events = [registry.trace(1, FAR, 0), registry.publish(1, count(), 0, 0)]
    outcome = judge([batch(events=events, records=[pay(1)])])
    assert (len(outcome.alerts), outcome.traces, outcome.skipped_rule_events) == (1, [], 0)


def test_a_rule_is_known_right_after_its_publication_in_force_or_not() -> None:
    registry = Registry()
    events = [registry.publish(1, count(), T + 5, 0), registry.trace(1, FAR, 0)]
    assert rows([batch(events=events, records=[pay(1, 4), pay(2, 5)])], "transactionId") == ["t2"]


def test_every_version_of_the_rule_is_traced() -> None:
    registry = Registry()
    events = [
        registry.publish(1, count(1), 0, 0),
        registry.trace(1, FAR, 0),
        registry.publish(1, count(9), T + 10, 0),
    ]
    batches = [batch(events=events, records=[pay(1, 9), pay(2, 10)])]
    assert rows(batches, "transactionId", "version", "limit") == [("t1", 1, "1"), ("t2", 2, "9")]


@pytest.mark.parametrize("command", ["CLEAR_STATE_ALL", "CLEAR_STATE_ALL_STOP", "EXPORT_RULES_CURRENT"])
def test_no_other_command_ends_it(command: str) -> None:
    registry = Registry()
    batches = [
        batch(events=[registry.publish(1, count(), 0, 0), registry.trace(1, FAR, 0)], records=[pay(1)]),
        batch(events=[registry.control(command, 0)], records=[pay(2)]),
    ]
    cleared = "1" if command == "CLEAR_STATE_ALL" else "2"
    assert rows(batches, "transactionId", "value") == [("t1", "1"), ("t2", cleared)]
