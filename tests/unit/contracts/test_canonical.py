"""Canonical JSON and alert ids, against vectors and the standard library."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from tripline_contracts.canonical import alert_id, canonical_json, sha256_hex
from tripline_contracts.errors import NotCanonical

# a deadline per example would measure how busy the machine is
UNHURRIED = settings(deadline=None)

VECTORS: list[tuple[Any, ...]] = [
    ({}, b"{}", "an empty object"),
    ({"b": 1, "a": [True, False, None]}, b'{"a":[true,false,null],"b":1}', "keys sorted, no spaces"),
    ({"\U0001f600": 1, "\ufb33": 2}, '{"\U0001f600":1,"\ufb33":2}'.encode(), "keys by UTF-16 unit"),
    ('€\u000f\n/"\\', '"€\\u000f\\n/\\"\\\\"'.encode(), "escapes of RFC 8785 section 3.2.2.2"),
    ([2**53 - 1, -(2**53) + 1, -0], b"[9007199254740991,-9007199254740991,0]", "the largest integers"),
]


@pytest.mark.parametrize(("value", "expected", "reason"), VECTORS, ids=[case[-1] for case in VECTORS])
def test_vectors(value: object, expected: bytes, reason: str) -> None:
    assert canonical_json(value) == expected, reason


REFUSED: list[tuple[Any, ...]] = [
    (1.0, "a float, even a whole one"),
    ({"a": [1.5]}, "a float deep inside"),
    (2**53, "an integer that JSON readers round"),
    ({1: 2}, "a key that is no text"),
    ("\ud800", "a lone surrogate has no UTF-8"),
    ((1, 2), "a tuple: no guess whether it is a list"),
    ({1, 2}, "a set has no order"),
    (b"x", "bytes"),
]


@pytest.mark.parametrize(("value", "reason"), REFUSED, ids=[case[-1] for case in REFUSED])
def test_refused(value: object, reason: str) -> None:
    with pytest.raises(NotCanonical):
        canonical_json(value)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(st.characters(codec="ascii")),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(codec="ascii")), inner, max_size=4)
    ),
    max_leaves=15,
)


@UNHURRIED
@given(JSON_VALUES)
def test_agrees_with_the_standard_library_where_that_is_canonical(value: object) -> None:
    # For ASCII keys code point order is UTF-16 order; DEL alone is escaped differently by neither of them.
    expected = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert canonical_json(value) == expected.encode()


def test_sha256_vector() -> None:
    assert sha256_hex(b"abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


ALERT_IDS: list[tuple[Any, ...]] = [
    (
        (12, 3, {"payeeId": "25", "beneficiaryId": "12"}, "t-3", 1763641200000),
        '[12,3,{"beneficiaryId":"12","payeeId":"25"},"t-3",1763641200000]',
        "2f41fe4b-25d6-5b4a-bc76-0bbf43dc5d28",
        "group names are sorted",
    ),
    (
        (1, 1, {}, "7370", 0),
        '[1,1,{},"7370",0]',
        "c8d830ca-763d-585d-857b-548286ebeb65",
        "the global group is an empty object",
    ),
    (
        (7, 2, {"payeeId": 'Žofie "Q"'}, "é", 1),
        '[7,2,{"payeeId":"Žofie \\"Q\\""},"é",1]',
        "97abccf1-668b-58e8-9a30-f0c5b3d7274e",
        "text beyond ASCII is not escaped, quotes are",
    ),
]


@pytest.mark.parametrize(
    ("arguments", "name", "expected", "reason"), ALERT_IDS, ids=[case[-1] for case in ALERT_IDS]
)
def test_alert_id(
    arguments: tuple[int, int, dict[str, str], str, int], name: str, expected: str, reason: str
) -> None:
    namespace = uuid.uuid5(uuid.UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8"), "urn:tripline:alert")
    assert alert_id(*arguments) == str(uuid.uuid5(namespace, name)) == expected, reason


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=4), inner, max_size=4)
        | st.dictionaries(st.text(st.characters(codec="ascii"), max_size=4), inner, max_size=4)
    ),
    max_leaves=15,
)


@UNHURRIED
@given(ANY_JSON)
def test_the_fast_way_gives_the_bytes_of_the_other(value: object) -> None:
    assert canonical_json(value) == rfc8785.dumps(value)  # type: ignore[arg-type]
