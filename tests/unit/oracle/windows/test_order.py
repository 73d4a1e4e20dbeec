"""Aggregates that look at which transaction was before, each sentence by a case small enough to do by hand."""

from __future__ import annotations

import json

import pytest

from tests.oracle import Outcome, Record
from tests.oracle.builders.drafts import Draft
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.oracle.values.model import Json
from tests.unit.oracle.support.agreement import judge

T = 1_700_000_000_000
PREVIOUS, FIRST, CHANGED = "SECONDS_SINCE_PREVIOUS", "SECONDS_SINCE_FIRST", "CHANGED"
CARD: Json = {"field": "paymentType", "operator": "=", "value": "CRD"}


def pay(offset: int, seconds: float, accepted: float | None = None, **more: Json) -> Record:
    """A payment at T + seconds, on record at T + accepted where that is later."""
    later = seconds if accepted is None else accepted
    return payment(offset, T + round(1000 * seconds), record_time=T + round(1000 * later), more=dict(more))


def measured(function: str, operator: str = ">=", limit: str = "0", *, firing: str = "every") -> Draft:
    """Of what a payee did within a minute; of CHANGED whom he paid."""
    return draft(function, operator, limit, by=("payeeId",), seconds=60, field="beneficiaryId", firing=firing)


def outcome_of(what: Draft, *records: Record, cut: int | None = None) -> Outcome:
    """The outcome, of one micro-batch or of two."""
    event = Registry().publish(1, what, 0, 0)
    if cut is None:
        return judge([batch(events=[event], records=records)])
    return judge([batch(events=[event], records=records[:cut]), batch(records=records[cut:])])


def values(what: Draft, *records: Record, cut: int | None = None) -> dict[Json, Json]:
    """The value of each alert by the id of its payment."""
    told: dict[Json, Json] = {}
    for alert in outcome_of(what, *records, cut=cut).alerts:
        transaction = alert["transaction"]
        assert isinstance(transaction, dict)
        told[transaction["transactionId"]] = alert["value"]
    return told


# --- SECONDS_SINCE_PREVIOUS


def test_from_the_newest_other_one_in_the_window_in_thousandths() -> None:
    records = [pay(1, 0), pay(2, 10.001), pay(3, 70.001), pay(4, 130.002), pay(5, 130.002)]
    # The first has none before it. t3 has one exactly a window back, t4 none: that is a millisecond further.
    assert values(measured(PREVIOUS), *records) == {"t2": "10.001", "t3": "60", "t5": "0"}


def test_of_equal_times_the_one_accepted_before_is_before() -> None:
    records = [pay(1, 0), pay(2, 0), pay(3, 0)]
    assert values(measured(PREVIOUS, "="), *records) == {"t2": "0", "t3": "0"}


def test_a_late_one_looks_back_from_its_own_time_and_is_before_later_ones() -> None:
    records = [pay(1, 0), pay(2, 30), pay(3, 20, 31), pay(4, 25, 32), pay(5, 40)]
    for cut in (None, 2, 3, 4):
        assert values(measured(PREVIOUS), *records, cut=cut) == {
            "t2": "30",
            "t3": "20",
            "t4": "5",
            "t5": "10",
        }


def test_no_value_holds_against_no_limit() -> None:
    assert values(measured(PREVIOUS, "!=", "5"), pay(1, 0)) == {}
    assert values(measured(CHANGED, "!=", "5"), pay(1, 0)) == {}


def test_other_groups_are_others() -> None:
    records = [pay(1, 0), pay(2, 1, payeeId=7), pay(3, 2)]
    assert values(measured(PREVIOUS), *records) == {"t3": "2"}


# --- SECONDS_SINCE_FIRST


def test_from_the_oldest_in_the_window_itself_included() -> None:
    records = [pay(1, 0), pay(2, 10.5), pay(3, 60), pay(4, 60.001), pay(5, 130)]
    assert values(measured(FIRST), *records) == {
        "t1": "0",
        "t2": "10.5",
        "t3": "60",
        "t4": "49.501",
        "t5": "0",
    }


