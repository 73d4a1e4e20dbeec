"""Filters: what they say of one transaction, and that what does not pass has no part in a rule at all."""

from __future__ import annotations

import json

import pytest

from tests.oracle import Outcome, Record
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.oracle.parsers.filters import fields_of, passes, read_filter
from tests.oracle.parsers.transactions import read_transaction
from tests.oracle.values.errors import Unreadable
from tests.oracle.values.model import Json
from tests.oracle.values.strict_json import read_object
from tests.unit.oracle.support.agreement import judge

T = 1_700_000_000_000
NO_PAYEE: Json = {"field": "payeeId", "operator": "!=", "value": "7"}
CASH: Json = {"field": "paymentType", "operator": "=", "value": "CSH"}


def holds(condition: Json, amount: str = "10", **more: Json) -> bool:
    """Of a payment of 10 from 25 to 12 in cash at T, never ingested."""
    document = read_object(json.dumps({"filter": condition}).encode())
    transaction = read_transaction(payment(1, T, amount, more=more))
    return passes(read_filter(document["filter"]), transaction)


def compared(field: str, operator: str, value: Json) -> Json:
    return {"field": field, "operator": operator, "value": value}


@pytest.mark.parametrize(
    ("field", "below", "same", "above"),
    [("paymentAmount", "9.999999", "1e1", 11), ("eventTime", T - 1, T, T + 1)],
)
def test_numbers_compare_by_value(field: str, below: Json, same: Json, above: Json) -> None:
    expected = {"=": "010", "!=": "101", ">=": "110", "<=": "011", ">": "100", "<": "001"}
    for operator, answers in expected.items():
        held = [holds(compared(field, operator, value)) for value in (below, same, above)]
        assert held == [answer == "1" for answer in answers], operator


def test_texts_are_equal_or_not() -> None:
    assert holds(compared("payeeId", "=", "25"))
    assert holds(compared("payeeId", "=", 25))
    assert holds(compared("payerId", "=", "25"))
    assert not holds(compared("payeeId", "=", "025"))
    assert holds(compared("beneficiaryId", "!=", "25"))
    assert holds(CASH)
    assert not holds(CASH, paymentType="CRD")


def test_lists() -> None:
    assert holds({"field": "payeeId", "in": ["1", "25"]})
    assert not holds({"field": "payeeId", "in": ["1"]})
    assert holds({"field": "paymentAmount", "in": ["3", "10.00"]})
    assert holds({"field": "eventTime", "in": [T]})


@pytest.mark.parametrize(
    "condition",
    [
        compared("payeeId", "=", "25"),
        compared("payeeId", "!=", "25"),
        {"field": "payeeId", "in": ["25"]},
        compared("ingestionTimestamp", "<", 5),
        compared("ingestionTimestamp", "!=", 5),
        compared("ingestionTimestamp", ">=", 5),
    ],
)
def test_a_comparison_with_null_is_false_and_its_not_true(condition: Json) -> None:
    assert not holds(condition, payeeId=None)
    assert holds({"not": condition}, payeeId=None)


def test_ingestion_time_when_there_is_one() -> None:
    assert holds(compared("ingestionTimestamp", ">=", 5), ingestionTimestamp=5)


def test_combinations() -> None:
    yes, no = CASH, compared("paymentType", "=", "CRD")
    table: list[tuple[Json, bool]] = [
        ({"all": [yes]}, True),
        ({"all": [yes, no]}, False),
        ({"any": [no, yes]}, True),
        ({"any": [no, no]}, False),
        ({"not": {"any": [no, {"all": [yes, no]}]}}, True),
    ]
    assert [holds(condition) for condition, _ in table] == [answer for _, answer in table]


