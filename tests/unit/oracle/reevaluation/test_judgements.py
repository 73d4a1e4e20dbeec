"""Judgements that a late transaction reopens under `reevaluate`, each sentence by a case done by hand."""

from __future__ import annotations

import pytest

from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft
from tests.oracle.values.model import Json
from tests.unit.oracle.support.agreement import judge
from tests.unit.oracle.support.reevaluation import CASH, outcome_of, rejudge, rows
from tests.unit.oracle.support.timeline import pay


def test_a_late_one_brings_an_earlier_judgement_over_the_limit() -> None:
    records = [pay(1, 10, "600"), pay(2, 5, "500", accepted=10)]
    assert rows(outcome_of(rejudge("SUM", ">", "1000"), *records)) == [("t1", "1100", "t2")]
    assert rows(outcome_of(rejudge("SUM", ">", "1000", "evaluate"), *records)) == []
    assert rows(outcome_of(rejudge("SUM", ">", "1000", "store"), *records)) == []


@pytest.mark.parametrize(
    ("function", "operator", "limit", "value"),
    [
        ("COUNT", ">=", "2", "2"),
        ("COUNT", "=", "2", "2"),
        ("MIN", "<", "4", "3"),
        ("MAX", ">", "4", "5"),
        ("AVG", "<", "4.5", "4"),
        ("SUM", "<=", "4", "4"),
        ("SUM", "!=", "5", "4"),
    ],
)
def test_by_every_kind_of_value(function: str, operator: str, limit: str, value: str) -> None:
    newer, late = {
        "COUNT": ("1", "1"),
        "MIN": ("4", "3"),
        "MAX": ("4", "5"),
        "AVG": ("5", "3"),
        "SUM": ("5", "-1"),
    }[function]
    # The late one itself alerts as well for some of them: before, and not from judging again.
    judged = rows(
        outcome_of(rejudge(function, operator, limit), pay(1, 10, newer), pay(2, 5, late, accepted=10))
    )
    assert judged[-1] == ("t1", value, "t2")
    assert [by for *_, by in judged[:-1]] == [None] * (len(judged) - 1)


def test_values_are_counted_again_too() -> None:
    what = rejudge("COUNT_DISTINCT", ">", "1", field="beneficiaryId")
    records = [pay(1, 10), pay(2, 5, accepted=10), pay(3, 4, accepted=10, beneficiaryId=13)]
    # The second has the same beneficiary. The third makes two of them: with the first, and with the second.
    assert rows(outcome_of(what, *records)) == [("t2", "2", "t3"), ("t1", "2", "t3")]


def test_newer_by_at_most_the_window_and_not_of_the_same_time() -> None:
    records = [pay(1, 10), pay(2, 70), pay(3, 70.001), pay(4, 200), pay(5, 10, accepted=200)]
    outcome = outcome_of(rejudge("COUNT", "=", "2"), *records)
    # t2 and t3 had two and three from the start, t1 is of the time of t5, and t4 is out of its reach.
    assert rows(outcome) == [("t2", "2", None), ("t3", "2", None), ("t5", "2", None)]
    assert outcome.counts[1].reevaluated == 0
    outcome = outcome_of(rejudge("COUNT", "=", "3"), *records)
    # Without alerts so far, t2 has t5 on the edge of its window; t3 is a millisecond beyond it.
    assert rows(outcome) == [("t2", "3", "t5")]
    assert outcome.counts[1].reevaluated == 1


def test_by_event_time_then_by_acceptance() -> None:
    records = [
        pay(1, 30),
        pay(2, 20, accepted=30),
        pay(3, 30),
        pay(4, 25, accepted=30),
        pay(5, 10, accepted=30),
    ]
    judged = rows(outcome_of(rejudge("COUNT", ">=", "1"), *records))
    assert judged == [
        ("t1", "1", None),
        ("t2", "1", None),
        ("t3", "3", None),
        ("t4", "2", None),
        ("t5", "1", None),
    ]
    largest = rejudge("MAX", ">", "10")
    judged = rows(outcome_of(largest, *records[:4], pay(5, 10, "99", accepted=30)))
    assert judged == [
        ("t5", "99", None),
        ("t2", "99", "t5"),
        ("t4", "99", "t5"),
        ("t1", "99", "t5"),
        ("t3", "99", "t5"),
    ]


