"""Tests of a filter that compare with no constant, worked by hand (semantics 10)."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import pytest

from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.oracle.parsers.filters import fields_of, passes, read_filter
from tests.oracle.parsers.transactions import read_transaction
from tests.oracle.values.errors import Unreadable
from tests.oracle.values.model import Json
from tests.oracle.values.strict_json import read_object
from tests.unit.oracle.support.agreement import judge

T = 1_700_000_000_000


def holds(condition: Json, amount: str = "10", time: int = T, **more: Json) -> bool:
    """Of a payment of 10 from 25 to 12 in cash at T, never ingested."""
    document = read_object(json.dumps({"filter": condition}).encode())
    transaction = read_transaction(payment(1, time, amount, more=more))
    return passes(read_filter(document["filter"]), transaction)


def beside(operator: str, field: str = "payeeId", other: str = "beneficiaryId") -> Json:
    return {"field": field, "operator": operator, "otherField": other}


def test_two_fields() -> None:
    assert not holds(beside("="))
    assert holds(beside("!="))
    assert holds(beside("="), beneficiaryId="25")
    assert holds(beside("<", "ingestionTimestamp", "eventTime"), ingestionTimestamp=T - 1)
    assert not holds(beside("<", "ingestionTimestamp", "eventTime"), ingestionTimestamp=T)
    assert holds(beside("<=", "ingestionTimestamp", "eventTime"), ingestionTimestamp=T)


@pytest.mark.parametrize("operator", ["=", "!="])
def test_two_fields_of_which_one_is_null(operator: str) -> None:
    absent: list[dict[str, Any]] = [{"payeeId": None}, {"beneficiaryId": None}]
    for null in absent:
        assert not holds(beside(operator), **null)
        assert holds({"not": beside(operator)}, **null)
    assert not holds(beside(operator), payeeId=None, beneficiaryId=None)


def test_parts_of_a_text() -> None:
    account = "DE89 3704 é"
    for condition, answer in [
        ({"startsWith": "DE"}, True),
        ({"startsWith": "de"}, False),
        ({"startsWith": account}, True),
        ({"startsWith": account + "0"}, False),
        ({"endsWith": "é"}, True),
        ({"endsWith": "DE"}, False),
        ({"contains": "9 3"}, True),
        ({"contains": "e\u0301"}, False),
    ]:
        assert holds({"field": "payeeId", **condition}, payeeId=account) == answer, condition
    assert not holds({"field": "payeeId", "contains": "2"}, payeeId=None)


def test_null() -> None:
    assert holds({"field": "ingestionTimestamp", "isNull": True})
    assert not holds({"field": "ingestionTimestamp", "isNull": True}, ingestionTimestamp=0)
    assert holds({"field": "payeeId", "isNull": True}, payeeId=None)
    assert not holds({"field": "paymentAmount", "isNull": True}, "0")


@pytest.mark.parametrize(
    ("amount", "divisor", "answer"),
    [
        ("200", "100", True),
        ("200.000001", "100", False),
        ("-300", "100", True),
        ("0", "100", True),
        ("0.3", "0.1", True),
        ("0.000007", "0.000001", True),
        ("50", "100", False),
        ("999999999999999999.999999", "0.000003", True),
        ("999999999999999999.999999", "333333333333333333.333333", True),
        ("999999999999999999.999998", "333333333333333333.333333", False),
    ],
)
def test_round_amounts(amount: str, divisor: str, *, answer: bool) -> None:
    assert holds({"field": "paymentAmount", "multipleOf": divisor}, amount) == answer


NIGHT: list[tuple[str, bool]] = [
    ("2026-11-27T21:59:59.999+01:00", False),
    ("2026-11-27T22:00:00+01:00", True),
    ("2026-11-28T05:59:59.999+01:00", True),
    ("2026-11-28T06:00:00+01:00", False),
    # in summer Berlin is two hours ahead of UTC
    ("2026-07-01T20:00:00Z", True),
    ("2026-07-01T19:59:59.999Z", False),
    ("2026-12-01T20:30:00Z", False),
    # in the hour that comes twice a clock shows 02:30 twice, in the one that is left out never
    ("2026-10-25T00:30:00Z", True),
    ("2026-10-25T01:30:00Z", True),
]


@pytest.mark.parametrize(("instant", "answer"), NIGHT)
def test_nights_in_berlin(instant: str, *, answer: bool) -> None:
    night: Json = {"localTime": {"zone": "Europe/Berlin", "from": "22:00", "to": "06:00"}}
    assert holds(night, time=ms(instant)) == answer


def ms(instant: str) -> int:
    return round(datetime.fromisoformat(instant).timestamp() * 1000)


def test_the_hour_that_is_left_out() -> None:
    left_out: Json = {"localTime": {"zone": "Europe/Berlin", "from": "02:00", "to": "03:00"}}
    assert not any(holds(left_out, time=ms("2026-03-29T00:00:00Z") + 60_000 * i) for i in range(0, 180, 5))
    assert holds(left_out, time=ms("2026-03-28T01:30:00Z"))


SATURDAY_NIGHT: list[tuple[str, bool]] = [
    ("2026-11-27T23:00:00Z", False),  # Friday evening
    ("2026-11-28T03:00:00Z", False),  # Saturday morning: it began on Friday
    ("2026-11-28T22:00:00Z", True),
    ("2026-11-29T03:00:00Z", True),  # Sunday morning: it began on Saturday
    ("2026-11-29T06:00:00Z", False),
    ("2026-11-29T22:00:00Z", False),
]


@pytest.mark.parametrize(("instant", "answer"), SATURDAY_NIGHT)
def test_the_day_is_that_of_the_beginning(instant: str, *, answer: bool) -> None:
    night: Json = {"localTime": {"zone": "UTC", "from": "22:00", "to": "06:00", "days": ["SAT"]}}
    assert holds(night, time=ms(instant)) == answer


def test_whole_days() -> None:
    weekend: Json = {"localTime": {"zone": "UTC", "from": "00:00", "to": "00:00", "days": ["SAT", "SUN"]}}
    days = [holds(weekend, time=ms("2026-11-23T12:00:00Z") + 86_400_000 * i) for i in range(7)]
    assert days == [False] * 5 + [True] * 2
    monday: Json = {"localTime": {"zone": "UTC", "from": "09:00", "to": "09:00", "days": ["MON"]}}
    assert [
        holds(monday, time=ms(f"2026-11-2{instant}Z"))
        for instant in ("3T08:59:59", "3T09:00:00", "4T08:59:59")
    ] == [
        False,
        True,
        True,
    ]


@pytest.mark.parametrize("time", [0, 253_402_300_799_999])
def test_the_ends_of_time(time: int) -> None:
    for zone in ("Pacific/Kiritimati", "Etc/GMT+12"):
        halves: list[Json] = [
            {"localTime": {"zone": zone, "from": one, "to": other}}
            for one, other in (("00:00", "12:00"), ("12:00", "00:00"))
        ]
        assert [holds(half, time=time) for half in halves].count(True) == 1


@pytest.mark.parametrize(
    "condition",
    [
        beside("=", "payeeId", "payerId"),
        beside("=", "payeeId", "paymentType"),
        beside("<"),
        {"field": "paymentType", "startsWith": "C"},
        {"field": "payeeId", "contains": ""},
        {"field": "payeeId", "isNull": False},
        {"field": "payeeId", "multipleOf": "5"},
        {"field": "paymentAmount", "multipleOf": "0"},
        {"field": "paymentAmount", "multipleOf": "-1"},
        {"localTime": {"zone": "UTC", "from": "22:00"}},
        {"localTime": {"zone": "Berlin", "from": "22:00", "to": "06:00"}},
        {"localTime": {"zone": "UTC", "from": "22:00", "to": "24:00"}},
        {"localTime": {"zone": "UTC", "from": "22:00", "to": "06:00", "days": []}},
    ],
)
def test_what_is_no_test(condition: Json) -> None:
    with pytest.raises(Unreadable):
        holds(condition)


def test_the_fields_it_needs_history_of() -> None:
    night: Json = {"localTime": {"zone": "UTC", "from": "22:00", "to": "06:00"}}
    document = {"filter": {"all": [beside("="), {"field": "paymentAmount", "multipleOf": "5"}, night]}}
    condition = read_filter(read_object(json.dumps(document).encode())["filter"])
    assert fields_of(condition) == {"payeeId", "beneficiaryId", "paymentAmount", "eventTime"}


def test_what_does_not_pass_does_not_count() -> None:
    to_others: Json = {"not": beside("=")}
    rule = draft("COUNT", ">=", "1", by=("payeeId",), seconds=60, only=to_others)
    records = [payment(1, T), payment(2, T + 1, more={"beneficiaryId": "25"}), payment(3, T + 2)]
    alerts = judge([batch(events=[Registry().publish(1, rule, 0, 0)], records=records)]).alerts
    assert [(alert["eventTime"], alert["value"]) for alert in alerts] == [(T, "1"), (T + 2, "2")]
