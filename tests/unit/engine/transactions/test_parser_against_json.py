"""The two readers of `parse` against a third one: Python's json module and a plain reading of the field rules."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tripline_contracts.event_type_loader import load
from tripline_engine.domain.transactions.parser import Parser

TRANSACTION = load()
PARSER = Parser(TRANSACTION)
LAST = 253_402_300_799_999


class NotATransaction(Exception):
    pass


class Whole(int):
    pass


def naive(value: bytes) -> dict[str, Any]:
    """Semantics §1 and decision 0002, as directly as Python allows."""
    if len(value) > 65_536:
        raise NotATransaction
    try:
        parsed = json.loads(value.decode(), parse_float=Decimal, parse_int=Whole, parse_constant=refuse)
        json.dumps(parsed, default=str, ensure_ascii=False).encode()
    except (ValueError, ArithmeticError):
        raise NotATransaction from None
    if type(parsed) is not dict:
        raise NotATransaction
    payees = [t for t in (text(parsed.get("payeeId")), text(parsed.get("payerId"))) if t]
    if len(set(payees)) > 1:
        raise NotATransaction
    return {
        "transactionId": text(parsed.get("transactionId")) or refuse(""),
        "eventTime": time(parsed.get("eventTime")),
        "payeeId": payees[0] if payees else None,
        "beneficiaryId": text(parsed.get("beneficiaryId")) or None,
        "paymentAmount": amount(parsed.get("paymentAmount")),
        "paymentType": kind(parsed.get("paymentType")),
        "ingestionTimestamp": None
        if parsed.get("ingestionTimestamp") is None
        else time(parsed["ingestionTimestamp"]),
    }


def refuse(_: str) -> Any:
    raise NotATransaction


def text(value: Any) -> str | None:
    if value is None:
        return None
    if type(value) not in (str, Whole) or len(str(value)) > 64 or "\0" in str(value):
        raise NotATransaction
    return str(value)


def time(value: Any) -> int:
    if type(value) is not Whole or not 0 <= value <= LAST:
        raise NotATransaction
    return int(value)


def amount(value: Any) -> Decimal:
    if type(value) is str and re.fullmatch(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?", value):
        value = Decimal(value)
    if type(value) not in (Whole, Decimal):
        raise NotATransaction
    number = Decimal(int(value)) if type(value) is Whole else value
    if number and not -7 < number.adjusted() < 18:
        raise NotATransaction
    _, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    if exponent < -6 and any(digits[exponent + 6 :]):
        raise NotATransaction
    return number


def kind(value: Any) -> str | None:
    if value not in ("CSH", "CRD"):
        raise NotATransaction
    return None if value is None else str(value)


def agree(value: bytes) -> None:
    parsed = PARSER.parse([value])
    try:
        expected = naive(value)
    except NotATransaction:
        assert len(parsed.rejects) == 1, parsed.columns
        assert parsed.rejects[0].detail
    else:
        assert not parsed.rejects, parsed.rejects
        assert {name: column[0].as_py() for name, column in parsed.columns.items()} == expected


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([0, 1, -1, LAST, LAST + 1, 10**18, 10**18 - 1, 10**63, 10**64, 2**63, 2**64]),
    st.text(max_size=70),
    st.sampled_from(
        ["", "CSH", "CRD", "csh", "1", "1.5", "1e3", "-0", " 1", "1_0", "x" * 64, "x" * 65, "\0"]
    ),
    st.floats(allow_nan=False, allow_infinity=False),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
AMOUNTS = st.one_of(
    SCALARS,
    st.from_regex(
        re.compile(r"-?[0-9]{1,20}(\.[0-9]{1,8})?([eE][+-]?[0-9]{1,3})?", re.ASCII), fullmatch=True
    ),
    st.decimals(allow_nan=False, allow_infinity=False, places=6).map(str),
)
NAMES = [name for field in TRANSACTION.fields for name in field.names]
GOOD = {"transactionId": "t", "eventTime": 5, "paymentAmount": "1", "paymentType": "CSH", "payeeId": "p"}


@st.composite
def spoiled(draw: st.DrawFn) -> bytes:
    """A good transaction in which some fields have anything, in any order, perhaps twice."""
    members: list[tuple[str, Any]] = list(GOOD.items())
    for name in draw(st.lists(st.sampled_from([*NAMES, "other"]), max_size=3)):
        value = draw(AMOUNTS if name == "paymentAmount" else VALUES)
        members.insert(draw(st.integers(0, len(members))), (name, value))
    ascii_only = draw(st.booleans())
    body = ",".join(f"{json.dumps(k)}:{json.dumps(v, ensure_ascii=ascii_only)}" for k, v in members)
    return f"{{{body}}}".encode("utf-8", "surrogatepass")


@given(st.binary(max_size=60))
def test_any_bytes(value: bytes) -> None:
    agree(value)


@settings(max_examples=150)
@given(spoiled())
def test_any_values_in_any_field(value: bytes) -> None:
    agree(value)


@settings(max_examples=150)
@given(AMOUNTS.filter(lambda v: isinstance(v, str)), st.booleans())
def test_any_amount_as_number_and_as_text(digits: str, quoted: bool) -> None:
    body = json.dumps({**GOOD, "paymentAmount": "@"}).replace('"@"', json.dumps(digits) if quoted else digits)
    agree(body.encode("utf-8", "surrogatepass"))


@settings(max_examples=150)
@given(spoiled(), st.data())
def test_a_good_record_with_a_few_bytes_changed(value: bytes, data: st.DataObject) -> None:
    split_at = data.draw(st.integers(0, len(value)))
    cut = data.draw(st.integers(0, 3))
    agree(value[:split_at] + data.draw(st.binary(max_size=3)) + value[split_at + cut :])


def reads_like_one_by_one(values: list[bytes]) -> None:
    together = PARSER.parse(values)
    for i, value in enumerate(values):
        agree(value)
        alone = PARSER.parse([value])
        if alone.rejects:
            assert [r.detail for r in together.rejects if r.row == i] == [alone.rejects[0].detail]
        else:
            row = together.rows.tolist().index(i)
            for name, column in alone.columns.items():
                assert together.columns[name][row] == column[0]


@given(st.lists(spoiled() | st.binary(max_size=20), max_size=12))
def test_a_slice_reads_like_its_records_one_by_one(values: list[bytes]) -> None:
    reads_like_one_by_one(values)


AS_USUAL = {
    "transactionId": st.text(max_size=3),
    "eventTime": st.integers(0, LAST + 1),
    "payeeId": st.integers(0, 99) | st.text(max_size=3),
    "paymentAmount": st.integers(-9, 9) | st.decimals(-9, 9, places=2).map(str),
    "paymentType": st.sampled_from(["CSH", "CRD", "csh"]),
}


@st.composite
def of_one_program(draw: st.DrawFn) -> list[bytes]:
    """Records that differ in little but their values."""
    names = draw(st.permutations([*AS_USUAL]))
    drawn = []
    for _ in range(draw(st.integers(2, 6))):
        value = json.dumps({name: draw(AS_USUAL[name]) for name in names}, ensure_ascii=False).encode()
        cut = draw(st.integers(0, 3 * len(value)))
        drawn.append(
            value[:cut] + draw(st.binary(min_size=1, max_size=1)) + value[cut + 1 :]
            if cut < len(value)
            else value
        )
    return drawn


@settings(max_examples=150)
@given(of_one_program())
def test_records_of_one_program_read_like_one_by_one(values: list[bytes]) -> None:
    reads_like_one_by_one(values)
