"""Text that people read in one line: names and notes, without characters that hide or reorder others.

A control character breaks the line, a bidirectional override shows "gnp.exe" for "exe.png", a zero-width space makes
two names look alike. Values of transactions are data and may hold anything: this is for what people write for people.
Stored names from before this check stay as they are; nothing that reads the log comes here.
"""

from __future__ import annotations

import unicodedata
from typing import Final

EXPECTED: Final = "without control characters, bidirectional controls and invisible characters"

_FORMATS: Final = (
    "\\u007f-\\u009f\\u00ad\\u061c\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u2064\\u2066-\\u206f"
    "\\ufeff\\ufff9-\\ufffb"
    # A pattern has no escape for these that every reader of JSON Schema knows: they stand for themselves.
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f"
)
NAME_PATTERN: Final = f"^[^\\u0000-\\u001f{_FORMATS}]*$"
"""The check as a JSON Schema pattern, as far as one can say it: it takes no joiner at all."""
NOTE_PATTERN: Final = f"^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f{_FORMATS}]*$"
"""The same with tabs and line breaks."""

_LINES: Final = "\t\n\r"
_JOINERS: Final = "\u200c\u200d"
# Signs of Arabic, Syriac and Kaithi numbers and verses: of the category Cf and yet drawn.
_DRAWN: Final = frozenset(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
)
_REFUSED: Final = frozenset({"Cc", "Cf", "Zl", "Zp", "Cs"})
_VARIATION_SELECTOR: Final = "\ufe0f"
_VIRAMA: Final = 9
"""The canonical combining class of signs that join two letters of an Indic script."""


def refused_character(text: str, *, lines: bool = False) -> str | None:
    """The first character that may not stand in such a text, like "U+202E"; None where there is none.

    `lines` lets tabs and line breaks through, for notes of several lines.
    """
    for index, character in enumerate(text):
        if unicodedata.category(character) not in _REFUSED or character in _DRAWN:
            continue
        if lines and character in _LINES:
            continue
        if character in _JOINERS and _joins(text, index):
            continue
        return f"U+{ord(character):04X}"
    return None


def problem_of(text: object, longest: int) -> str | None:
    """What was expected of a text of one line, at most so long, where it is not that."""
    expected = f"expected a text of 1 to {longest} characters"
    if not isinstance(text, str) or not 1 <= len(text) <= longest:
        return expected
    refused = refused_character(text)
    return None if refused is None else f"{expected}, {EXPECTED}; it has {refused}"


def _joins(text: str, index: int) -> bool:
    """True where a script or an emoji needs the joiner at `index`: after an Arabic letter, a virama or a symbol, and
    before something (after RFC 5892, appendix A.1 and A.2)."""
    if not 0 < index < len(text) - 1:
        return False
    before = text[index - 1]
    return (
        unicodedata.bidirectional(before) == "AL"
        or unicodedata.combining(before) == _VIRAMA
        or before == _VARIATION_SELECTOR
        or unicodedata.category(before) == "So"
        or "\U0001f3fb" <= before <= "\U0001f3ff"  # skin tones
    )
