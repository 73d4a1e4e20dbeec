"""Re-evaluation in catch-up, as if live."""

from __future__ import annotations

from tests.oracle.builders.registry import Registry
from tests.oracle.values.rule_counts import Counts
from tests.unit.oracle.support.reevaluation import MINUTE, outcome_of, rejudge, rows
from tests.unit.oracle.support.timeline import T, pay, play


def test_in_catch_up_as_if_live() -> None:
    records = [pay(1, 10), pay(2, 5, accepted=10), pay(3, 11), pay(4, 4, accepted=11)]
    live = outcome_of(rejudge("COUNT", ">", "1"), *records)
    caught_up = play(*records, Registry().publish(1, rejudge("COUNT", ">", "1"), 0, 0))
    expected = [("t1", "2", "t2"), ("t3", "3", None), ("t2", "2", "t4")]
    assert rows(live) == expected
    assert rows(caught_up) == expected
    assert live.counts == caught_up.counts == {1: Counts(evaluations=4, late_evaluated=2, reevaluated=2)}


def test_for_late_ones_that_are_not_caught_up_themselves() -> None:
    records = [pay(1, 10), pay(2, 5, accepted=10)]
    outcome = play(*records, Registry().publish(1, rejudge("COUNT", ">", "1"), T + 10_000, 0))
    assert rows(outcome) == [("t1", "2", "t2")]
    assert outcome.counts[1] == Counts(evaluations=1, reevaluated=1)


def test_for_late_ones_that_another_version_has_judged() -> None:
    registry = Registry()
    outcome = play(
        registry.publish(1, rejudge("COUNT", ">", "9"), T + 8000, 0),
        pay(1, 7),
        pay(2, 9, payeeId=7),
        pay(3, 8, payeeId=7, accepted=9),
        pay(4, 6, accepted=9),
        registry.publish(1, rejudge("COUNT", ">", "1"), 0, 0),
    )
    # t1 and t4 are caught up; t2 and t3 were judged by the first version, which goes on with them.
    assert rows(outcome) == [("t1", "2", "t4")]
    assert outcome.counts[1] == Counts(evaluations=4, late_evaluated=2, reevaluated=2)


def test_each_late_one_over_what_was_accepted_before_it() -> None:
    records = [pay(1, 10), pay(2, 5, accepted=10), pay(3, 4, accepted=10)]
    outcome = play(*records, Registry().publish(1, rejudge("COUNT", ">=", "2"), T + 10_000, 0))
    assert rows(outcome) == [("t1", "2", "t2")]


def test_what_was_caught_up_is_judged_again_for_late_ones_that_come_live() -> None:
    outcome = play(
        pay(1, 10), Registry().publish(1, rejudge("COUNT", ">", "1"), T + 10_000, 0), pay(2, 5, accepted=10)
    )
    assert rows(outcome) == [("t1", "2", "t2")]


def test_an_invisible_late_one_comes_into_no_window() -> None:
    # The floor is at 5 s when the version is taken: t2 lies on it, t3 below.
    slack = 15 * MINUTE
    outcome = play(
        T,
        pay(1, 10),
        pay(2, 5, accepted=10),
        pay(3, 4.999, accepted=10),
        T + slack + 5000,
        Registry().publish(1, rejudge("COUNT", ">", "1"), 0, 0),
    )
    assert rows(outcome) == [("t1", "2", "t2")]
    assert outcome.counts[1] == Counts(evaluations=2, late_evaluated=1, reevaluated=1)


def test_a_version_taken_in_a_pause_has_judged_nothing() -> None:
    registry = Registry()
    outcome = play(
        pay(1, 10),
        registry.publish(1, rejudge("COUNT", ">", "1"), 0, 0, paused=True),
        registry.move("RuleResumed", "ACTIVE", 1, 0),
        pay(2, 5, accepted=10),
    )
    assert (rows(outcome), outcome.counts[1].reevaluated) == ([], 0)
