"""What parses and what doesn't (semantics §1 and §5, decision 0002): tables of cases with the reason in each row."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tripline_contracts.event_type import EventType, Field
from tripline_contracts.event_type_loader import load
from tripline_engine.domain.transactions.parser import OVERSIZED, UNPARSEABLE, Parser

TRANSACTION = load()
GOOD: dict[str, Any] = {
    "transactionId": "t-1",
    "eventTime": 1763690000000,
    "payeeId": "25",
    "beneficiaryId": "12",
    "paymentAmount": "600",
    "paymentType": "CSH",
    "ingestionTimestamp": 1763690000005,
}


def record(**changes: Any) -> bytes:
    return json.dumps({**GOOD, **changes}).encode()


def without(name: str) -> bytes:
    return json.dumps({key: value for key, value in GOOD.items() if key != name}).encode()


def raw(name: str, text: str) -> bytes:
    """The good record with this JSON text as the field's value."""
    return json.dumps({**GOOD, name: "@"}).replace('"@"', text).encode()


def read(value: bytes | None) -> dict[str, Any] | str:
    """The one record's values, or `reason: detail`."""
    parsed = Parser(TRANSACTION).parse([value])
    if parsed.rejects:
        assert len(parsed.rows) == 0
        return f"{parsed.rejects[0].reason}: {parsed.rejects[0].detail}"
    return {name: column[0].as_py() for name, column in parsed.columns.items()}


ACCEPTED = [
    ("an integer id is its decimal text", raw("transactionId", "17"), "transactionId", "17"),
    ("minus zero is zero", raw("transactionId", "-0"), "transactionId", "0"),
    ("an integer of 64 digits", raw("transactionId", "9" * 64), "transactionId", "9" * 64),
    ("64 characters", record(transactionId="é" * 64), "transactionId", "é" * 64),
    ("code points are counted, not UTF-16 units", record(payeeId="😀" * 64), "payeeId", "😀" * 64),
    ("25 and '25' are one", record(payeeId=25), "payeeId", "25"),
    ("a negative key", raw("payeeId", "-5"), "payeeId", "-5"),
    ("empty key is null", record(payeeId=""), "payeeId", None),
    ("null key", record(payeeId=None), "payeeId", None),
    ("absent key", without("payeeId"), "payeeId", None),
    ("alias alone", without("payeeId")[:-1] + b',"payerId":7}', "payeeId", "7"),
    ("alias equal as text", record(payeeId=7, payerId="7"), "payeeId", "7"),
    ("alias null", record(payerId=None), "payeeId", "25"),
    ("alias empty counts as absent", record(payerId=""), "payeeId", "25"),
    ("name null, alias set", record(payeeId=None, payerId="9"), "payeeId", "9"),
    ("name empty, alias set", record(payeeId="", payerId="9"), "payeeId", "9"),
    ("the first moment", record(eventTime=0), "eventTime", 0),
    ("minus zero is the first moment", raw("eventTime", "-0"), "eventTime", 0),
    ("the last moment", record(eventTime=253402300799999), "eventTime", 253402300799999),
    ("no ingestion time", record(ingestionTimestamp=None), "ingestionTimestamp", None),
    ("absent ingestion time", without("ingestionTimestamp"), "ingestionTimestamp", None),
    ("undeclared fields are ignored", record(colour={"a": [1.5, None]}), "payeeId", "25"),
    ("last of a repeated key", record()[:-1] + b',"payeeId":1}', "payeeId", "1"),
    ("the last counts though the first is wrong", b'{"payeeId":[],' + record()[1:], "payeeId", "25"),
    ("whitespace around", b" \t\r\n" + record() + b"\n ", "payeeId", "25"),
    ("an escape in a value", record(payeeId="é"), "payeeId", "é"),
    ("an escape in a name", record().replace(b"payeeId", b"p\\u0061yeeId"), "payeeId", "25"),
    ("a surrogate pair", raw("payeeId", r'"\ud83d\ude00"'), "payeeId", "😀"),
    ("an escaped backslash before ud800", raw("payeeId", r'"\\ud800"'), "payeeId", r"\ud800"),
    ("a number no double can hold, undeclared", raw("x", "1e999"), "payeeId", "25"),
    ("100 levels of nesting", raw("x", "[" * 99 + "]" * 99), "payeeId", "25"),
    ("brackets in a string are no nesting", record(x="[" * 200), "payeeId", "25"),
    ("an integer of 5000 digits, undeclared", raw("x", "9" * 5000), "payeeId", "25"),
    ("exactly the largest size", record(x="y" * (65_536 - len(record(x="")))), "payeeId", "25"),
]


@pytest.mark.parametrize(
    ("value", "field", "expected"), [c[1:] for c in ACCEPTED], ids=[c[0] for c in ACCEPTED]
)
def test_accepted(value: bytes, field: str, expected: Any) -> None:
    transaction = read(value)
    assert isinstance(transaction, dict), transaction
    assert transaction[field] == expected


