"""Whatever bytes come as a body: a value or a problem, and exact numbers."""

from __future__ import annotations

import contextlib
import json
from decimal import Decimal
from typing import Any

import pytest
from flask import Flask, Request
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.test import EnvironBuilder

from tripline_http.errors import ProblemError
from tripline_http.json_bodies import parse_json, read_json

READ: list[tuple[bytes, Any, str]] = [
    (b'{"a": 1.10}', {"a": Decimal("1.10")}, "a fraction keeps its digits"),
    (b"[1.0, 1e3, -0.0]", [1, 1000, 0], "whole is whole, however it is spelled"),
    (b"123456789012345678.123456", Decimal("123456789012345678.123456"), "more digits than a float has"),
    (b"1e400", Decimal("1e400"), "beyond a float, and never multiplied out"),
    (b" null ", None, "null"),
    ("\u00e9".encode().join([b'"', b'"']), "é", "UTF-8"),
]


@pytest.mark.parametrize(("data", "expected", "reason"), READ, ids=[case[-1] for case in READ])
def test_read(data: bytes, expected: Any, reason: str) -> None:
    value = parse_json(data)
    assert value == expected, reason
    assert type(value) is type(expected), reason


REFUSED: list[tuple[bytes, str]] = [
    (b"", "nothing"), (b"{", "cut"), (b"1 2", "two values"), (b"NaN", "no JSON"), (b"-Infinity", "no JSON"),
    (b"\xff", "no UTF-8"), (b"9" * 5000, "longer than Python converts"), (b"[" * 100_000, "deep"),
    (b"1e99999999999999999999999", "beyond Decimal"), (b"\xef\xbb\xbf{}", "a byte order mark"),
    (b'{"a": 1, "a": 1}', "a repeated member"), (b'[{"a": {"b": 1, "\\u0062": 2}}]', "a repeated member inside"),
    (b'{"\\ud800": 1, "\\ud800": 2}', "a repeated member that is no text"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "reason"), REFUSED, ids=[case[-1] for case in REFUSED])
def test_refused(data: bytes, reason: str) -> None:
    with pytest.raises(ProblemError) as refused:
        parse_json(data)
    assert refused.value.status == 400, reason


@given(st.binary(max_size=40))
def test_any_bytes_end_in_a_value_or_a_problem(data: bytes) -> None:
    with contextlib.suppress(ProblemError):
        json.dumps(parse_json(data), default=str)


def request_of(data: bytes, content_type: str = "application/json") -> Request:
    return Request(EnvironBuilder(method="POST", data=data, content_type=content_type).get_environ())


BODIES: list[tuple[Request, int, str]] = [
    (request_of(b"{}", "text/plain"), 415, "another media type"),
    (request_of(b'"\\u0000"'), 422, "U+0000"),
    (request_of(b'{"a": ["\\ud800"]}'), 422, "a lone surrogate, deep inside"),
    (request_of(b'{"\\u0000": 1}'), 422, "in a key"),
    (request_of(b"[" * 60 + b"]" * 60), 400, "more levels than anything of ours has"),
]


@pytest.mark.parametrize(("request_", "status", "reason"), BODIES, ids=[case[-1] for case in BODIES])
def test_a_body_is_held_to_what_can_be_stored(request_: Request, status: int, reason: str) -> None:
    with Flask("x").app_context(), pytest.raises(ProblemError) as refused:
        read_json(request_)
    assert refused.value.status == status, reason
    assert all("\x00" not in error.field for error in refused.value.errors)


def test_a_repeated_member_is_named() -> None:
    with pytest.raises(ProblemError) as refused:
        parse_json(b'{"limit": "5", "name": "x", "limit": "6"}')
    assert [(error.field, error.message) for error in refused.value.errors] == [
        ("limit", "given twice; expected once")
    ]
