"""Judgements that re-evaluation remembers: pauses and clears between, and at most one alert for each."""

from __future__ import annotations

from tests.oracle.builders.registry import Registry
from tests.oracle.values.rule_counts import Counts
from tests.unit.oracle.support.reevaluation import outcome_of, rejudge, rows
from tests.unit.oracle.support.timeline import T, pay, play


def test_what_came_in_a_pause_was_not_judged() -> None:
    registry = Registry()
    outcome = play(
        registry.publish(1, rejudge("COUNT", ">", "2"), 0, 0),
        pay(1, 10),
        registry.move("RulePaused", "PAUSED", 1, 0),
        pay(2, 11),
        registry.move("RuleResumed", "ACTIVE", 1, 0),
        pay(3, 5, accepted=11),
        pay(4, 4, accepted=11),
    )
    # t1 is judged for both late ones, t3 for the second; t2 for neither, though it counts.
    assert rows(outcome) == [("t1", "3", "t4")]
    assert outcome.counts[1] == Counts(evaluations=3, late_evaluated=2, reevaluated=3)


def test_a_paused_rule_and_a_deleted_one_judge_nothing_again() -> None:
    for kind, state in (("RulePaused", "PAUSED"), ("RuleDeleted", "DELETED")):
        registry = Registry()
        rule = registry.publish(1, rejudge("COUNT", ">", "1"), 0, 0)
        outcome = play(rule, pay(1, 10), registry.move(kind, state, 1, 0), pay(2, 5, accepted=10))
        assert (rows(outcome), outcome.counts[1].reevaluated) == ([], 0)


def test_after_a_pause_it_goes_on_over_what_came_in_it() -> None:
    registry = Registry()
    outcome = play(
        registry.publish(1, rejudge("COUNT", ">", "2"), 0, 0),
        pay(1, 10),
        registry.move("RulePaused", "PAUSED", 1, 0),
        pay(2, 5, accepted=10),
        registry.move("RuleResumed", "ACTIVE", 1, 0),
        pay(3, 4, accepted=10),
    )
    assert rows(outcome) == [("t1", "3", "t3")]


def test_a_clear_leaves_nothing_to_be_judged_again() -> None:
    registry = Registry()
    rule = registry.publish(1, rejudge("COUNT", ">", "0"), T + 8000, 0)
    outcome = play(
        rule, pay(1, 10), registry.control("CLEAR_STATE_ALL", 0), pay(2, 5, accepted=10), pay(3, 9)
    )
    assert rows(outcome) == [("t1", "1", None), ("t3", "2", None)]
    registry = Registry()
    rule = registry.publish(1, rejudge("COUNT", ">", "1"), 0, 0)
    outcome = play(rule, pay(1, 10), registry.control("CLEAR_STATE_ALL", 0), pay(2, 5, accepted=10))
    assert (rows(outcome), outcome.counts[1].reevaluated) == ([], 0)


def test_a_clear_forgets_what_has_been_judged() -> None:
    # t2 comes in a pause, and has the place that t1 had before the clear.
    registry = Registry()
    outcome = play(
        registry.publish(1, rejudge("COUNT", ">", "1"), 0, 0),
        pay(1, 10),
        registry.control("CLEAR_STATE_ALL", 0),
        registry.move("RulePaused", "PAUSED", 1, 0),
        pay(2, 11),
        registry.move("RuleResumed", "ACTIVE", 1, 0),
        pay(3, 5, accepted=11),
    )
    assert (rows(outcome), outcome.counts[1].reevaluated) == ([], 0)


def test_a_late_one_that_was_judged_is_judged_again_too() -> None:
    records = [pay(1, 10), pay(2, 5, accepted=10), pay(3, 4, accepted=10)]
    outcome = outcome_of(rejudge("COUNT", ">", "1"), *records)
    assert rows(outcome) == [("t1", "2", "t2"), ("t2", "2", "t3")]
    assert outcome.counts[1].reevaluated == 2


def test_what_has_alerted_is_left_alone() -> None:
    records = [pay(1, 10), pay(2, 5, accepted=10), pay(3, 4, accepted=10)]
    outcome = outcome_of(rejudge("COUNT", ">=", "1"), *records)
    assert rows(outcome) == [("t1", "1", None), ("t2", "1", None), ("t3", "1", None)]
    assert outcome.counts[1].reevaluated == 0


def test_what_has_not_is_judged_again_every_time() -> None:
    records = [pay(1, 10), *(pay(n, 10 - n, accepted=10) for n in range(2, 6))]
    outcome = outcome_of(rejudge("COUNT", "=", "4"), *records)
    # 1 for t2, 2 for t3, 3 for t4, of which t1 alerts; 3 for t5, of which t2 alerts.
    assert rows(outcome) == [("t1", "4", "t4"), ("t2", "4", "t5")]
    assert outcome.counts[1].reevaluated == 9


def test_an_alert_that_was_given_stands() -> None:
    # After the late one the smallest is 1, and there is no second alert when a later one is above again.
    outcome = outcome_of(
        rejudge("MIN", ">", "5"), pay(1, 10, "6"), pay(2, 5, "1", accepted=10), pay(3, 11, "9")
    )
    assert rows(outcome) == [("t1", "6", None)]