AMOUNTS = [
    ("12.5", "12.5"),
    ('"12.5"', "12.5"),
    ("1e3", "1000"),
    ("1E+3", "1000"),
    ('"1e-6"', "0.000001"),
    ("1.0000000", "1"),
    ("-0", "0"),
    ("-0.0", "0"),
    ('"-0"', "0"),
    ('"007"', "7"),
    ("0e999999999999999999999999", "0"),
    ("0.0000000000000000000000000000", "0"),
    ("999999999999999999.999999", "999999999999999999.999999"),
    ("-999999999999999999.999999", "-999999999999999999.999999"),
    ('"999999999999999999.999999000"', "999999999999999999.999999"),
    ("0.1", "0.1"),
    ("1" + "0" * 300 + "e-300", "1"),
    ("9223372036854.775808", "9223372036854.775808"),
]


@pytest.mark.parametrize(("text", "expected"), AMOUNTS)
def test_amounts_are_exact(text: str, expected: str) -> None:
    transaction = read(raw("paymentAmount", text))
    assert isinstance(transaction, dict), transaction
    assert format(transaction["paymentAmount"].normalize(), "f") == expected


REFUSED = [
    ("not JSON", b"garbage", "value"),
    ("nothing", b"", "value"),
    ("no value at all", None, "value"),
    ("two objects", record() + record(), "value"),
    ("an array", b"[" + record() + b"]", "value"),
    ("a number", b"5", "value"),
    ("null", b"null", "value"),
    ("a byte order mark", b"\xef\xbb\xbf" + record(), "value"),
    ("not UTF-8", record().replace(b"CSH", b"CS\xff"), "value"),
    ("not UTF-8 in an undeclared field", record(x="@@").replace(b"@@", b"\xff\xfe"), "value"),
    ("UTF-8 of a surrogate", record(x="@@").replace(b"@@", b"\xed\xa0\x80"), "value"),
    ("no-break space around", b"\xc2\xa0" + record(), "value"),
    ("NaN", raw("paymentAmount", "NaN"), "value"),
    ("Infinity, undeclared", raw("x", "Infinity"), "value"),
    ("a raw control character", record(x="@").replace(b"@", b"\x01"), "value"),
    ("a trailing comma", record()[:-1] + b",}", "value"),
    ("a comment", record() + b"//", "value"),
    ("single quotes", record().replace(b'"', b"'"), "value"),
    ("a leading zero", raw("eventTime", "01"), "value"),
    ("a lone surrogate", raw("payeeId", r'"\ud800"'), "value"),
    ("a lone surrogate, undeclared", raw("x", r'"\udc00"'), "value"),
    ("a lone surrogate in a name", record()[:-1] + rb',"\ud800":1}', "value"),
    ("101 levels of nesting", raw("x", "[" * 100 + "]" * 100), "value"),
    ("no id", without("transactionId"), "transactionId"),
    ("null id", record(transactionId=None), "transactionId"),
    ("empty id", record(transactionId=""), "transactionId"),
    ("id too long", record(transactionId="x" * 65), "transactionId"),
    ("integer id too long", raw("transactionId", "9" * 65), "transactionId"),
    ("minus sign counts", raw("transactionId", "-" + "9" * 64), "transactionId"),
    ("id 1.0 is no integer", raw("transactionId", "1.0"), "transactionId"),
    ("id 1e3 is no integer", raw("transactionId", "1e3"), "transactionId"),
    ("boolean id", raw("transactionId", "true"), "transactionId"),
    ("id with U+0000", raw("transactionId", r'"a\u0000"'), "transactionId"),
    ("no time", without("eventTime"), "eventTime"),
    ("time as text", record(eventTime="1763690000000"), "eventTime"),
    ("time with a fraction", raw("eventTime", "1763690000000.0"), "eventTime"),
    ("time with an exponent", raw("eventTime", "1e12"), "eventTime"),
    ("a time before the epoch", record(eventTime=-1), "eventTime"),
    ("a time after the year 9999", record(eventTime=253402300800000), "eventTime"),
    ("a huge time", raw("eventTime", "9" * 4000), "eventTime"),
    ("boolean time", raw("eventTime", "true"), "eventTime"),
    ("wrong ingestion time", record(ingestionTimestamp="now"), "ingestionTimestamp"),
    ("key is an object", record(payeeId={}), "payeeId"),
    ("key is a fraction", raw("payeeId", "2.5"), "payeeId"),
    ("key too long", record(beneficiaryId="x" * 65), "beneficiaryId"),
    ("names differ", record(payeeId="1", payerId="2"), "payeeId"),
    ("names differ, one wrong", record(payeeId="1", payerId=[]), "payeeId"),
    ("alias alone is wrong", without("payeeId")[:-1] + b',"payerId":1.5}', "payeeId"),
    ("key with U+0000", raw("payeeId", r'"\u0000"'), "payeeId"),
    ("unknown type", record(paymentType="XYZ"), "paymentType"),
    ("lower case type", record(paymentType="csh"), "paymentType"),
    ("empty type", record(paymentType=""), "paymentType"),
    ("no type", record(paymentType=None), "paymentType"),
    ("absent type", without("paymentType"), "paymentType"),
    ("type as a number", raw("paymentType", "1"), "paymentType"),
    ("no amount", without("paymentAmount"), "paymentAmount"),
    ("null amount", record(paymentAmount=None), "paymentAmount"),
    ("seven places", raw("paymentAmount", "0.0000001"), "paymentAmount"),
    ("19 digits", raw("paymentAmount", "1000000000000000000"), "paymentAmount"),
    ("huge exponent", raw("paymentAmount", "1e999999999"), "paymentAmount"),
    ("huge exponent as text", raw("paymentAmount", '"1e99999999999999999999"'), "paymentAmount"),
    ("tiny exponent", raw("paymentAmount", "1e-999999999999999999999"), "paymentAmount"),
    ("NaN as text", record(paymentAmount="NaN"), "paymentAmount"),
    ("a space", record(paymentAmount=" 1"), "paymentAmount"),
    ("an underscore", record(paymentAmount="1_000"), "paymentAmount"),
    ("a plus", record(paymentAmount="+1"), "paymentAmount"),
    ("no whole part", record(paymentAmount=".5"), "paymentAmount"),
    ("no fraction", record(paymentAmount="5."), "paymentAmount"),
    ("other digits", record(paymentAmount="١٢"), "paymentAmount"),
    ("a line end", record(paymentAmount="1\n"), "paymentAmount"),
    ("empty text", record(paymentAmount=""), "paymentAmount"),
    ("hexadecimal", record(paymentAmount="0x1"), "paymentAmount"),
    ("boolean amount", raw("paymentAmount", "true"), "paymentAmount"),
    ("an object", raw("paymentAmount", "{}"), "paymentAmount"),
]


