"""The window of each condition of a chained rule, each sentence by a case small enough to do by hand."""

from __future__ import annotations

import pytest

from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft
from tests.oracle.values.model import Json
from tests.unit.oracle.support.agreement import judge
from tests.unit.oracle.support.chains import (
    BOTH,
    CARD,
    CASH,
    LARGE,
    PAYEE,
    all_of,
    all_values,
    any_of,
    count,
    ids,
    negate,
    outcome_of,
    total,
    values,
)
from tests.unit.oracle.support.timeline import T, pay


def test_each_condition_has_its_own_window() -> None:
    what = all_of(count(1, seconds=10), total("0", seconds=60))
    outcome = outcome_of(what, pay(1, 0, "1"), pay(2, 50, "2"), pay(3, 60, "4"), pay(4, 61, "8"))
    assert all_values(outcome) == [["1", "1"], ["1", "3"], ["2", "7"], ["2", "14"]]
    assert values(outcome.alerts[3], "windowStart") == [T + 51_000, T + 1_000]


def test_each_condition_has_its_own_group() -> None:
    what = any_of(count(1), count(1, by=BOTH), count(1, by=("payeeId", "paymentType")))
    records = [pay(1, 0), pay(2, 1, beneficiaryId=13), pay(3, 2, paymentType="CRD"), pay(4, 3, payeeId=7)]
    assert all_values(outcome_of(what, *records)) == [
        ["1", "1", "1"],
        ["2", "1", "2"],
        ["3", "2", "1"],
        ["1", "1", "1"],
    ]


def test_what_passes_both_filters_counts_and_the_event_itself_only_so() -> None:
    what = any_of(count(0, only=CASH), count(0, only=LARGE), count(0), condition={"not": LARGE_CARD})
    records = [
        pay(1, 0),
        pay(2, 1, "100"),
        pay(3, 2, paymentType="CRD"),
        pay(4, 3, "100", paymentType="CRD"),
        pay(5, 4, paymentType="CRD"),
    ]
    outcome = outcome_of(what, *records)
    assert ids(outcome) == ["t1", "t2", "t3", "t5"]
    assert all_values(outcome) == [["1", "0", "1"], ["2", "1", "2"], ["2", "1", "3"], ["2", "1", "4"]]


LARGE_CARD: Json = {"all": [LARGE, CARD]}


def test_nulls_in_the_rule_s_other_fields_do_not_matter_to_a_condition() -> None:
    what = all_of(count(1), count(1, by=BOTH))
    outcome = outcome_of(what, pay(1, 0, beneficiaryId=None), pay(2, 1))
    assert (ids(outcome), all_values(outcome)) == (["t2"], [["2", "1"]])


@pytest.mark.parametrize(
    ("function", "field", "operator", "limit", "value", "held"),
    [
        ("SUM", "paymentAmount", "<=", "0", "0", True),
        ("COUNT", "paymentAmount", "=", "0", "0", True),
        ("COUNT", "paymentAmount", ">", "0", "0", False),
        ("COUNT_DISTINCT", "payeeId", "<", "1", "0", True),
        ("AVG", "paymentAmount", "<", "5", None, False),
        ("MIN", "paymentAmount", "<", "5", None, False),
        ("MAX", "paymentAmount", "!=", "5", None, False),
        ("SECONDS_SINCE_PREVIOUS", "paymentAmount", ">=", "0", None, False),
        ("SECONDS_SINCE_FIRST", "paymentAmount", ">=", "0", None, False),
        ("CHANGED", "paymentType", "!=", "5", None, False),
        ("STDDEV", "paymentAmount", "!=", "5", None, False),
    ],
)
def test_of_nothing(function: str, field: str, operator: str, limit: str, value: Json, *, held: bool) -> None:
    nothing = draft(function, operator, limit, by=PAYEE, seconds=60, only=CARD, field=field)
    outcome = outcome_of(any_of(nothing, negate(nothing), count(99)), pay(1, 0))
    (alert,) = outcome.alerts
    assert values(alert) == [value, value, "1"]
    assert values(alert, "holds") == [held, held, False]
    assert values(alert, "contributors")[0] == {"count": 0, "transactions": [], "truncated": False}


def test_one_that_does_not_count_itself_looks_back_all_the_same() -> None:
    """Of the last four none is a card payment; the third of them comes late, between the two that are."""
    looks = [
        draft(function, ">=", "0", by=PAYEE, seconds=60, only=CARD, field="paymentType")
        for function in ("SECONDS_SINCE_PREVIOUS", "SECONDS_SINCE_FIRST", "CHANGED")
    ]
    records = [
        pay(1, 0, paymentType="CRD"),
        pay(2, 10, paymentType="CRD"),
        pay(3, 12),
        pay(4, 20),
        pay(5, 4, accepted=21),
        pay(6, 61),
    ]
    for cut in range(len(records)):
        event = Registry().publish(1, any_of(*looks, count(1)), 0, 0)
        outcome = judge([batch(events=[event], records=records[:cut]), batch(records=records[cut:])])
        assert dict(zip(ids(outcome), all_values(outcome), strict=True)) == {
            "t1": [None, "0", None, "1"],
            "t2": ["10", "10", "0", "2"],
            "t3": ["2", "12", "1", "3"],
            "t4": ["10", "20", "1", "4"],
            "t5": ["4", "4", "1", "2"],
            "t6": ["51", "51", "1", "5"],
        }


def test_a_condition_that_counts_distinct_values_shows_them() -> None:
    distinct = draft("COUNT_DISTINCT", ">=", "2", by=PAYEE, seconds=60, field="beneficiaryId")
    outcome = outcome_of(
        all_of(distinct), pay(1, 0), pay(2, 1, beneficiaryId=None), pay(3, 2, beneficiaryId=13)
    )
    assert (ids(outcome), all_values(outcome)) == (["t3"], [["2"]])
    assert values(outcome.alerts[0], "aggregateFieldName") == ["beneficiaryId"]
    assert values(outcome.alerts[0], "contributors") == [
        {
            "count": 2,
            "transactions": [
                {"transactionId": "t3", "eventTime": T + 2_000, "value": "13"},
                {"transactionId": "t1", "eventTime": T, "value": "12"},
            ],
            "truncated": False,
        }
    ]
