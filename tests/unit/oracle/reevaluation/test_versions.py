"""Re-evaluation by the version that judged, whichever is in force for the late transaction."""

from __future__ import annotations

from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import draft
from tests.oracle.values.rule_counts import Counts
from tests.unit.oracle.support.reevaluation import MINUTE, rejudge, rows
from tests.unit.oracle.support.timeline import T, pay, play


def test_before_the_version_begins() -> None:
    what = Registry().publish(1, rejudge("COUNT", ">", "1"), T + 8000, 0)
    outcome = play(what, pay(1, 10), pay(2, 5, accepted=10))
    assert rows(outcome) == [("t1", "2", "t2")]
    assert outcome.counts[1] == Counts(evaluations=1, reevaluated=1)


def test_by_the_version_that_judged_it_and_by_no_other() -> None:
    registry = Registry()
    first, second = rejudge("COUNT", ">", "1"), rejudge("COUNT", ">=", "1", "store")
    events = [registry.publish(1, first, 0, 0), registry.publish(1, second, T + 20_000, 0)]
    outcome = play(*events, pay(1, 10), pay(2, 20), pay(3, 5, accepted=20))
    assert [alert["ruleVersion"] for alert in outcome.alerts] == [2, 1]
    assert rows(outcome) == [("t2", "2", None), ("t1", "2", "t3")]
    # The other way round: in force for the late one is a version that only stores it.
    registry = Registry()
    events = [registry.publish(1, second, 0, 0), registry.publish(1, first, T + 20_000, 0)]
    outcome = play(*events, pay(1, 10), pay(2, 20, payeeId=7), pay(3, 5, accepted=20, payeeId=7))
    assert rows(outcome) == [("t1", "1", None), ("t2", "2", "t3")]
    assert [alert["ruleVersion"] for alert in outcome.alerts] == [1, 2]
    assert (outcome.counts[1].late_stored, outcome.counts[1].reevaluated) == (1, 1)


def test_two_versions_side_by_side_by_event_time() -> None:
    registry = Registry()
    events = [registry.publish(1, rejudge("MAX", ">", "10"), since, 0) for since in (0, T + 20_000)]
    records = [pay(1, 30), pay(2, 19, accepted=30), pay(3, 20, accepted=30), pay(4, 5, "99", accepted=30)]
    outcome = play(*events, *records)
    assert rows(outcome) == [("t4", "99", None), ("t2", "99", "t4"), ("t3", "99", "t4"), ("t1", "99", "t4")]
    assert [alert["ruleVersion"] for alert in outcome.alerts] == [1, 1, 2, 2]


def test_by_event_time_where_the_lower_version_has_judged_the_newer() -> None:
    registry = Registry()
    rule = [registry.publish(1, rejudge("MAX", ">", "10"), since, 0) for since in (T + 20_000, 0)]
    outcome = play(rule[0], pay(1, 30), rule[1], pay(2, 19, accepted=30), pay(3, 5, "99", accepted=30))
    assert rows(outcome) == [("t3", "99", None), ("t2", "99", "t3"), ("t1", "99", "t3")]
    assert [alert["ruleVersion"] for alert in outcome.alerts] == [2, 2, 1]


def test_a_superseded_version_goes_on_until_it_has_left() -> None:
    # The second begins for good before all there is; the first has judged t1 and stays 15 min after that begin.
    for tick, expected in ((T + 15 * MINUTE, [("t1", "2", "t2")]), (T + 15 * MINUTE + 1, [])):
        registry = Registry()
        what = rejudge("COUNT", ">", "1")
        other = draft("COUNT", ">", "9", by=("payeeId",), seconds=60)
        outcome = play(
            registry.publish(1, what, 0, 0),
            pay(1, 905),
            registry.publish(1, other, T, 0),
            tick,
            pay(2, 904, accepted=905),
        )
        assert rows(outcome) == expected
