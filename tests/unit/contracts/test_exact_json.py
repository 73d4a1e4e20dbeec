"""JSON without a float on the way."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tripline_contracts import exact_json
from tripline_contracts.errors import InvalidJson


@pytest.mark.parametrize(
    ("data", "expected", "reason"),
    [
        (b'{"a": 0.1}', {"a": Decimal("0.1")}, "a fraction is a Decimal"),
        (b"1e3", Decimal("1e3"), "an exponent is a Decimal"),
        (b"10", 10, "a whole number is an int"),
        (b' \n{"a": 1, "A": 2}\t', {"a": 1, "A": 2}, "members that differ in case, spaces around"),
        (b'"\\ud83d\\ude00"', "\U0001f600", "a pair of surrogates is a character"),
        ("\N{EURO SIGN}".join('""'), "\N{EURO SIGN}", "text instead of bytes"),
    ],
)
def test_read(data: bytes | str, expected: object, reason: str) -> None:
    value = exact_json.loads(data)
    assert value == expected, reason
    assert type(value) is type(expected), reason


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "nothing"),
        (b"{", "an object without end"),
        (b"{} {}", "two values"),
        (b'"\xff"', "not UTF-8"),
        (b"\xef\xbb\xbf{}", "a byte order mark"),
        (b'{"a": NaN}', "not a number"),
        (b"-Infinity", "infinite"),
        (b'["\\ud800"]', "a lone surrogate in a value"),
        (b'{"\\udc00": 1}', "a lone surrogate in a key"),
        ('"\ud800"', "a lone surrogate in text"),
        (b"1" * 5000, "more digits than Python makes an int of"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a": 1, "a": 1}', "a repeated member"),
        (b'[{"b": {"a": 1, "c": 2, "\\u0061": 2}}]', "a repeated member deep inside, spelled otherwise"),
    ],
    ids=lambda value: "" if isinstance(value, bytes) else ascii(value),
)
def test_refused(data: bytes | str, reason: str) -> None:
    with pytest.raises(InvalidJson):
        exact_json.loads(data)


def test_a_repeated_member_is_named() -> None:
    with pytest.raises(InvalidJson, match=r"the member 'limit' is given twice; expected once"):
        exact_json.loads('{"limit": 5, "name": "x", "limit": 6}')
