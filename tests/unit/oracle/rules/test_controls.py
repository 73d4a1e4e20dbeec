"""Control commands, what a clear leaves, and the status records with their warmFrom."""

from __future__ import annotations

import json

import pytest

from tests.oracle import MicroBatch, Outcome
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.oracle.parsers.rule_events import Settings
from tests.unit.oracle.support.agreement import judge

T = 1_700_000_000_000
MINUTE = 60_000
SKEW = 5 * MINUTE
SLACK = 15 * MINUTE
EACH = draft("COUNT", ">=", "1", by=("payeeId",), seconds=60)
CLEAR = "CLEAR_STATE_ALL"


def rows(batches: list[MicroBatch]) -> list[tuple[object, object, object]]:
    """Event time after T, value and late of each alert."""
    alert_rows: list[tuple[object, object, object]] = []
    for alert in judge(batches).alerts:
        assert isinstance(alert["eventTime"], int)
        alert_rows.append((alert["eventTime"] - T, alert["value"], alert["late"]))
    return alert_rows


def test_a_clear_forgets_what_was_accepted_and_leaves_the_rules() -> None:
    registry = Registry()
    batches = [
        batch(events=[registry.publish(1, EACH, 0, 0)], records=[payment(1, T)]),
        batch(events=[registry.control(CLEAR, 0)], records=[payment(2, T - 1, record_time=T)]),
        batch(records=[payment(3, T)]),
    ]
    # The second is not late: the first is forgotten.
    assert rows(batches) == [(0, "1", None), (-1, "1", None), (0, "2", None)]


@pytest.mark.parametrize("command", ["CLEAR_STATE_ALL_STOP", "EXPORT_RULES_CURRENT", "DELETE_RULES_ALL"])
def test_the_other_commands_change_nothing(command: str) -> None:
    registry = Registry()
    rule = registry.publish(1, EACH, 0, 0)
    events = [registry.control(command, 0)]
    outcome = judge(
        [batch(events=[rule], records=[payment(1, T)]), batch(events=events, records=[payment(2, T)])]
    )
    assert [alert["value"] for alert in outcome.alerts] == ["1", "2"]
    assert outcome.skipped_rule_events == 0


def test_a_clear_happens_once_at_its_position() -> None:
    registry = Registry()
    rule, clear = registry.publish(1, EACH, 0, 0), registry.control(CLEAR, 0)
    batches = [
        batch(events=[rule], records=[payment(1, T)]),
        batch(events=[clear], records=[payment(2, T)]),
        batch(events=[clear], records=[payment(3, T)]),
    ]
    assert [value for _, value, _ in rows(batches)] == ["1", "1", "2"]


def test_a_control_takes_its_position_and_an_unknown_one_does_not() -> None:
    for command, skipped, alerts in ((CLEAR, 0, 0), ("MAKE_TEA", 1, 1)):
        registry = Registry()
        control = registry.control(command, 0)
        rule = json.loads(registry.publish(1, EACH, 0, 0))
        in_its_place = json.dumps({**rule, "position": 1}).encode()
        outcome = judge([batch(events=[control]), batch(events=[in_its_place], records=[payment(1, T)])])
        assert (len(outcome.alerts), outcome.skipped_rule_events) == (alerts, skipped)


def test_ids_outlive_a_clear() -> None:
    registry = Registry()
    batches = [
        batch(events=[registry.publish(1, EACH, 0, 0)], records=[payment(1, T)]),
        batch(events=[registry.control(CLEAR, 0)], records=[payment(1, T), payment(2, T)]),
    ]
    assert [value for _, value, _ in rows(batches)] == ["1", "1"]


@pytest.mark.parametrize(("firing", "reset"), [("crossing", False), ("every", True)])
def test_a_clear_forgets_firing_state(firing: str, reset: bool) -> None:
    registry = Registry()
    rule = draft("COUNT", ">=", "2", by=("payeeId",), seconds=60, firing=firing, reset=reset)
    batches = [
        batch(events=[registry.publish(1, rule, 0, 0)], records=[payment(n, T + n) for n in (1, 2)]),
        batch(events=[registry.control(CLEAR, 0)], records=[payment(n, T + n) for n in (3, 4)]),
    ]
    assert rows(batches) == [(2, "2", None), (4, "2", None)]


def test_a_crossing_that_held_before_a_clear_is_forgotten() -> None:
    registry = Registry()
    rule = draft("COUNT", ">=", "1", by=("payeeId",), seconds=60, firing="crossing")
    batches = [
        batch(events=[registry.publish(1, rule, 0, 0)], records=[payment(1, T)]),
        batch(events=[registry.control(CLEAR, 0)], records=[payment(2, T)]),
    ]
    assert rows(batches) == [(0, "1", None), (0, "1", None)]


def test_catch_up_before_and_after_a_clear_in_one_micro_batch() -> None:
    registry = Registry()
    events = [
        registry.publish(1, EACH, 0, 0),
        registry.control(CLEAR, 0),
        registry.publish(2, EACH, 0, 0),
    ]
    outcome = judge([batch(records=[payment(1, T)]), batch(events=events)])
    assert [alert["ruleId"] for alert in outcome.alerts] == [1]


