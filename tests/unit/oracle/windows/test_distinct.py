"""COUNT_DISTINCT, each sentence by a case small enough to do by hand."""

from __future__ import annotations

import json

import pytest

from tests.oracle import MicroBatch, Outcome, Record
from tests.oracle.builders.drafts import Draft
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.oracle.values.model import Json
from tests.unit.oracle.support.agreement import judge

T = 1_700_000_000_000
MINUTE = 60_000


def pay(
    offset: int, seconds: float, accepted: float | None = None, amount: str = "1", **more: Json
) -> Record:
    """A payment at T + seconds, on record at T + accepted where that is later."""
    later = seconds if accepted is None else accepted
    return payment(
        offset, T + int(1000 * seconds), amount, record_time=T + int(1000 * later), more=dict(more)
    )


def to(offset: int, seconds: float, beneficiary: Json, accepted: float | None = None) -> Record:
    """The same to somebody."""
    return pay(offset, seconds, accepted, beneficiaryId=beneficiary)


def beneficiaries(
    operator: str = ">=",
    limit: str = "0",
    *,
    firing: str = "every",
    late: str = "evaluate",
    reset: bool = False,
) -> Draft:
    """How many beneficiaries a payee paid within a minute."""
    return draft(
        "COUNT_DISTINCT",
        operator,
        limit,
        by=("payeeId",),
        seconds=60,
        field="beneficiaryId",
        firing=firing,
        late_events=late,
        reset=reset,
    )


def outcome_of(what: Draft, *records: Record) -> Outcome:
    return judge([batch(events=[Registry().publish(1, what, 0, 0)], records=records)])


def values(what: Draft, *records: Record) -> list[tuple[object, object]]:
    """Offset and value of each alert."""
    return rows([batch(events=[Registry().publish(1, what, 0, 0)], records=records)])


def rows(batches: list[MicroBatch]) -> list[tuple[object, object]]:
    alert_rows: list[tuple[object, object]] = []
    for alert in judge(batches).alerts:
        transaction = alert["transaction"]
        assert isinstance(transaction, dict)
        alert_rows.append((transaction["transactionId"], alert["value"]))
    return alert_rows


# --- its form


@pytest.mark.parametrize("field", ["payeeId", "beneficiaryId", "paymentType", "paymentAmount"])
def test_of_any_field_that_may_be_a_key(field: str) -> None:
    counted = draft("COUNT_DISTINCT", ">=", "1", by=("paymentType",), field=field)
    assert values(counted, pay(1, 0)) == [("t1", "1")]


@pytest.mark.parametrize(
    "field", ["transactionId", "eventTime", "ingestionTimestamp", "bank", "", None, 7, []]
)
def test_of_anything_else_it_is_skipped(field: Json) -> None:
    event = json.loads(Registry().publish(1, beneficiaries(), 0, 0))
    event["definition"]["aggregateFieldName"] = field
    outcome = judge([batch(events=[json.dumps(event).encode()], records=[pay(1, 0)])])
    assert (outcome.alerts, outcome.skipped_rule_events) == ([], 1)


# --- its value


def test_it_is_how_many_different_values_are_in_the_window() -> None:
    records = [to(1, 0, 12), to(2, 10, 13), to(3, 20, 12), to(4, 60, 14), to(5, 61, 14), to(6, 81, 14)]
    # At 60 the first is on the edge; at 61 the third still has 12, at 81 nobody has: 13 went at 71.
    assert [value for _, value in values(beneficiaries(), *records)] == ["1", "2", "2", "3", "3", "1"]


def test_it_is_of_its_group_alone() -> None:
    records = [to(1, 0, 12), pay(2, 1, payeeId=7, beneficiaryId=13), to(3, 2, 14)]
    assert [value for _, value in values(beneficiaries(), *records)] == ["1", "1", "2"]


def test_texts_are_compared_code_point_by_code_point() -> None:
    # An integer is its decimal text; neither case nor composition is folded.
    records = [
        to(1, 0, 25),
        to(2, 1, "25"),
        to(3, 2, "025"),
        to(4, 3, "\u00e9"),
        to(5, 4, "e\u0301"),
        to(6, 5, "E"),
    ]
    assert [value for _, value in values(beneficiaries(), *records)] == ["1", "1", "2", "3", "4", "5"]


