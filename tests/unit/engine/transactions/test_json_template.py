"""A record that matches the template is read as by a scan; `test_parser_against_json` has whole slices of them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tripline_engine.domain.transactions.json_template import (
    RecordTemplate,
    match_template,
    record_template,
)
from tripline_engine.domain.transactions.json_tokens import (
    KIND,
    MAX_OPEN,
    NULL,
    TOKEN,
    UNSEEN,
    PackedTexts,
    scan,
)

NAMES = PackedTexts.of(["id", "time", "amount", "kind"])
COUNT = len(NAMES.ends) - 1
BEFORE = b'{"id":"t-1","time":5, "other":[1,"x"],"amount":"1.5","kind":null}'

Tokens = list[tuple[int, ...] | int]


class Reading:
    """Reads the records of a slice, one after the other, with a template."""

    def __init__(self) -> None:
        self.template, self.tokens = RecordTemplate.of(COUNT), np.zeros((COUNT, TOKEN), np.int64)

    def scan(self, record: bytes) -> bool:
        stack = np.empty(MAX_OPEN, np.uint8)
        data = np.frombuffer(record or b" ", np.uint8)
        sure: bool = scan(data, 0, len(record), NAMES, stack, self.tokens)
        if sure:
            record_template(data, 0, len(record), self.tokens, self.template)
        return sure

    def match_template(self, record: bytes) -> bool:
        data = np.frombuffer(record or b" ", np.uint8)
        matches: bool = match_template(data, 0, len(record), self.template, self.tokens)
        return matches

    def values(self) -> Tokens:
        return [
            int(token[KIND]) if token[KIND] in (UNSEEN, NULL) else tuple(token.tolist())
            for token in self.tokens
        ]


def scanned(record: bytes) -> Tokens | None:
    reading = Reading()
    return reading.values() if reading.scan(record) else None


@pytest.mark.parametrize(
    "record",
    [
        BEFORE,
        b'{"id":"","time":1763690000000, "other":[1,"x"],"amount":"-0","kind":null}',
        '{"id":"Zoë","time":-5.5e3, "other":[1,"x"],"amount":"no amount","kind":null}'.encode(),
    ],
)
def test_a_record_that_differs_in_values_matches(record: bytes) -> None:
    reading = Reading()
    assert reading.scan(BEFORE)
    assert reading.match_template(record)
    assert reading.values() == scanned(record)


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
def test_a_record_that_differs_elsewhere_does_not_match(record: bytes) -> None:
    reading = Reading()
    assert reading.scan(BEFORE)
    assert not reading.match_template(record)


def test_nothing_matches_before_there_is_a_template() -> None:
    assert not Reading().match_template(BEFORE)
    assert not Reading().match_template(b"")


def test_a_long_record_is_no_template() -> None:
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
    slice_ = []
    for _ in range(draw(st.integers(2, 6))):
        members = (f"{json.dumps(name)}:{json.dumps(draw(VALUES), ensure_ascii=False)}" for name in names)
        record = ("{" + ",".join(members) + "}").encode()
        if draw(st.integers(0, 3)) == 0:
            first = draw(st.integers(0, len(record)))
            record = record[:first] + draw(st.binary(max_size=2)) + record[first + draw(st.integers(0, 2)) :]
        slice_.append(record)
    return slice_


@settings(max_examples=200)
@given(records())
def test_a_matching_record_has_the_values_that_a_scan_finds(slice_: list[bytes]) -> None:
    reading = Reading()
    for record in slice_:
        if reading.match_template(record):
            assert reading.values() == scanned(record)
        elif not reading.scan(record):
            reading = Reading()
