"""The trace of one rule: what is traced from when until when, and what a record of it says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.oracle import MicroBatch, Record, judge
from tests.oracle.builders.drafts import Draft
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.oracle.output.traces import comparable
from tests.oracle.values.model import Json

T = 1_700_000_000_000
MINUTE = 60_000
FAR = T + 10**9
CASH: Json = {"field": "paymentType", "operator": "=", "value": "CSH"}


def counted(limit: int = 1, **more: Any) -> Draft:
    """By payee, over a minute."""
    return draft("COUNT", ">=", str(limit), by=("payeeId",), seconds=60, **more)


def at(offset: int, after: int = 0, *, accepted: int | None = None, **more: Json) -> Record:
    """A payment at T + after, on record at T + accepted, both in ms."""
    return payment(offset, T + after, record_time=T + (after if accepted is None else accepted), more=more)


def told(batches: list[MicroBatch], *names: str) -> list[object]:
    """The named members of each trace record; of one name its value alone."""
    found: list[object] = []
    for trace in judge(batches).traces:
        values = tuple(trace[name] for name in names)
        found.append(values[0] if len(values) == 1 else values)
    return found


def traced(what: Draft, *records: Record) -> MicroBatch:
    """One micro-batch in which a rule is published, then traced for good."""
    registry = Registry()
    return batch(events=[registry.publish(1, what, 0, 0), registry.trace(1, FAR, 0)], records=records)


# --- from when on, until when


def test_the_command_as_rules_v1_has_it() -> None:
    event = json.loads(Registry().trace(12, 1_763_640_300_000, 1_763_640_000_000))
    assert event["type"] == "ControlCommand"
    assert (event["command"], event["ruleId"], event["traceUntil"]) == ("TRACE_RULE", 12, 1_763_640_300_000)
    assert isinstance(event["commandId"], str)


def test_nothing_is_traced_without_a_command() -> None:
    rule = Registry().publish(1, counted(), 0, 0)
    outcome = judge([batch(events=[rule], records=[at(1)])])
    assert (len(outcome.alerts), outcome.traces) == (1, [])


def test_from_the_command_on() -> None:
    registry = Registry()
    batches = [
        batch(events=[registry.publish(1, counted(), 0, 0)], records=[at(1)]),
        batch(events=[registry.trace(1, FAR, 0)], records=[at(2)]),
        batch(records=[at(3)]),
    ]
    assert told(batches, "transactionId") == ["t2", "t3"]


def test_what_was_on_record_before_the_command_was_given_is_traced_too() -> None:
    registry = Registry()
    events = [registry.publish(1, counted(), 0, 0), registry.trace(1, FAR, T + 5)]
    assert told([batch(events=events, records=[at(1)])], "transactionId") == ["t1"]


def test_while_the_record_time_is_below_the_end_whatever_the_event_time() -> None:
    registry = Registry()
    events = [registry.publish(1, counted(), 0, 0), registry.trace(1, T + 10, 0)]
    records = [at(1, 20, accepted=9), at(2, 5, accepted=10), at(3, 5, accepted=11)]
    assert told([batch(events=events, records=records)], "transactionId") == ["t1"]


def test_a_record_behind_the_end_does_not_end_it_for_those_before() -> None:
    registry = Registry()
    events = [registry.publish(1, counted(), 0, 0), registry.trace(1, T + 10, 0)]
    batches = [batch(events=events, records=[at(1, 10)]), batch(records=[at(2, 9)])]
    assert told(batches, "transactionId") == ["t2"]


@pytest.mark.parametrize(("second", "expected"), [(5, ["t1"]), (20, ["t1", "t2", "t3"]), (0, [])])
def test_a_later_command_replaces_the_former(second: int, expected: list[str]) -> None:
    registry = Registry()
    events = [
        registry.publish(1, counted(), 0, 0),
        registry.trace(1, T + 10, 0),
        registry.trace(1, T + second, 0),
    ]
    records = [at(1, 4), at(2, 9), at(3, 19)]
    assert told([batch(events=events, records=records)], "transactionId") == expected


def test_later_is_by_position_and_an_old_position_changes_nothing() -> None:
    registry = Registry()
    rule, first, second = (
        registry.publish(1, counted(), 0, 0),
        registry.trace(1, T, 0),
        registry.trace(1, FAR, 0),
    )
    batches = [
        batch(events=[second, rule, first], records=[at(1)]),
        batch(events=[first], records=[at(2)]),
    ]
    assert told(batches, "transactionId") == ["t1", "t2"]


def test_several_rules_at_once_each_until_its_own_end() -> None:
    registry = Registry()
    events = [registry.publish(rule, counted(), 0, 0) for rule in (1, 2, 3)]
    events += [registry.trace(3, T + 5, 0), registry.trace(1, T + 10, 0)]
    batches = [batch(events=events, records=[at(1, 4), at(2, 9)])]
    assert told(batches, "ruleId", "transactionId") == [(1, "t1"), (3, "t1"), (1, "t2")]


# --- rules that are paused, deleted, unknown, defined anew


def test_a_paused_rule_has_no_records_and_has_them_again_when_it_is_resumed() -> None:
    registry = Registry()
    batches = [
        batch(events=[registry.publish(1, counted(), 0, 0), registry.trace(1, FAR, 0)], records=[at(1)]),
        batch(events=[registry.move("RulePaused", "PAUSED", 1, 0)], records=[at(2)]),
        batch(events=[registry.move("RuleResumed", "ACTIVE", 1, 0)], records=[at(3)]),
    ]
    assert told(batches, "transactionId", "version") == [("t1", 1), ("t3", 1)]


def test_a_command_for_a_paused_rule_counts_when_it_is_resumed() -> None:
    registry = Registry()
    paused = [registry.publish(1, counted(), 0, 0, paused=True), registry.trace(1, FAR, 0)]
    batches = [
        batch(events=paused, records=[at(1)]),
        batch(events=[registry.move("RuleResumed", "ACTIVE", 1, 0)], records=[at(2)]),
    ]
    assert told(batches, "transactionId") == ["t2"]


def test_deletion_ends_it_and_a_deleted_rule_is_not_traced() -> None:
    registry = Registry()
    batches = [
        batch(events=[registry.publish(1, counted(), 0, 0), registry.trace(1, FAR, 0)], records=[at(1)]),
        batch(events=[registry.move("RuleDeleted", "DELETED", 1, 0)], records=[at(2)]),
        batch(events=[registry.trace(1, FAR, 0), registry.publish(1, counted(), 0, 0)], records=[at(3)]),
    ]
    assert told(batches, "transactionId") == ["t1"]


def test_a_command_for_an_unknown_rule_has_no_effect_on_the_rule_that_comes() -> None:
    registry = Registry()
    events = [registry.trace(1, FAR, 0), registry.publish(1, counted(), 0, 0)]
    outcome = judge([batch(events=events, records=[at(1)])])
    assert (len(outcome.alerts), outcome.traces, outcome.skipped_rule_events) == (1, [], 0)


def test_a_rule_is_known_right_after_its_publication_in_force_or_not() -> None:
    registry = Registry()
    events = [registry.publish(1, counted(), T + 5, 0), registry.trace(1, FAR, 0)]
    assert told([batch(events=events, records=[at(1, 4), at(2, 5)])], "transactionId") == ["t2"]


def test_every_version_of_the_rule_is_traced() -> None:
    registry = Registry()
    events = [
        registry.publish(1, counted(1), 0, 0),
        registry.trace(1, FAR, 0),
        registry.publish(1, counted(9), T + 10, 0),
    ]
    batches = [batch(events=events, records=[at(1, 9), at(2, 10)])]
    assert told(batches, "transactionId", "version", "limit") == [("t1", 1, "1"), ("t2", 2, "9")]


@pytest.mark.parametrize("command", ["CLEAR_STATE_ALL", "CLEAR_STATE_ALL_STOP", "EXPORT_RULES_CURRENT"])
def test_no_other_command_ends_it(command: str) -> None:
    registry = Registry()
    batches = [
        batch(events=[registry.publish(1, counted(), 0, 0), registry.trace(1, FAR, 0)], records=[at(1)]),
        batch(events=[registry.control(command, 0)], records=[at(2)]),
    ]
    cleared = "1" if command == "CLEAR_STATE_ALL" else "2"
    assert told(batches, "transactionId", "value") == [("t1", "1"), ("t2", cleared)]


# --- what is an evaluation


def test_a_catch_up_is_not_traced() -> None:
    registry = Registry()
    trace_first = [registry.publish(1, counted(), T + 10, 0), registry.trace(1, FAR, 0)]
    batches = [
        batch(events=trace_first, records=[at(1)]),
        batch(events=[registry.publish(1, counted(), 0, 0)], records=[at(2)]),
    ]
    outcome = judge(batches)
    assert [alert["partial"] for alert in outcome.alerts] == [True, False]
    assert [(trace["transactionId"], trace["value"]) for trace in outcome.traces] == [("t2", "2")]


def test_only_transactions_that_pass_have_a_group_and_are_no_duplicates() -> None:
    records = [at(1), at(2, paymentType="CRD"), at(3, payeeId=None), at(1, 1), at(4)]
    outcome = judge([traced(counted(only=CASH), *records)])
    assert [trace["transactionId"] for trace in outcome.traces] == ["t1", "t4"]
    assert outcome.counts[1].evaluations == 2


def test_a_rejected_transaction_is_not_traced() -> None:
    assert told([traced(counted(), at(1, -11 * MINUTE, accepted=0), at(2))], "transactionId") == ["t2"]


@pytest.mark.parametrize(
    ("policy", "firing", "expected"),
    [
        ("evaluate", "every", [("t1", False, True), ("t2", True, True), ("t3", False, True)]),
        ("evaluate", "crossing", [("t1", False, True), ("t2", True, False), ("t3", False, False)]),
        ("store", "every", [("t1", False, True), ("t3", False, True)]),
        ("store", "crossing", [("t1", False, True), ("t3", False, False)]),
    ],
)
def test_a_late_one_is_traced_unless_it_is_only_stored(
    policy: str, firing: str, expected: list[object]
) -> None:
    what = counted(late_events=policy, firing=firing)
    records = [at(1, 10), at(2, 9, accepted=10), at(3, 10)]
    assert told([traced(what, *records)], "transactionId", "late", "alerted") == expected


def test_late_is_for_the_group_alone() -> None:
    records = [at(1, 10), at(2, 9, accepted=10, payeeId=7), at(3, 9, accepted=10)]
    assert told([traced(counted(), *records)], "transactionId", "late") == [
        ("t1", False),
        ("t2", False),
        ("t3", True),
    ]


# --- what a record says


def test_a_record_whole() -> None:
    registry = Registry()
    what = draft("SUM", ">", "1000.5", by=("beneficiaryId", "payeeId"), seconds=1200)
    events = [registry.publish(7, what, 0, 0), registry.trace(7, FAR, 0)]
    records = [
        payment(5, T, "1000.50", partition=1),
        payment(8, T + 1, "0.010", record_time=T + 3, partition=1),
    ]
    outcome = judge([batch(events=events, records=records)])
    second: dict[str, Json] = {
        "ruleId": 7,
        "version": 1,
        "transactionId": "t8",
        "eventTime": T + 1,
        "recordTime": T + 3,
        "partition": 1,
        "offset": 8,
        "group": {"beneficiaryId": "12", "payeeId": "25"},
        "windowStart": T + 1 - 20 * MINUTE,
        "windowEnd": T + 1,
        "value": "1000.51",
        "contributingCount": 2,
        "limit": "1000.5",
        "limitOperatorType": ">",
        "holds": True,
        "alerted": True,
        "late": False,
    }
    own: dict[str, Json] = {
        "transactionId": "t5",
        "eventTime": T,
        "recordTime": T,
        "offset": 5,
        "windowStart": T - 20 * MINUTE,
        "windowEnd": T,
        "value": "1000.5",
        "contributingCount": 1,
        "holds": False,
        "alerted": False,
    }
    assert outcome.traces == [{**second, **own}, second]


def test_what_an_alert_says_too_is_the_same() -> None:
    outcome = judge([traced(draft("AVG", ">", "1", by=()), *(payment(n, T, str(n)) for n in range(1, 121)))])
    alerts, traces = outcome.alerts, [trace for trace in outcome.traces if trace["alerted"]]
    # More than the hundred contributors that an alert lists.
    assert len(alerts) == len(traces) == 119
    for alert, trace in zip(alerts, traces, strict=True):
        contributors = alert["contributors"]
        assert isinstance(contributors, dict)
        assert trace["contributingCount"] == contributors["count"]
        assert (trace["version"], trace["limitOperatorType"]) == (alert["ruleVersion"], alert["operator"])
        for name in ("ruleId", "group", "value", "limit", "windowStart", "windowEnd", "eventTime"):
            assert trace[name] == alert[name]


def test_holds_is_decided_by_the_exact_value_not_by_the_one_reported() -> None:
    records = [payment(1, T, "0.000001"), payment(2, T, "0.000001"), payment(3, T, "0")]
    found = told([traced(draft("AVG", ">=", "0.000001", by=()), *records)], "value", "holds")
    assert found == [("0.000001", True), ("0.000001", True), ("0.000001", False)]


def test_under_crossing_it_holds_without_alerting() -> None:
    records = [at(1), at(2, 1), at(3, 2)]
    assert told([traced(counted(2, firing="crossing"), *records)], "holds", "alerted") == [
        (False, False),
        (True, True),
        (True, False),
    ]


def test_after_a_reset_the_window_is_what_the_alert_left() -> None:
    records = [at(n, n) for n in (1, 2, 3)]
    found = told([traced(counted(2, reset=True), *records)], "value", "contributingCount", "alerted")
    assert found == [("1", 1, False), ("2", 2, True), ("1", 1, False)]


def test_records_come_in_the_engine_s_order_then_by_rule() -> None:
    registry = Registry()
    events = [registry.publish(rule, counted(), 0, 0) for rule in (2, 1)]
    events += [registry.trace(rule, FAR, 0) for rule in (2, 1)]
    records = [payment(1, T + 5, partition=0), payment(2, T + 4, partition=1)]
    assert told([batch(events=events, records=records)], "transactionId", "ruleId", "partition") == [
        ("t2", 1, 1),
        ("t2", 2, 1),
        ("t1", 1, 0),
        ("t1", 2, 0),
    ]


# --- the command, and comparing


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
def test_a_command_that_cannot_be_read_is_skipped_and_takes_its_position(wrong: Mapping[str, Json]) -> None:
    registry = Registry()
    rule, good, bad = (
        registry.publish(1, counted(), 0, 0),
        registry.trace(1, FAR, 0),
        json.loads(registry.trace(1, 0, 0)),
    )
    same_position = {**json.loads(good), "position": bad["position"], "traceUntil": 0}
    events = [rule, good, json.dumps({**bad, **wrong}).encode()]
    outcome = judge(
        [batch(events=events), batch(events=[json.dumps(same_position).encode()], records=[at(1)])]
    )
    assert (len(outcome.traces), outcome.skipped_rule_events) == (1, 1)


def test_comparable_forgets_when_and_how_often_but_not_what() -> None:
    outcome = judge([traced(counted(), at(1), at(2))])
    one, two = outcome.traces
    again: list[dict[str, Json]] = [{**two, "judgedAt": 5}, {**one, "judgedAt": 3}, {**two, "judgedAt": 9}]
    assert comparable(again) == comparable([one, two])
    assert len(comparable([*again, {**one, "value": "7"}])) == 3
