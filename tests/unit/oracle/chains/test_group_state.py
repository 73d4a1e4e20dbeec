"""Lateness, crossings and cooldowns of a chained rule, which go by the group of the rule."""

from __future__ import annotations

from tests.oracle.values.rule_counts import Counts
from tests.unit.oracle.support.chains import (
    BOTH,
    CASH,
    LARGE,
    all_of,
    all_values,
    any_of,
    count,
    ids,
    negate,
    outcome_of,
    total,
)
from tests.unit.oracle.support.timeline import T, pay


def test_late_is_for_the_rule_s_group_and_what_triggers() -> None:
    what = any_of(count(0, only=CASH), count(0, by=BOTH, only=LARGE))
    records = [
        pay(1, 10),
        pay(2, 20, beneficiaryId=13),
        pay(3, 30, paymentType="CRD"),
        pay(4, 9, accepted=30),
        pay(5, 15, "100", accepted=30, paymentType="CRD"),
        pay(6, 12, accepted=30),
    ]
    outcome = outcome_of(what, *records)
    assert [(name, alert["late"]) for name, alert in zip(ids(outcome), outcome.alerts, strict=True)] == [
        ("t1", None),
        ("t2", None),
        ("t4", {"newestEventTime": T + 10_000}),
        ("t5", None),
        ("t6", {"newestEventTime": T + 15_000}),
    ]
    assert outcome.counts[1] == Counts(evaluations=5, late_evaluated=2)


def test_store_keeps_late_ones_for_those_that_come() -> None:
    what = all_of(count(1), count(1, by=BOTH), late_events="store")
    outcome = outcome_of(
        what, pay(1, 10), pay(2, 9, accepted=10), pay(3, 9, accepted=10, beneficiaryId=13), pay(4, 11)
    )
    # t3 is late for the payee, but not for the rule's group.
    assert (ids(outcome), all_values(outcome)) == (
        ["t1", "t3", "t4"],
        [["1", "1"], ["2", "1"], ["4", "3"]],
    )
    assert outcome.counts[1] == Counts(evaluations=3, late_stored=1)


def test_crossing_is_of_the_rule_s_group_and_lasts_the_widest_window() -> None:
    what = all_of(count(1, seconds=10), count(1, by=BOTH, seconds=30), firing="crossing")
    records = [
        pay(1, 0),
        pay(2, 5),
        pay(3, 6, beneficiaryId=13),
        pay(4, 30),
        pay(5, 60),
        pay(6, 90.001),
    ]
    # t4 and t5 come 25 s and exactly 30 s after the last of their group, t6 comes later than that.
    assert ids(outcome_of(what, *records)) == ["t1", "t3", "t6"]


def test_crossing_again_after_it_did_not_hold() -> None:
    what = all_of(count(2), negate(total("10")), firing="crossing")
    records = [pay(1, 0), pay(2, 1), pay(3, 2), pay(4, 3, "50"), pay(5, 4, "-50"), pay(6, 5)]
    outcome = outcome_of(what, *records)
    assert (ids(outcome), all_values(outcome)) == (["t2", "t5"], [["2", "2"], ["5", "3"]])


def test_the_cooldown_is_of_the_rule_s_group() -> None:
    what = all_of(count(1), count(1, by=BOTH), cooldown=10)
    records = [
        pay(1, 0),
        pay(2, 5),
        pay(3, 6, beneficiaryId=13),
        pay(4, 10),
        pay(5, 15),
        pay(6, 16, beneficiaryId=13),
    ]
    assert ids(outcome_of(what, *records)) == ["t1", "t3", "t4", "t6"]