@pytest.mark.parametrize(("value", "names"), [c[1:] for c in REFUSED], ids=[c[0] for c in REFUSED])
def test_refused_with_the_field_and_what_was_expected(value: bytes | None, names: str) -> None:
    transaction = read(value)
    assert isinstance(transaction, str), transaction
    assert transaction.startswith(f"{UNPARSEABLE}: {names}: ")
    assert "expected" in transaction or "the absolute value" in transaction or "decimal places" in transaction


def test_oversized_is_checked_first() -> None:
    assert read(b"x" * 65_537) == f"{OVERSIZED}: value: expected at most 65536 bytes, found 65537"
    assert str(read(b"x" * 65_536)).startswith(UNPARSEABLE)


def test_a_bad_record_leaves_its_neighbours_alone() -> None:
    values = [record(transactionId=i) if i % 3 else REFUSED[i % len(REFUSED)][1] for i in range(300)]
    parsed = Parser(TRANSACTION).parse(values)
    assert parsed.rows.tolist() == [i for i in range(300) if i % 3]
    assert parsed.columns["transactionId"].to_pylist() == [str(i) for i in range(300) if i % 3]
    assert [reject.row for reject in parsed.rejects] == list(range(0, 300, 3))


def test_an_unusual_record_keeps_its_place_among_usual_ones() -> None:
    values = [record(transactionId=1), raw("paymentAmount", "1e3"), record(transactionId=3)]
    parsed = Parser(TRANSACTION).parse(values)
    assert parsed.rows.tolist() == [0, 1, 2]
    assert parsed.columns["transactionId"].to_pylist() == ["1", "t-1", "3"]
    assert [str(v) for v in parsed.columns["paymentAmount"].to_pylist()] == [
        "600.000000",
        "1000.000000",
        "600.000000",
    ]


def test_nothing_gives_nothing() -> None:
    parsed = Parser(TRANSACTION).parse([])
    assert len(parsed.rows) == 0
    assert parsed.rejects == ()


def test_the_event_type_is_data() -> None:
    swipe = EventType(
        "swipe",
        1,
        (
            Field("swipe", "id", "string", required=True, max_length=8),
            Field("at", "time", "timestamp", required=True),
            Field("card", "key", "string", ("pan",), required=True, max_length=4),
            Field("tip", "measure", "decimal"),
            Field("how", "attribute", "enum", required=True, values=("chip", "tap")),
        ),
        ("card", "global"),
    )
    parser = Parser(swipe)
    parsed = parser.parse(
        [
            b'{"swipe":"a","at":1,"pan":4,"how":"tap"}',
            b'{"swipe":"b","at":2,"card":"4","how":"tap","tip":0.5}',
            b'{"swipe":"c","at":3,"card":"","how":"tap"}',
            b'{"swipe":"d","at":4,"card":"12345","how":"tap"}',
            b'{"swipe":"e","at":5,"card":"1","how":null}',
        ]
    )
    assert parsed.columns["card"].to_pylist() == ["4", "4"]
    assert [value and str(value) for value in parsed.columns["tip"].to_pylist()] == [None, "0.500000"]
    assert [(r.row, r.detail.split(":")[0]) for r in parsed.rejects] == [(2, "card"), (3, "card"), (4, "how")]
