"""What is read as a transaction, and what is refused before it is one."""

from __future__ import annotations

from random import Random

import pytest

from tests.oracle import MicroBatch, Record
from tests.oracle.builders.shorthand import payment
from tests.oracle.malformed.records import broken_value, largest_value
from tests.oracle.parsers.transactions import Transaction, read_transaction
from tests.oracle.values.errors import Unreadable
from tests.oracle.values.model import Json
from tests.unit.oracle.support.agreement import judge

T = 1_700_000_000_000
GOOD = b'{"transactionId":"x","eventTime":5,"paymentType":"CSH","paymentAmount":1%s}'


def read(value: bytes | None) -> Transaction:
    return read_transaction(Record(0, 0, T, value))


def reason(value: bytes | None) -> str:
    with pytest.raises(Unreadable) as caught:
        read(value)
    return str(caught.value)


def test_every_broken_record_is_refused() -> None:
    rng = Random(1)
    assert {reason(broken_value(rng, T)) for _ in range(500)} == {"unparseable", "oversized"}


def test_the_size_limit_is_on_the_edge() -> None:
    assert read(largest_value(T)).amount == 10_500_000
    assert reason(largest_value(T) + b" ") == "oversized"
    assert reason(b"\xff" * 65_537) == "oversized"


def test_the_last_of_a_repeated_key_counts() -> None:
    assert read(GOOD % b',"eventTime":7').event_time == 7


@pytest.mark.parametrize(
    ("more", "payee"),
    [
        ({"payeeId": 25, "payerId": "25"}, "25"),
        ({"payeeId": None, "payerId": 25}, "25"),
        ({"payeeId": "", "payerId": 25}, "25"),
        ({"payeeId": ""}, None),
        ({"payeeId": "z" * 64}, "z" * 64),
        ({"payeeId": "\U0001d4b3" * 64}, "\U0001d4b3" * 64),
    ],
)
def test_payee_and_its_alias(more: dict[str, Json], payee: str | None) -> None:
    assert read_transaction(payment(1, T, more=more)).keys["payeeId"] == payee


@pytest.mark.parametrize(
    "extra",
    [
        b',"payeeId":1,"payerId":2',
        b',"payeeId":1.0',
        b',"x":"\\ud800"',
        b',"payeeId":"a\\u0000"',
        b',"paymentType":""',
        b',"paymentType":null',
    ],
)
def test_what_makes_a_record_unparseable(extra: bytes) -> None:
    assert read(GOOD % b"").event_time == 5
    assert reason(GOOD % extra) == "unparseable"


@pytest.mark.parametrize(
    "extra",
    [b',"x":"a\\u0000"', b',"x":"\\ud83d\\ude00"', b',"x":[1e999,{"y":null}]'],
)
def test_what_does_not(extra: bytes) -> None:
    assert read(GOOD % extra).keys["paymentType"] == "CSH"


def test_minus_zero_is_zero() -> None:
    transaction = read(
        b'{"transactionId":-0,"eventTime":-0,"paymentAmount":-0.0,"paymentType":"CRD","payeeId":-0}'
    )
    assert (transaction.transaction_id, transaction.event_time, transaction.keys["payeeId"]) == ("0", 0, "0")


def test_neighbours_of_a_bad_record_are_unaffected() -> None:
    batch = MicroBatch((), (), (payment(1, T), Record(0, 2, T, None), payment(3, T)))
    assert [(reject.offset, reject.reason) for reject in judge([batch]).rejects] == [(2, "unparseable")]
