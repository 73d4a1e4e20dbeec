"""What triggers a chained rule, and its counters, each sentence by a case small enough to do by hand."""

from __future__ import annotations

from tests.oracle.values.rule_counts import Counts
from tests.unit.oracle.support.chains import BOTH, CASH, LARGE, all_of, any_of, count, ids, outcome_of
from tests.unit.oracle.support.timeline import pay


def test_what_passes_the_rule_s_filter_and_some_condition_s_triggers() -> None:
    what = any_of(
        count(0, only=CASH), count(0, only=LARGE), condition={"not": {"field": "payeeId", "in": ["7"]}}
    )
    records = [
        pay(1, 0),
        pay(2, 1, "100", paymentType="CRD"),
        pay(3, 2, paymentType="CRD"),
        pay(4, 3, payeeId=7),
        pay(5, 4, "100"),
    ]
    outcome = outcome_of(what, *records)
    assert ids(outcome) == ["t1", "t2", "t5"]
    assert outcome.counts == {1: Counts(evaluations=3)}


def test_a_condition_without_a_filter_passes_everything() -> None:
    what = any_of(count(1, only=LARGE), count(1))
    assert ids(outcome_of(what, pay(1, 0), pay(2, 1, "100"))) == ["t1", "t2"]


def test_a_null_in_any_grouping_is_a_null_group_if_it_passes() -> None:
    what = all_of(count(1), count(1, by=BOTH), condition=CASH)
    records = [
        pay(1, 0, beneficiaryId=None),
        pay(2, 1, payeeId=None),
        pay(3, 2, beneficiaryId=None, paymentType="CRD"),
        pay(4, 3),
    ]
    outcome = outcome_of(what, *records)
    assert (outcome.null_groups, ids(outcome)) == (2, ["t4"])
    assert outcome.counts == {1: Counts(evaluations=1, null_groups=2)}


def test_a_null_group_that_passes_no_condition_s_filter_is_none() -> None:
    what = all_of(count(1, only=CASH), count(1, by=BOTH, only=LARGE))
    outcome = outcome_of(what, pay(1, 0, paymentType="CRD", beneficiaryId=None))
    assert (outcome.null_groups, outcome.counts) == (0, {})


def test_duplicates_and_equal_times_go_by_what_triggers() -> None:
    what = any_of(count(9, only=CASH), count(9, by=BOTH, only=LARGE))
    records = [
        pay(1, 0),
        pay(1, 0, accepted=1),
        pay(2, 0, "100", accepted=1, paymentType="CRD"),
        pay(3, 0, accepted=1, paymentType="CRD"),
        pay(3, 0, accepted=2, paymentType="CRD"),
        pay(4, 0, accepted=2, beneficiaryId=13),
    ]
    assert outcome_of(what, *records).counts == {1: Counts(evaluations=3, equal_times=1, duplicates=1)}
