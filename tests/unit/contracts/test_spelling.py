"""Brackets, lists and how values are shown in messages."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tripline_contracts import spelling

BARE = [
    ("x", "x", "nothing to take off"),
    (" ( x ) ", "x", "one pair and spaces"),
    ("([x])", "x", "two pairs"),
    ("(x]", "(x]", "a pair that does not match stays"),
    ("(", "(", "half a pair stays"),
    ("()", "", "an empty pair"),
]


@pytest.mark.parametrize(("text", "expected", "reason"), BARE, ids=[case[-1] for case in BARE])
def test_bare(text: str, expected: str, reason: str) -> None:
    assert spelling.bare(text) == expected, reason


SHOWN: list[tuple[Any, str, str]] = [
    ("x" * 50, "'" + "x" * 40 + "…'", "a long text is cut"),
    (None, "None", "null"),
    (True, "True", "true"),
    (10**30, "a number of more than 30 digits", "an integer too long to print"),
    (Decimal("1." + "1" * 50), "a number of more than 40 digits", "a Decimal too long to print"),
    (Decimal("1.5"), "1.5", "a short Decimal"),
    ([[]], "a list", "a list, whatever is in it"),
    ({}, "an object", "an object"),
    (b"x", "bytes", "anything else by its type"),
]


@pytest.mark.parametrize(("value", "expected", "reason"), SHOWN, ids=[case[-1] for case in SHOWN])
def test_shown(value: Any, expected: str, reason: str) -> None:
    assert spelling.shown(value) == expected, reason
