"""How exactly windows end: what is read, what fits."""

from __future__ import annotations

import pytest

from tripline_contracts.rules import precision

READ: list[tuple[object, int | None, str]] = [
    (None, None, "nothing said is exact"),
    ("exact", None, "exact said"),
    (" ( EXACT ) ", None, "in brackets and capitals"),
    ("bucketed(60)", 60, "the normalised form"),
    (" Bucketed ( 60 ) ", 60, "spaces, any case"),
    ("(bucketed(60))", 60, "in brackets"),
    ("bucketed\t(\n060)", 60, "a leading zero, other white space"),
]


@pytest.mark.parametrize(("value", "seconds", "reason"), READ, ids=[case[-1] for case in READ])
def test_read(value: object, seconds: int | None, reason: str) -> None:
    assert precision.read(value) == (seconds, None), reason
    assert precision.read(precision.text(seconds)) == (seconds, None), reason


REFUSED: list[tuple[object, str]] = [
    ("bucketed", "no length"),
    ("bucketed()", "an empty length"),
    ("bucketed(0)", "a length of nothing"),
    ("bucketed(-60)", "a length ahead"),
    ("bucketed(1.5)", "half a second"),
    ("bucketed(60 s)", "a unit"),
    ("bucketed(60", "one bracket"),
    ("bucketed 60", "no bracket"),
    ("buckets(60)", "another word"),
    ("exact(60)", "an exact length"),
    ("", "an empty text"),
    ({"bucketed": 60}, "an object"),
    (60, "a number"),
    (True, "a truth"),
    (["bucketed(60)"], "a list"),
]


@pytest.mark.parametrize(("value", "reason"), REFUSED, ids=[case[-1] for case in REFUSED])
def test_refused(value: object, reason: str) -> None:
    seconds, wrong = precision.read(value)
    assert seconds is None, reason
    assert "expected exact, or bucketed(b)" in (wrong or ""), reason


@pytest.mark.parametrize(
    ("bucket", "windows"),
    [(1, {1}), (60, {60}), (1, {10_000}), (3456, {34_560_000}), (3, {30_000, 3}), (7, {60_001, 60_000, 7})],
)
def test_fits(bucket: int, windows: set[int]) -> None:
    assert precision.misfit(bucket, windows) is None


@pytest.mark.parametrize(
    ("bucket", "windows", "said"),
    [
        (2, {1}, "buckets of 1 to 1 seconds"),
        (61, {60, 600}, "buckets of 1 to 60 seconds"),
        (1, {10_001}, "buckets of 2 to 10001 seconds"),
        (3455, {34_560_000}, "buckets of 3456 to 34560000 seconds"),
        (1, {10_001, 1}, "more than 10000 times the shortest, which is 1 s"),
        (10**18, {60}, "not 1000000000000000000"),
    ],
)
def test_does_not_fit(bucket: int, windows: set[int], said: str) -> None:
    assert said in (precision.misfit(bucket, windows) or "")