def test_decimals_are_compared_by_value() -> None:
    counted = draft("COUNT_DISTINCT", ">=", "0", by=("payeeId",), field="paymentAmount")
    amounts = ["1000", "1e3", "1000.000", "-0", "0.0", "1000.000001", "-1000"]
    records = [pay(n, n, amount=amount) for n, amount in enumerate(amounts)]
    assert [value for _, value in values(counted, *records)] == ["1", "1", "1", "2", "2", "3", "4"]


def test_null_is_no_value_and_is_evaluated_all_the_same() -> None:
    records = [to(1, 0, None), to(2, 1, 12), to(3, 2, ""), to(4, 70, None)]
    assert [value for _, value in values(beneficiaries(), *records)] == ["0", "1", "1", "0"]
    outcome = outcome_of(beneficiaries(), *records)
    assert (outcome.counts[1].evaluations, outcome.null_groups) == (4, 0)


@pytest.mark.parametrize(
    ("operator", "limit", "alerts"),
    [
        ("=", "0", True),
        ("<", "1", True),
        ("<", "0", False),
        ("<=", "0", True),
        (">=", "0", True),
        (">", "0", False),
        (">", "-1", True),
        ("!=", "0", False),
        ("!=", "0.5", True),
    ],
)
def test_0_is_held_against_the_limit_like_any_other_number(operator: str, limit: str, alerts: bool) -> None:
    assert values(beneficiaries(operator, limit), to(1, 0, None)) == ([("t1", "0")] if alerts else [])


def test_a_field_that_is_in_the_grouping_has_one_value() -> None:
    counted = draft("COUNT_DISTINCT", "=", "1", by=("payeeId", "beneficiaryId"), field="payeeId")
    records = [to(1, 0, 12), to(2, 1, 12), to(3, 2, 13), to(4, 3, None)]
    assert values(counted, *records) == [("t1", "1"), ("t2", "1"), ("t3", "1")]


# --- contributors, alert and trace


def test_contributors_are_those_whose_field_is_not_null() -> None:
    records = [to(1, 0, 12), to(2, 1, None), to(3, 2, 12), to(4, 2, "\u00e9"), to(5, 3, None)]
    alert = outcome_of(beneficiaries("=", "2"), *records).alerts[-1]
    assert alert["eventTime"] == T + 3000
    assert (alert["value"], alert["limit"]) == ("2", "2")
    assert alert["contributors"] == {
        "count": 3,
        "transactions": [
            {"transactionId": "t4", "eventTime": T + 2000, "value": "\u00e9"},
            {"transactionId": "t3", "eventTime": T + 2000, "value": "12"},
            {"transactionId": "t1", "eventTime": T, "value": "12"},
        ],
        "truncated": False,
    }


def test_of_nothing_there_are_no_contributors() -> None:
    (alert,) = outcome_of(beneficiaries("=", "0"), to(1, 0, None)).alerts
    assert alert["contributors"] == {"count": 0, "transactions": [], "truncated": False}


def test_a_decimal_is_shown_plain() -> None:
    counted = draft("COUNT_DISTINCT", "=", "2", by=("payeeId",), field="paymentAmount")
    (alert,) = outcome_of(counted, pay(1, 0, amount="1e3"), pay(2, 1, amount="0.50")).alerts
    contributors = alert["contributors"]
    assert isinstance(contributors, dict)
    assert contributors["transactions"] == [
        {"transactionId": "t2", "eventTime": T + 1000, "value": "0.5"},
        {"transactionId": "t1", "eventTime": T, "value": "1000"},
    ]


def test_a_hundred_are_listed_and_all_are_counted() -> None:
    records = [to(n, n / 100, None if n == 0 else n % 7) for n in range(102)]
    alert = outcome_of(beneficiaries(), *records).alerts[-1]
    contributors = alert["contributors"]
    assert isinstance(contributors, dict)
    assert (alert["value"], contributors["count"], contributors["truncated"]) == ("7", 101, True)
    assert len(contributors["transactions"]) == 100  # type: ignore[arg-type]


def test_a_trace_counts_the_contributors() -> None:
    registry = Registry()
    events = [registry.publish(1, beneficiaries(">", "1"), 0, 0), registry.trace(1, T + 10**9, 0)]
    records = [to(1, 0, None), to(2, 1, 12), to(3, 2, 12), to(4, 3, 13)]
    told = judge([batch(events=events, records=records)]).traces
    assert [(trace["value"], trace["contributingCount"], trace["holds"]) for trace in told] == [
        ("0", 0, False),
        ("1", 1, False),
        ("1", 2, False),
        ("2", 3, True),
    ]


