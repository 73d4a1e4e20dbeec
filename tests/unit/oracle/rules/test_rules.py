"""Rule events: positions, states, versions in force, and those that cannot be read."""

from __future__ import annotations

import json

import pytest

from tests.oracle import Outcome
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.oracle.values.errors import HashMismatch, OutOfScope
from tests.unit.oracle.support.agreement import judge

T = 1_700_000_000_000
ONE = draft("COUNT", ">=", "1", by=("payeeId",), seconds=60)
TWO = draft("COUNT", ">=", "1", by=("beneficiaryId",), seconds=60)


def versions(outcome: Outcome) -> list[object]:
    return [alert["ruleVersion"] for alert in outcome.alerts]


def outcome_of(*events: bytes) -> Outcome:
    return judge([batch(events=events, records=[payment(1, T)])])


def test_the_highest_version_that_has_begun_is_in_force() -> None:
    registry = Registry()
    first = registry.publish(1, ONE, T - 100, 0)
    second = registry.publish(1, TWO, T + 1, 0)
    third = registry.publish(1, ONE, T + 10, 0)
    records = [payment(n, time) for n, time in enumerate((T - 101, T - 100, T, T + 1, T + 10, T + 9))]
    assert versions(judge([batch(events=[first, second, third], records=records)])) == [1, 1, 2, 3, 2]


def test_a_higher_version_with_an_earlier_begin_replaces_all_below() -> None:
    registry = Registry()
    first, second = registry.publish(1, ONE, T, 0), registry.publish(1, TWO, 0, 0)
    assert versions(outcome_of(first, second)) == [2]


def test_pause_resume_delete_act_where_they_stand() -> None:
    registry = Registry()
    steps = [
        registry.publish(1, ONE, 0, 0),
        registry.move("RulePaused", "PAUSED", 1, 0),
        registry.publish(1, TWO, 0, 0),
        registry.move("RuleResumed", "ACTIVE", 1, 0),
        registry.move("RuleDeleted", "DELETED", 1, 0),
        registry.publish(1, ONE, 0, 0),
    ]
    batches = [batch(events=[step], records=[payment(n, T + n)]) for n, step in enumerate(steps)]
    alerts = judge(batches).alerts
    assert [(alert["eventTime"], alert["ruleVersion"]) for alert in alerts] == [(T, 1), (T + 3, 3)]
    assert [alert["contributors"]["count"] for alert in alerts] == [1, 4]  # type: ignore[call-overload,index]


def test_positions_order_a_micro_batch_and_an_older_one_is_nothing() -> None:
    registry = Registry()
    first, pause = registry.publish(1, ONE, 0, 0), registry.move("RulePaused", "PAUSED", 1, 0)
    resume = registry.move("RuleResumed", "ACTIVE", 1, 0)
    assert versions(outcome_of(resume, pause, first)) == [1]
    late = judge(
        [batch(events=[first, pause, resume]), batch(events=[pause, first], records=[payment(1, T)])]
    )
    assert versions(late) == [1]


def test_what_cannot_be_read_is_skipped_and_takes_no_position() -> None:
    registry = Registry()
    garbage = [b"{", b"[]", b'{"type":"RuleSung","position":1}', b'{"type":"RulePublished","position":1}']
    outcome = outcome_of(*garbage, registry.publish(1, ONE, 0, 0), registry.publish(2, ONE, 0, 0))
    assert [alert["ruleId"] for alert in outcome.alerts] == [1, 2]
    assert outcome.skipped_rule_events == 4


def test_nothing_is_taken_beyond_the_next_position_until_that_one_has_come() -> None:
    registry = Registry()
    first, second = registry.publish(1, ONE, 0, 0), registry.publish(2, ONE, 0, 0)
    pause = registry.move("RulePaused", "PAUSED", 1, 0)
    forged = json.dumps({**json.loads(pause), "position": 9_007_199_254_740_991}).encode()
    assert versions(outcome_of(first, forged)) == [1]
    lost = [batch(events=[first]), batch(events=[pause], records=[payment(1, T)])]
    again = [batch(events=[second, pause], records=[payment(2, T)])]
    alerts = judge([*lost, *again]).alerts
    assert [(alert["ruleId"], alert["transaction"]["transactionId"]) for alert in alerts] == [  # type: ignore[call-overload,index]
        (1, "t1"),
        (2, "t1"),
        (2, "t2"),
    ]


def test_an_invalid_definition_is_skipped() -> None:
    event = json.loads(Registry().publish(1, ONE, 0, 0))
    event["definition"]["windowSeconds"] = 400 * 86_400 + 1
    assert outcome_of(json.dumps(event).encode()).skipped_rule_events == 1


def test_a_false_hash_stops_everything() -> None:
    event = json.loads(Registry().publish(1, ONE, 0, 0))
    event["definition"]["limit"] = "2"
    with pytest.raises(HashMismatch):
        outcome_of(json.dumps(event).encode())


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("precision", {"bucketed": 60}),
        ("unique", ["beneficiaryId"]),
        ("all", [{"limit": "1"}]),
        ("parameters", {"most": 5}),
    ],
)
def test_what_the_oracle_does_not_know_it_refuses(key: str, value: object) -> None:
    event = json.loads(Registry().publish(1, ONE, 0, 0))
    event["definition"][key] = value
    with pytest.raises(OutOfScope):
        outcome_of(json.dumps(event).encode())


def test_alerts_come_in_engine_order_then_by_rule() -> None:
    registry = Registry()
    events = [registry.publish(rule_id, ONE, 0, 0) for rule_id in (9, 2, 10)]
    outcome = judge([batch(events=events, records=[payment(1, T), payment(2, T)])])
    assert [(a["ruleId"], a["transaction"]["transactionId"]) for a in outcome.alerts] == [  # type: ignore[call-overload,index]
        (2, "t1"),
        (9, "t1"),
        (10, "t1"),
        (2, "t2"),
        (9, "t2"),
        (10, "t2"),
    ]
