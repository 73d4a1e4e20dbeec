"""CLEAR_RULE and CLEAR_GROUP alike (decision 0039), each sentence by a case small enough to do by hand."""

from __future__ import annotations

import json

import pytest

from tests.oracle import MicroBatch
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import draft
from tests.oracle.malformed.operator_commands import wrong_commands
from tests.oracle.values.model import Json
from tests.unit.oracle.support.agreement import judge
from tests.unit.oracle.support.clears import PAYEE, rows, tally
from tests.unit.oracle.support.hour_timeline import ms, pay, play


def clear(registry: Registry, kind: str) -> bytes:
    return registry.clear_rule(1) if kind == "rule" else registry.clear_group(1, PAYEE)


BOTH = pytest.mark.parametrize("kind", ["rule", "group"])


@BOTH
def test_what_was_accepted_before_is_as_if_it_had_never_been(kind: str) -> None:
    registry = Registry()
    events = [registry.publish(1, tally(), 0, 0), registry.publish(2, tally(), 0, 0)]
    outcome = play(*events, pay(1, 0), pay(2, 10), clear(registry, kind), pay(3, 5, accepted=10), pay(4, 10))
    first = [(alert["value"], alert["late"]) for alert in outcome.alerts if alert["ruleId"] == 1]
    # The third is not late, and has nothing before it; the fourth has the third.
    assert first == [("1", None), ("2", None), ("1", None), ("2", None)]
    # For another rule nothing has happened.
    other = [(alert["value"], alert["late"]) for alert in outcome.alerts if alert["ruleId"] == 2]
    assert other == [("1", None), ("2", None), ("2", {"newestEventTime": ms(10)}), ("4", None)]


@BOTH
def test_at_its_place_in_the_order(kind: str) -> None:
    registry = Registry()
    rule = registry.publish(1, tally(), 0, 0)
    command = clear(registry, kind)
    again = registry.publish(1, tally(), 0, 0)
    whole = MicroBatch((rule, command, again), (), (pay(1, 0), pay(2, 1)))
    # Before the transactions of its micro-batch; once, however often it comes.
    outcome = judge([whole, MicroBatch((command,), (), (pay(3, 2),))])
    assert rows(outcome) == [(1, "1"), (1, "2"), (1, "3")]


@BOTH
def test_ids_stay_known(kind: str) -> None:
    registry = Registry()
    outcome = play(registry.publish(1, tally(), 0, 0), pay(1, 0), clear(registry, kind), pay(1, 0))
    assert rows(outcome) == [(1, "1")]
    assert (outcome.duplicates, outcome.counts[1].duplicates) == (3, 1)


@BOTH
def test_crossings_are_forgotten(kind: str) -> None:
    registry = Registry()
    rule = registry.publish(1, tally(firing="crossing"), 0, 0)
    assert len(play(rule, pay(1, 0), pay(2, 1)).alerts) == 1
    assert rows(play(rule, pay(1, 0), clear(registry, kind), pay(2, 1))) == [(1, "1"), (1, "1")]


@BOTH
def test_cooldowns_are_forgotten(kind: str) -> None:
    registry = Registry()
    rule = registry.publish(1, tally(cooldown=60), 0, 0)
    assert len(play(rule, pay(1, 0), pay(2, 1)).alerts) == 1
    assert rows(play(rule, pay(1, 0), clear(registry, kind), pay(2, 1))) == [(1, "1"), (1, "1")]


@BOTH
def test_resets_go_on_from_nothing(kind: str) -> None:
    registry = Registry()
    rule = registry.publish(1, draft("COUNT", ">=", "2", by=("payeeId",), reset=True), 0, 0)
    records = [pay(number, number) for number in range(1, 6)]
    outcome = play(rule, *records[:3], clear(registry, kind), *records[3:])
    # Without it the third and the fourth would be the second two.
    assert [alert["eventTime"] for alert in outcome.alerts] == [ms(2), ms(5)]


@BOTH
def test_nothing_from_before_is_judged_again(kind: str) -> None:
    registry = Registry()
    what = draft("COUNT", ">=", "2", by=("payeeId",), seconds=60, late_events="reevaluate")
    rule = registry.publish(1, what, 0, 0)
    late = pay(2, 5, accepted=10)
    assert rows(play(rule, pay(1, 10), late)) == [(1, "2")]
    outcome = play(rule, pay(1, 10), clear(registry, kind), late, pay(3, 11), pay(4, 4, accepted=11))
    # The third and the fourth with the second: all of after the clear.
    assert [alert["eventTime"] for alert in outcome.alerts] == [ms(11), ms(5)]
    assert outcome.counts[1].reevaluated == 1


@BOTH
def test_no_status_comes_of_it(kind: str) -> None:
    registry = Registry()
    outcome = play(registry.publish(1, tally(), 0, 0), clear(registry, kind))
    assert (len(outcome.statuses), outcome.skipped_rule_events, outcome.exports) == (1, 0, [])


@BOTH
def test_of_a_paused_rule_it_works(kind: str) -> None:
    registry = Registry()
    rule, pause = registry.publish(1, tally(), 0, 0), registry.move("RulePaused", "PAUSED", 1, 0)
    resume = registry.move("RuleResumed", "ACTIVE", 1, 0)
    outcome = play(rule, pay(1, 0), pause, clear(registry, kind), resume, pay(2, 1))
    assert rows(outcome) == [(1, "1"), (1, "1")]


@BOTH
def test_of_an_unknown_rule_or_a_deleted_one_it_does_nothing(kind: str) -> None:
    registry = Registry()
    command = clear(registry, kind)
    rule = registry.publish(1, tally(), 0, 0)
    # Before the rule is there; what it is then made over is all there.
    outcome = play(pay(1, 0), command, rule, pay(2, 1))
    assert (rows(outcome), outcome.skipped_rule_events) == ([(1, "1"), (1, "2")], 0)
    gone = registry.move("RuleDeleted", "DELETED", 1, 0)
    outcome = play(rule, pay(1, 0), gone, command, pay(2, 1))
    assert (rows(outcome), outcome.skipped_rule_events) == ([(1, "1")], 0)


def test_what_cannot_be_read_is_skipped() -> None:
    registry = Registry()
    rule = registry.publish(1, tally(), 0, 0)
    for wrong in wrong_commands(registry, 0):
        outcome = play(rule, pay(1, 0), _raw(wrong), pay(2, 1))
        assert (rows(outcome), outcome.skipped_rule_events) == ([(1, "1"), (1, "2")], 1), wrong


def _raw(event: dict[str, Json]) -> bytes:
    return json.dumps(event).encode()