# --- the field is one that the rule uses


def test_a_partial_alert_carries_the_field() -> None:
    rule = Registry().publish(1, beneficiaries("=", "1"), 0, 0)
    (alert,) = judge([batch(records=[to(1, 0, 12)]), batch(events=[rule])]).alerts
    assert alert["transaction"] == {
        "transactionId": "t1",
        "eventTime": T,
        "payeeId": "25",
        "beneficiaryId": "12",
    }
    assert (alert["partial"], alert["value"]) == (True, "1")


def test_the_floor_of_the_field_counts() -> None:
    # Payees are kept for an hour by another rule, beneficiaries for the minute that this rule asks for.
    registry = Registry()
    hour = draft("COUNT", ">", "99", by=("payeeId",), seconds=3600)
    slack = 15 * MINUTE
    batches = [
        batch(events=[registry.publish(1, hour, 0, 0)], ticks=[T], records=[to(1, 0, 12), to(2, 1, 13)]),
        batch(ticks=[T + slack + 1]),
        batch(events=[registry.publish(2, beneficiaries(), 0, 0)]),
    ]
    # No rule used the beneficiary before, so that its floor has gone over the first payment.
    outcome = judge(batches)
    assert [(alert["eventTime"], alert["value"]) for alert in outcome.alerts] == [(T + 1000, "1")]
    # The floor at the last tick plus the window, where a COUNT by payee would say T plus its window.
    assert [status["warmFrom"] for status in outcome.statuses] == [None, T + 1 + MINUTE]


def test_the_field_does_not_change_the_anchor() -> None:
    # On no key the global anchor, on which an id counts once whoever is paid.
    counted = draft("COUNT_DISTINCT", ">=", "0", by=(), field="payeeId")
    records = [pay(1, 0), pay(1, 1, payeeId=7), pay(2, 2, payeeId=None)]
    assert values(counted, *records) == [("t1", "1"), ("t2", "1")]


# --- with all the rest as COUNT


def test_a_filter_says_what_is_counted() -> None:
    cash: Json = {"field": "paymentType", "operator": "=", "value": "CSH"}
    counted = draft("COUNT_DISTINCT", ">=", "0", by=("payeeId",), field="beneficiaryId", only=cash)
    records = [to(1, 0, 12), pay(2, 1, beneficiaryId=13, paymentType="CRD"), to(3, 2, 14)]
    assert values(counted, *records) == [("t1", "1"), ("t3", "2")]


def test_crossing() -> None:
    records = [to(1, 0, 12), to(2, 1, 13), to(3, 2, 14), to(4, 63, 12), to(5, 64, 15)]
    # At 63 only 12 is left: the next that makes it two crosses again.
    assert values(beneficiaries(">", "1", firing="crossing"), *records) == [("t2", "2"), ("t5", "2")]


def test_reset() -> None:
    records = [to(1, 0, 12), to(2, 1, 13), to(3, 2, 12), to(4, 3, 12), to(5, 4, 13)]
    assert values(beneficiaries(">", "1", reset=True), *records) == [("t2", "2"), ("t5", "2")]


def test_late_ones() -> None:
    records = [to(1, 10, 12), to(2, 5, 13, accepted=10), to(3, 4, 13, accepted=10), to(4, 11, 12)]
    assert values(beneficiaries(), *records) == [("t1", "1"), ("t2", "1"), ("t3", "1"), ("t4", "2")]
    assert values(beneficiaries(late="store"), *records) == [("t1", "1"), ("t4", "2")]
    late = outcome_of(beneficiaries(), *records).alerts[1]["late"]
    assert late == {"newestEventTime": T + 10_000}


def test_catch_up() -> None:
    rule = Registry().publish(1, beneficiaries(), T + 1000, 0)
    records = [to(1, 0, 12), to(2, 1, 13), to(3, 2, None)]
    batches = [batch(records=records), batch(events=[rule], records=[to(4, 3, 14)])]
    assert rows(batches) == [("t2", "2"), ("t3", "2"), ("t4", "3")]


def test_a_clear_forgets_values() -> None:
    registry = Registry()
    batches = [
        batch(events=[registry.publish(1, beneficiaries(), 0, 0)], records=[to(1, 0, 12)]),
        batch(events=[registry.control("CLEAR_STATE_ALL", 0)], records=[to(2, 1, 13)]),
    ]
    assert rows(batches) == [("t1", "1"), ("t2", "1")]
