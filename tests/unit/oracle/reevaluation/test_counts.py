"""Counters of re-evaluation, definitions that it does not go with, and the specification's example."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.oracle.values.canonical_json import definition_hash
from tests.oracle.values.model import Json
from tests.oracle.values.rule_counts import Counts
from tests.unit.oracle.support.agreement import judge
from tests.unit.oracle.support.reevaluation import outcome_of, rejudge, rows
from tests.unit.oracle.support.timeline import T, pay, play


def test_judging_again_counts_as_nothing_else_and_is_not_traced() -> None:
    registry = Registry()
    events = [registry.publish(1, rejudge("COUNT", ">", "1"), 0, 0), registry.trace(1, T + 10**9, 0)]
    records = [pay(1, 10), pay(2, 10), pay(3, 5, accepted=10)]
    outcome = judge([batch(events=events, records=records)])
    assert rows(outcome) == [("t2", "2", None), ("t1", "3", "t3")]
    assert outcome.counts == {1: Counts(evaluations=3, equal_times=1, late_evaluated=1, reevaluated=1)}
    assert [(trace["transactionId"], trace["late"], trace["alerted"]) for trace in outcome.traces] == [
        ("t1", False, False),
        ("t2", False, True),
        ("t3", True, False),
    ]


@pytest.mark.parametrize(
    ("more", "skipped"),
    [
        ({"resetOnAlert": True}, 1),
        ({"firing": "crossing"}, 1),
        ({"resetOnAlert": False, "firing": "every", "filter": None}, 0),
    ],
)
def test_not_with_firing_state(more: dict[str, Json], skipped: int) -> None:
    event = json.loads(Registry().publish(1, rejudge("COUNT", ">=", "1"), 0, 0))
    event["definition"].update(more)
    event["definitionHash"] = definition_hash(event["definition"])
    outcome = play(json.dumps(event).encode(), pay(1, 0))
    assert (len(outcome.alerts), outcome.skipped_rule_events) == (1 - skipped, skipped)


def test_an_unclear_definition_takes_no_position() -> None:
    registry = Registry()
    wrong = json.loads(registry.publish(1, rejudge("COUNT", ">=", "1"), 0, 0))
    wrong["definition"]["resetOnAlert"] = True
    same_position = {**json.loads(Registry().publish(2, rejudge("COUNT", ">=", "1"), 0, 0)), "position": 1}
    outcome = play(json.dumps(wrong).encode(), json.dumps(same_position).encode(), pay(1, 0))
    assert (len(outcome.alerts), outcome.skipped_rule_events) == (1, 1)


def moment(clock: str) -> int:
    return int(datetime.fromisoformat(f"2026-01-05T{clock}").replace(tzinfo=UTC).timestamp()) * 1000


def test_the_worked_example() -> None:
    late = moment("12:15:00")
    records = [
        payment(1, moment("12:00:00"), "600"),
        payment(2, moment("12:10:00"), "400"),
        payment(3, moment("12:20:00"), "0.01"),
        payment(4, moment("12:20:01"), "1"),
        payment(5, late, "500", record_time=moment("12:20:01")),
        payment(6, moment("12:20:02"), "9999", more={"beneficiaryId": 99}),
    ]
    outcome = outcome_of(draft(late_events="reevaluate"), *records)
    # #3 is already alerted, #4 is judged again and not over.
    assert rows(outcome) == [("t3", "1000.01", None), ("t5", "1500", None), ("t6", "9999", None)]
    assert outcome.counts == {1: Counts(evaluations=6, late_evaluated=1, reevaluated=1)}
    # With the limit at 900 #2 and #3 are alerted before; #4 is over with 901.01.
    outcome = outcome_of(draft(limit="900", late_events="reevaluate"), *records)
    assert rows(outcome)[2:4] == [("t5", "1500", None), ("t4", "901.01", "t5")]
    assert outcome.alerts[3]["late"] == {"transactionId": "t5", "eventTime": late}
