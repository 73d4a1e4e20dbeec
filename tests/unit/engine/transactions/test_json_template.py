"""A record that follows another's layout is read as if in full; `test_parse_against_json` has whole slices of them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tripline_engine.domain.transactions.fast_parser import Named
from tripline_engine.domain.transactions.json_template import Layout, match_template, record_template
from tripline_engine.domain.transactions.json_tokens import KIND, MAX_OPEN, NULL, TOKEN, UNSEEN, scan

NAMES = Named.of(["id", "time", "amount", "kind"])
COUNT = len(NAMES.ends) - 1
BEFORE = b'{"id":"t-1","time":5, "other":[1,"x"],"amount":"1.5","kind":null}'

Tokens = list[tuple[int, ...] | int]


class Reading:
    """The records of a slice, one after the other."""

    def __init__(self) -> None:
        self.layout, self.tokens = Layout.of(COUNT), np.zeros((COUNT, TOKEN), np.int64)

    def scan(self, record: bytes) -> bool:
        stack = np.empty(MAX_OPEN, np.uint8)
        data = np.frombuffer(record or b" ", np.uint8)
        sure: bool = scan(data, 0, len(record), NAMES.data, NAMES.ends, stack, self.tokens)
        if sure:
            record_template(data, 0, len(record), self.tokens, self.layout)
        return sure

    def match_template(self, record: bytes) -> bool:
        data = np.frombuffer(record or b" ", np.uint8)
        found: bool = match_template(data, 0, len(record), self.layout, self.tokens)
        return found

    def found(self) -> Tokens:
        return [
            int(token[KIND]) if token[KIND] in (UNSEEN, NULL) else tuple(token.tolist())
            for token in self.tokens
        ]


def in_full(record: bytes) -> Tokens | None:
    reading = Reading()
    return reading.found() if reading.scan(record) else None


@pytest.mark.parametrize(
    "record",
    [
        BEFORE,
        b'{"id":"","time":1763690000000, "other":[1,"x"],"amount":"-0","kind":null}',
        '{"id":"Zoë","time":-5.5e3, "other":[1,"x"],"amount":"no amount","kind":null}'.encode(),
    ],
)
def test_values_may_differ(record: bytes) -> None:
    reading = Reading()
    assert reading.scan(BEFORE)
    assert reading.match_template(record)
    assert reading.found() == in_full(record)


@pytest.mark.parametrize(
    "record",
    [
        b"",
        b"{}",
        BEFORE[:-1],
        BEFORE + b" ",
        BEFORE.replace(b"null", b'"x"'),
        BEFORE.replace(b"[1", b"[2"),
        BEFORE.replace(b"5,", b'"5",'),
        BEFORE.replace(b"5,", b"5 ,"),
        BEFORE.replace(b"5,", b"05,"),
        BEFORE.replace(b"5,", b"-,"),
        BEFORE.replace(b"5,", b","),
        BEFORE.replace(b'"1.5"', b"1.5"),
        BEFORE.replace(b"t-1", b't\\"1'),
        BEFORE.replace(b"t-1", b"t\n1"),
        BEFORE.replace(b'"kind"', b'"king"'),
    ],
)
def test_nothing_else_may(record: bytes) -> None:
    reading = Reading()
    assert reading.scan(BEFORE)
    assert not reading.match_template(record)


def test_nothing_follows_where_nothing_is_known() -> None:
    assert not Reading().match_template(BEFORE)
    assert not Reading().match_template(b"")


def test_records_that_are_too_long_are_not_kept() -> None:
    reading, long = Reading(), b'{"id":"' + b"x" * 2_000 + b'"}'
    assert reading.scan(BEFORE)
    assert reading.scan(long)
    assert not reading.match_template(long)
    assert not reading.match_template(BEFORE)


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=5), st.just("")
)
MEMBERS = st.lists(st.tuples(st.sampled_from(["id", "time", "amount", "kind", "other"]), VALUES), max_size=6)


@st.composite
def records(draw: st.DrawFn) -> list[bytes]:
    """Some that are the same but for values, or for a few bytes."""
    names = [name for name, _ in draw(MEMBERS)]
    found = []
    for _ in range(draw(st.integers(2, 6))):
        members = (f"{json.dumps(name)}:{json.dumps(draw(VALUES), ensure_ascii=False)}" for name in names)
        record = ("{" + ",".join(members) + "}").encode()
        if draw(st.integers(0, 3)) == 0:
            at = draw(st.integers(0, len(record)))
            record = record[:at] + draw(st.binary(max_size=2)) + record[at + draw(st.integers(0, 2)) :]
        found.append(record)
    return found


@settings(max_examples=500)
@given(records())
def test_what_follows_is_what_is_there(slice_: list[bytes]) -> None:
    reading = Reading()
    for record in slice_:
        if reading.match_template(record):
            assert reading.found() == in_full(record)
        elif not reading.scan(record):
            reading = Reading()