@pytest.mark.parametrize(
    "condition",
    [
        {},
        [],
        {"all": []},
        {"any": []},
        {"not": []},
        {"not": [CASH]},
        {"all": [CASH], "any": [CASH]},
        {"field": "payeeId", "in": []},
        {"field": "payeeId", "in": "25"},
        {**dict(CASH), "note": 1},  # type: ignore[arg-type]
        compared("transactionId", "=", "t1"),
        compared("note", "=", "t1"),
        compared("payeeId", ">", "25"),
        compared("paymentType", "<", "CSH"),
        compared("paymentType", "=", "cash"),
        compared("paymentAmount", "==", "1"),
        compared("paymentAmount", "=", "0.0000001"),
        compared("paymentAmount", "=", None),
        compared("eventTime", "=", "5"),
        compared("eventTime", "=", -1),
        compared("payeeId", "=", ""),
        compared("payeeId", "=", None),
        compared("payeeId", "=", True),
        compared("payeeId", "=", "z" * 65),
    ],
)
def test_what_is_no_filter(condition: Json) -> None:
    with pytest.raises(Unreadable):
        holds(condition)


def test_the_fields_of_a_filter() -> None:
    document = {"filter": {"any": [{"not": NO_PAYEE}, {"all": [CASH, {"field": "eventTime", "in": [1]}]}]}}
    condition = read_filter(read_object(json.dumps(document).encode())["filter"])
    assert fields_of(condition) == {"payeeId", "paymentType", "eventTime"}


def outcome_of(condition: Json, *records: Record, by: tuple[str, ...] = ("payeeId",)) -> Outcome:
    rule = draft("COUNT", ">=", "1", by=by, seconds=60, only=condition)
    return judge([batch(events=[Registry().publish(1, rule, 0, 0)], records=records)])


def test_what_does_not_pass_neither_triggers_nor_counts_nor_makes_late() -> None:
    card: dict[str, Json] = {"paymentType": "CRD"}
    records = [
        payment(1, T),
        payment(2, T + 9, more=card),
        payment(3, T + 5, record_time=T + 9),
        payment(4, T + 4, record_time=T + 9),
    ]
    alerts = outcome_of(CASH, *records).alerts
    assert [(alert["eventTime"], alert["value"], alert["late"]) for alert in alerts] == [
        (T, "1", None),
        (T + 5, "2", None),
        (T + 4, "2", {"newestEventTime": T + 5}),
    ]


def test_a_filter_on_a_field_that_is_null() -> None:
    records = [payment(1, T, more={"payeeId": None}), payment(2, T)]
    assert [a["value"] for a in outcome_of({"not": NO_PAYEE}, *records, by=("beneficiaryId",)).alerts] == [
        "1"
    ]
    assert [a["value"] for a in outcome_of(NO_PAYEE, *records, by=("beneficiaryId",)).alerts] == ["1"]


def test_what_does_not_pass_is_no_null_group() -> None:
    records = [
        payment(1, T, more={"payeeId": None}),
        payment(2, T, more={"payeeId": None, "paymentType": "CRD"}),
    ]
    assert outcome_of(CASH, *records).null_groups == 1


def test_an_invalid_filter_is_a_skipped_event() -> None:
    assert outcome_of({"all": []}, payment(1, T)).skipped_rule_events == 1


@pytest.mark.parametrize(("condition", "value"), [(None, "2"), (CASH, "1")])
def test_the_filter_needs_history_of_its_fields(condition: Json, value: str) -> None:
    # Only a rule that does not use paymentType kept this history.
    registry = Registry()
    keeper = registry.publish(1, draft("COUNT", ">", "99", by=("payeeId",), seconds=7200), 0, 0)
    later = draft("COUNT", ">=", "1", by=("payeeId",), seconds=7200, only=condition)
    clock = T + 30 * 60_000
    batches = [
        batch(events=[keeper], ticks=[T], records=[payment(1, T)]),
        batch(ticks=[clock]),
        batch(events=[registry.publish(2, later, 0, 0)], records=[payment(2, clock)]),
    ]
    assert [alert["value"] for alert in judge(batches, catch_up=False).alerts] == [value]