def test_a_late_one_is_the_first_from_then_on() -> None:
    records = [pay(1, 10), pay(2, 20), pay(3, 5, 21), pay(4, 30)]
    for cut in (None, 2, 3):
        assert values(measured(FIRST), *records, cut=cut) == {"t1": "0", "t2": "10", "t3": "0", "t4": "25"}


# --- CHANGED


def test_1_where_the_one_before_has_another_value() -> None:
    records = [
        pay(1, 0),
        pay(2, 1),
        pay(3, 2, beneficiaryId=13),
        pay(4, 3, beneficiaryId="13"),
        pay(5, 4),
    ]
    assert values(measured(CHANGED), *records) == {"t2": "0", "t3": "1", "t4": "0", "t5": "1"}


def test_null_is_a_value() -> None:
    records = [
        pay(1, 0, beneficiaryId=None),
        pay(2, 1, beneficiaryId=None),
        pay(3, 2),
        pay(4, 3, beneficiaryId=""),
    ]
    assert values(measured(CHANGED), *records) == {"t2": "0", "t3": "1", "t4": "1"}


@pytest.mark.parametrize(
    ("field", "other"), [("paymentType", "CRD"), ("paymentAmount", "1.000001"), ("paymentAmount", "-1")]
)
def test_of_any_field_that_may_be_a_key(field: str, other: Json) -> None:
    what = draft(CHANGED, ">=", "0", by=("payeeId",), seconds=60, field=field)
    assert values(what, pay(1, 0), pay(2, 1), pay(3, 2, None, **{field: other})) == {"t2": "0", "t3": "1"}


def test_amounts_are_compared_by_value() -> None:
    what = draft(CHANGED, ">=", "0", by=("payeeId",), seconds=60, field="paymentAmount")
    records = [pay(1, 0, paymentAmount="1e2"), pay(2, 1, paymentAmount="100.000")]
    assert values(what, *records) == {"t2": "0"}


def test_a_field_of_the_grouping_never_changes() -> None:
    what = draft(CHANGED, "=", "1", by=("beneficiaryId", "payeeId"), seconds=60, field="beneficiaryId")
    assert values(what, pay(1, 0), pay(2, 1, beneficiaryId=13), pay(3, 2)) == {}


# --- in alerts, and beside other things


def test_contributors_are_those_of_the_window_with_the_field() -> None:
    outcome = outcome_of(measured(CHANGED, "="), pay(1, 0, beneficiaryId=None), pay(2, 1, beneficiaryId=None))
    assert outcome.alerts[0]["contributors"] == {
        "count": 2,
        "transactions": [
            {"transactionId": "t2", "eventTime": T + 1000, "value": None},
            {"transactionId": "t1", "eventTime": T, "value": None},
        ],
        "truncated": False,
    }
    outcome = outcome_of(measured(PREVIOUS, "<", "5"), pay(1, 0), pay(2, 1))
    assert outcome.alerts[0]["contributors"]["transactions"] == [  # type: ignore[index,call-overload]
        {"transactionId": "t2", "eventTime": T + 1000, "value": None},
        {"transactionId": "t1", "eventTime": T, "value": None},
    ]


def test_crossing_begins_where_it_begins_to_hold() -> None:
    records = [pay(1, 0), pay(2, 1), pay(3, 2), pay(4, 10), pay(5, 11)]
    assert values(measured(PREVIOUS, "<", "5", firing="crossing"), *records) == {"t2": "1", "t5": "1"}


REFUSED: list[tuple[str, dict[str, Json]]] = [
    (PREVIOUS, {"resetOnAlert": True}),
    (FIRST, {"lateEvents": "reevaluate"}),
    (CHANGED, {"precision": "bucketed(6)"}),
    (CHANGED, {"aggregateFieldName": None}),
    (CHANGED, {"aggregateFieldName": "eventTime"}),
    (FIRST, {"aggregateFieldName": "paymentAmount"}),
]


@pytest.mark.parametrize(("function", "members"), REFUSED)
def test_what_is_refused_is_skipped(function: str, members: dict[str, Json]) -> None:
    event = json.loads(Registry().publish(1, measured(function), 0, 0))
    event["definition"].update(members)
    outcome = judge([batch(events=[json.dumps(event).encode()], records=[pay(1, 0), pay(2, 1)])])
    assert (outcome.alerts, outcome.skipped_rule_events) == ([], 1)
