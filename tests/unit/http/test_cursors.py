"""Cursors lead on, and nothing that was cut, changed or taken elsewhere does."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripline_http.cursors import decode_cursor, encode_cursor
from tripline_http.errors import ProblemError

FILTERS = {"state": "ACTIVE", "name": None}
KEYS = st.tuples(
    st.integers(-(2**63), 2**63 - 1), st.text(st.characters(codec="utf-8", exclude_characters="\x00"))
)


@given(KEYS)
def test_what_was_encoded_is_decoded(keys: tuple[int, str]) -> None:
    cursor = encode_cursor("rules", FILTERS, keys)
    if len(cursor) <= 1024:
        assert decode_cursor(cursor, "rules", FILTERS, [int, str]) == keys


CURSOR = encode_cursor("rules", FILTERS, [5])


@pytest.mark.parametrize(
    ("cursor", "listing", "filters", "types", "reason"),
    [
        (CURSOR, "versions", FILTERS, [int], "of another listing"),
        (CURSOR, "rules", {**FILTERS, "state": "PAUSED"}, [int], "of other filters"),
        (CURSOR, "rules", FILTERS, [str], "a number where a text is asked for"),
        (CURSOR, "rules", FILTERS, [int, int], "a key short"),
        (CURSOR[:-2], "rules", FILTERS, [int], "cut"),
        (CURSOR[:12] + "A" + CURSOR[13:], "rules", FILTERS, [int], "changed"),
        ("", "rules", FILTERS, [int], "nothing"),
        ("ü", "rules", FILTERS, [int], "no ASCII"),
        ("A" * 2000, "rules", FILTERS, [int], "longer than any of ours"),
        (encode_cursor("rules", FILTERS, [2**63]), "rules", FILTERS, [int], "beyond 64 bits"),
    ],
)
def test_anything_else_is_refused(
    cursor: str, listing: str, filters: dict[str, object], types: list[type[int | str]], reason: str
) -> None:
    with pytest.raises(ProblemError) as refused:
        decode_cursor(cursor, listing, filters, types)
    assert (refused.value.status, refused.value.kind) == (400, "invalid-cursor"), reason


@given(st.binary(max_size=60))
def test_garbage_is_refused(data: bytes) -> None:
    with pytest.raises(ProblemError):
        decode_cursor(base64.urlsafe_b64encode(data).decode(), "rules", FILTERS, [int])
