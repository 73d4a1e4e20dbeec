"""Names and notes: what hides, reorders or breaks lines is refused, and what scripts and emoji need is not."""

from __future__ import annotations

import re
import sys
import unicodedata

import pytest

from tripline_contracts.display_text import NAME_PATTERN, NOTE_PATTERN, refused_character

TAKEN = [
    ("Zahlungen über 1.000 €", "Latin"),
    ("كتاب", "Arabic"),
    ("می\u200cخواهم", "Persian needs the non-joiner"),
    ("क्\u200dष", "Devanagari joins after a virama"),
    ("👩\u200d💻", "an emoji of two"),
    ("🏴‍☠️", "with a selector"),
    ("👩🏽\u200d🚀", "with a skin tone"),
    ("❤\ufe0f\u200d🔥", "after a selector"),
    ("支付", "Han"),
    ("\u06dd12", "drawn, though Cf"),
    ("a\u00a0b", "a space that does not break"),
    ("e\u0301", "a combining accent"),
    ("", "nothing"),
]
REFUSED = [
    ("a\nb", "U+000A", "a line break"),
    ("a\rb", "U+000D", "back to the start of the line"),
    ("\x1b[2J", "U+001B", "a terminal"),
    ("\x7f", "U+007F", "delete"),
    ("\x85", "U+0085", "a C1 control"),
    ("a\u2028b", "U+2028", "a line separator"),
    ("\u202egnp.exe", "U+202E", "right to left"),
    ("a\u2066b", "U+2066", "an isolate"),
    ("a\u200fb", "U+200F", "a mark"),
    ("adm\u200bin", "U+200B", "zero width"),
    ("\ufeffadmin", "U+FEFF", "a byte order mark"),
    ("ad\u00admin", "U+00AD", "a soft hyphen"),
    ("adm\u200din", "U+200D", "a joiner between Latin letters"),
    ("ادم\u200c", "U+200C", "a joiner with nothing after it"),
    ("\u200d👩", "U+200D", "a joiner with nothing before it"),
    ("a\U000e0041", "U+E0041", "a tag"),
    ("a\ud800", "U+D800", "half a pair"),
    ("\x00", "U+0000", "what Postgres cannot hold"),
]


@pytest.mark.parametrize(("text", "reason"), TAKEN, ids=[reason for _, reason in TAKEN])
def test_taken(text: str, reason: str) -> None:
    assert refused_character(text) is None, reason


@pytest.mark.parametrize(("text", "character", "reason"), REFUSED, ids=[reason for *_, reason in REFUSED])
def test_refused(text: str, character: str, reason: str) -> None:
    assert refused_character(text) == character, reason


def test_a_note_may_have_lines_and_nothing_more() -> None:
    assert refused_character("first\r\n\tsecond", lines=True) is None
    assert refused_character("first\x0bsecond", lines=True) == "U+000B"
    assert refused_character("first\u202esecond", lines=True) == "U+202E"


@pytest.mark.parametrize(("text", "lines"), [(NAME_PATTERN, False), (NOTE_PATTERN, True)])
def test_the_patterns_say_the_same_as_far_as_they_can(text: str, *, lines: bool) -> None:
    pattern = re.compile(text)
    for code in range(sys.maxunicode + 1):
        text, category = f"a{chr(code)}b", unicodedata.category(chr(code))
        # The pattern knows some that only a newer Unicode has.
        if category != "Cs" and (category != "Cn" or pattern.search(text)):
            assert bool(pattern.search(text)) == (refused_character(text, lines=lines) is None), hex(code)


def test_every_control_and_format_character_is_looked_at() -> None:
    """A newer Unicode may add some: they are refused by their category, without a list of ours."""
    by_category = [
        chr(c) for c in range(sys.maxunicode + 1) if unicodedata.category(chr(c)) in {"Cc", "Cf", "Zl", "Zp"}
    ]
    drawn = [c for c in by_category if refused_character(f"a{c}b") is None]
    assert len(by_category) > 200
    assert {unicodedata.name(c).split()[0] for c in drawn} == {"ARABIC", "SYRIAC", "KAITHI"}