@pytest.mark.parametrize(("after", "warm"), [(MINUTE - 1, False), (MINUTE, True)])
def test_warm_one_window_after_the_clear_and_the_skew(after: int, warm: bool) -> None:
    registry = Registry()
    clock = T + 10 * MINUTE
    batches = [
        batch(events=[registry.publish(1, EACH, 0, 0)], ticks=[T, clock]),
        batch(events=[registry.control(CLEAR, 0)], records=[payment(1, clock + SKEW + after)]),
    ]
    assert [alert["warm"] for alert in judge(batches).alerts] == [warm]


def test_a_clear_before_the_first_tick_moves_no_floor() -> None:
    registry = Registry()
    events = [registry.publish(1, EACH, 0, 0), registry.control(CLEAR, 0)]
    outcome = judge([batch(events=events, ticks=[T], records=[payment(1, T + MINUTE)])])
    assert [alert["warm"] for alert in outcome.alerts] == [True]


def test_a_second_clear_under_a_lower_skew_lowers_no_floor() -> None:
    registry = Registry()
    events = [
        registry.control(CLEAR, 0),
        registry.change_settings(Settings(600_000, 1000, 300_000), 0),
        registry.control(CLEAR, 0),
        registry.publish(1, EACH, 0, 0),
    ]
    assert warm_froms(judge([batch(ticks=[T]), batch(events=events)])) == [T + SKEW + MINUTE]


def warm_froms(outcome: Outcome) -> list[object]:
    return [status["warmFrom"] for status in outcome.statuses]


def test_a_status_for_each_rule_event_that_is_applied() -> None:
    registry = Registry()
    first = registry.publish(7, EACH, 0, 0)
    steps = [
        first,
        registry.change_settings(Settings(), 0),
        registry.control(CLEAR, 0),
        registry.move("RulePaused", "PAUSED", 7, 0),
        registry.publish(7, draft("COUNT", ">=", "1", by=("payeeId",), seconds=120), 0, 0),
        first,
        registry.move("RuleResumed", "ACTIVE", 7, 0),
        registry.move("RuleDeleted", "DELETED", 7, 0),
        registry.publish(7, EACH, 0, 0),
    ]
    outcome = judge([batch(ticks=[T]), *(batch(events=[step]) for step in steps)])
    window = {1: MINUTE, 2: MINUTE, 3: 2 * MINUTE, 4: 2 * MINUTE, 5: 2 * MINUTE}
    cleared = {1: T, 2: T + SKEW, 3: T + SKEW, 4: T + SKEW, 5: T + SKEW}
    assert outcome.statuses == [
        {
            "ruleId": 7,
            "version": version,
            "position": position,
            "warmFrom": cleared[version] + window[version],
        }
        for version, position in ((1, 1), (2, 4), (3, 5), (4, 6), (5, 7))
    ]


def test_what_is_skipped_or_of_an_unknown_rule_has_no_status() -> None:
    registry = Registry()
    event = json.loads(registry.publish(1, EACH, 0, 0))
    unknown = {**event, "type": "RulePaused", "state": "PAUSED"}
    broken = {**event, "position": 2, "definition": {}}
    raws = [json.dumps(value).encode() for value in (unknown, broken)]
    assert judge([batch(events=raws)]).statuses == []


def test_no_warm_from_before_the_first_tick_and_none_of_its_own_micro_batch() -> None:
    rule = Registry().publish(1, EACH, 0, 0)
    assert warm_froms(judge([batch(events=[rule], ticks=[T])])) == [None]


def test_warm_from_rises_with_the_visibility_floor() -> None:
    # Nothing kept the history of a whole hour: what lies below the slack is gone.
    rule = Registry().publish(1, EACH, 0, 0)
    clock = T + 60 * MINUTE
    assert warm_froms(judge([batch(ticks=[T, clock]), batch(events=[rule])])) == [clock - SLACK + MINUTE]


def test_an_export_tells_the_rules_held_at_its_position() -> None:
    registry = Registry()
    steps = [
        registry.control("EXPORT_RULES_CURRENT", 0),
        registry.publish(2, EACH, T, 0),
        registry.publish(1, EACH, T, 0),
        registry.publish(3, EACH, T, 0),
        registry.move("RuleDeleted", "DELETED", 3, 0),
        registry.move("RulePaused", "PAUSED", 1, 0),
        registry.control("EXPORT_RULES_CURRENT", 0),
        registry.publish(4, EACH, T, 0),
    ]
    none, two = judge([batch(events=steps)]).exports
    command = json.loads(steps[6])
    digest = json.loads(steps[1])["definitionHash"]
    assert none["rules"] == []
    assert two == {
        "kind": "export",
        "commandId": command["commandId"],
        "position": 7,
        "rules": [
            {"ruleId": 1, "version": 2, "definitionHash": digest, "state": "PAUSED"},
            {"ruleId": 2, "version": 1, "definitionHash": digest, "state": "ACTIVE"},
        ],
    }
