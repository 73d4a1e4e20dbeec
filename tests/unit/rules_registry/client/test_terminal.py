"""Texts of others on the terminal: one line stays one line, and hides nothing."""

from __future__ import annotations

import pytest

from rules_registry.client.terminal import printable


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("Much → less, é 日本 👩\u200d👧", "Much → less, é 日本 👩\u200d👧"),
        ("a\u202egnp.exe", "a<U+202E>gnp.exe"),
        ("a\r\x1b[2Kb", "a<U+000D><U+001B>[2Kb"),
        ("one\n  + two", "one<U+000A>  + two"),
        ("\u200bx\u200b\x9b", "<U+200B>x<U+200B><U+009B>"),
        ("\ud800", "<U+D800>"),
    ],
)
def test_what_may_not_stand_in_a_line_is_named(line: str, shown: str) -> None:
    assert printable(line) == shown
