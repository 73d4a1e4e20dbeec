"""The command that traces a rule: from when until when it counts, and when it cannot be read."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch
from tests.oracle.values.model import Json
from tests.unit.oracle.support.agreement import judge
from tests.unit.oracle.support.traces import FAR, T, count, pay, rows


def test_the_command_as_rules_v1_has_it() -> None:
    event = json.loads(Registry().trace(12, 1_763_640_300_000, 1_763_640_000_000))
    assert event["type"] == "ControlCommand"
    assert (event["command"], event["ruleId"], event["traceUntil"]) == ("TRACE_RULE", 12, 1_763_640_300_000)
    assert isinstance(event["commandId"], str)


def test_nothing_is_traced_without_a_command() -> None:
    rule = Registry().publish(1, count(), 0, 0)
    outcome = judge([batch(events=[rule], records=[pay(1)])])
    assert (len(outcome.alerts), outcome.traces) == (1, [])


def test_from_the_command_on() -> None:
    registry = Registry()
    batches = [
        batch(events=[registry.publish(1, count(), 0, 0)], records=[pay(1)]),
        batch(events=[registry.trace(1, FAR, 0)], records=[pay(2)]),
        batch(records=[pay(3)]),
    ]
    assert rows(batches, "transactionId") == ["t2", "t3"]


def test_what_was_on_record_before_the_command_was_given_is_traced_too() -> None:
    registry = Registry()
    events = [registry.publish(1, count(), 0, 0), registry.trace(1, FAR, T + 5)]
    assert rows([batch(events=events, records=[pay(1)])], "transactionId") == ["t1"]


def test_while_the_record_time_is_below_the_end_whatever_the_event_time() -> None:
    registry = Registry()
    events = [registry.publish(1, count(), 0, 0), registry.trace(1, T + 10, 0)]
    records = [pay(1, 20, accepted=9), pay(2, 5, accepted=10), pay(3, 5, accepted=11)]
    assert rows([batch(events=events, records=records)], "transactionId") == ["t1"]


def test_a_record_behind_the_end_does_not_end_it_for_those_before() -> None:
    registry = Registry()
    events = [registry.publish(1, count(), 0, 0), registry.trace(1, T + 10, 0)]
    batches = [batch(events=events, records=[pay(1, 10)]), batch(records=[pay(2, 9)])]
    assert rows(batches, "transactionId") == ["t2"]


@pytest.mark.parametrize(("second", "expected"), [(5, ["t1"]), (20, ["t1", "t2", "t3"]), (0, [])])
def test_a_later_command_replaces_the_former(second: int, expected: list[str]) -> None:
    registry = Registry()
    events = [
        registry.publish(1, count(), 0, 0),
        registry.trace(1, T + 10, 0),
        registry.trace(1, T + second, 0),
    ]
    records = [pay(1, 4), pay(2, 9), pay(3, 19)]
    assert rows([batch(events=events, records=records)], "transactionId") == expected


def test_later_is_by_position_and_an_old_position_changes_nothing() -> None:
    registry = Registry()
    rule, first, second = (
        registry.publish(1, count(), 0, 0),
        registry.trace(1, T, 0),
        registry.trace(1, FAR, 0),
    )
    batches = [
        batch(events=[second, rule, first], records=[pay(1)]),
        batch(events=[first], records=[pay(2)]),
    ]
    assert rows(batches, "transactionId") == ["t1", "t2"]


def test_several_rules_at_once_each_until_its_own_end() -> None:
    registry = Registry()
    events = [registry.publish(rule, count(), 0, 0) for rule in (1, 2, 3)]
    events += [registry.trace(3, T + 5, 0), registry.trace(1, T + 10, 0)]
    batches = [batch(events=events, records=[pay(1, 4), pay(2, 9)])]
    assert rows(batches, "ruleId", "transactionId") == [(1, "t1"), (3, "t1"), (1, "t2")]


@pytest.mark.parametrize(
    "wrong",
    [
        {"ruleId": None},
        {"ruleId": "1"},
        {"ruleId": True},
        {"traceUntil": None},
        {"traceUntil": str(FAR)},
        {"traceUntil": 1.5},
        {"traceUntil": 2**53},
        {"commandId": None},
    ],
)
def test_a_command_that_cannot_be_read_is_skipped_and_takes_no_position(wrong: Mapping[str, Json]) -> None:
    registry = Registry()
    rule, good, bad = (
        registry.publish(1, count(), 0, 0),
        registry.trace(1, FAR, 0),
        json.loads(registry.trace(1, 0, 0)),
    )
    same_position = {**json.loads(good), "position": bad["position"], "traceUntil": 0}
    events = [rule, good, json.dumps({**bad, **wrong}).encode()]
    outcome = judge(
        [batch(events=events), batch(events=[json.dumps(same_position).encode()], records=[pay(1)])]
    )
    assert (len(outcome.traces), outcome.skipped_rule_events) == (0, 1), "the readable one ends the trace"