def test_over_all_accepted_so_far_with_equal_times_after_it() -> None:
    # t2 is not late, so that t1 is not judged again for it; for t3 both are, over all three.
    records = [pay(1, 10), pay(2, 10), pay(3, 5, accepted=10)]
    outcome = outcome_of(rejudge("COUNT", ">=", "3"), *records)
    assert rows(outcome) == [("t1", "3", "t3"), ("t2", "3", "t3")]
    assert outcome.counts[1].reevaluated == 2


def test_in_its_own_window() -> None:
    # t1 at 10 s has nothing of what came after that time, t3 no longer what came before 40 s.
    records = [pay(1, 10, "1"), pay(2, 35, "2"), pay(3, 100, "4"), pay(4, 5, "8", accepted=100)]
    outcome = outcome_of(rejudge("SUM", ">=", "9"), *records)
    assert rows(outcome) == [("t1", "9", "t4"), ("t2", "11", "t4")]
    assert outcome.counts[1].reevaluated == 2


def test_in_its_group_alone_and_not_without_a_group() -> None:
    records = [
        pay(1, 10),
        pay(2, 11, payeeId=7),
        pay(3, 5, accepted=11),
        pay(4, 4, accepted=11, payeeId=None),
    ]
    outcome = outcome_of(rejudge("COUNT", ">", "1"), *records)
    assert rows(outcome) == [("t1", "2", "t3")]
    assert outcome.counts[1].reevaluated == 1


def test_only_what_passes_the_filter_and_for_what_passes_it() -> None:
    what = rejudge("COUNT", ">", "1", only=CASH)
    card: Json = "CRD"
    outcome = outcome_of(what, pay(1, 10), pay(2, 5, accepted=10, paymentType=card))
    assert (rows(outcome), outcome.counts[1].reevaluated) == ([], 0)
    assert rows(outcome_of(what, pay(1, 10, paymentType=card), pay(2, 5, accepted=10))) == []
    assert rows(outcome_of(what, pay(1, 10), pay(2, 5, accepted=10))) == [("t1", "2", "t2")]


def test_a_duplicate_and_a_rejected_one_open_nothing() -> None:
    records = [pay(1, 10), pay(2, 5, accepted=10, transactionId="t1"), pay(3, -600, accepted=10)]
    outcome = outcome_of(rejudge("COUNT", ">", "1"), *records)
    assert (outcome.alerts, outcome.counts[1].reevaluated, outcome.counts[1].duplicates) == ([], 0, 1)
    assert [reject.reason for reject in outcome.rejects] == ["too_late"]


def test_on_the_anchor_of_the_rule() -> None:
    # The repeated id has another payee: on that anchor it is new, on the global one a duplicate.
    registry = Registry()
    by_payee, by_none = rejudge("COUNT", ">", "1"), draft("COUNT", ">", "2", by=(), late_events="reevaluate")
    events = [registry.publish(1, by_payee, 0, 0), registry.publish(2, by_none, 0, 0)]
    records = [pay(1, 10), pay(2, 10, payeeId=7), pay(3, 5, accepted=10, payeeId=7, transactionId="t1")]
    outcome = judge([batch(events=events, records=records)])
    assert rows(outcome) == [("t2", "2", "t1")]
    assert {rule: counts.reevaluated for rule, counts in outcome.counts.items()} == {1: 1, 2: 0}


def test_what_is_not_on_the_anchor_does_not_open_again_what_the_last_one_there_did() -> None:
    records = [pay(1, 10), pay(2, 5, accepted=10), pay(3, 5, accepted=10, transactionId="t2")]
    outcome = outcome_of(rejudge("COUNT", ">", "9"), *records, pay(4, 5, accepted=10, payeeId=None))
    assert (outcome.counts[1].reevaluated, outcome.counts[1].duplicates) == (1, 1)
    assert outcome.counts[1].null_groups == 1
