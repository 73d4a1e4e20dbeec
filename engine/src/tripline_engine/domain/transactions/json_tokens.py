"""A JSON scanner: one compiled pass over a record's bytes that locates its members. It is sure of a record or refuses.

It accepts JSON by RFC 8259 to the letter, but for strings with escapes and nesting deeper than its stack: the caller
reads such records otherwise. The caller also has to check that bytes above 127 are UTF-8.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from tripline_engine.domain.memory.array_types import Int64Array, Offset, Uint8Array
from tripline_engine.domain.memory.kernel import kernel

UNSEEN, NULL, TEXT, WHOLE, FRACTION = 0, 1, 2, 3, 4
"""Kinds of tokens: no such member, null, a string, a number without or with a fraction or exponent."""

START, END, KIND, TOKEN = 0, 1, 2, 3
"""The columns of tokens: start and end in the record's bytes (of a string without its quotes), and kind."""

MAX_OPEN: Final = 48
"""Levels of nesting that the scanner follows."""

NOT_JSON: Final = -1
"""The offset after something that is not there, is no JSON, or is not plain: the scanner refuses the record."""
_NO_NAME: Final = -1
"""The number of a member's name that is not declared."""


class PackedTexts(NamedTuple):
    """Texts one after the other (uint8); text i ends at ``ends[i + 1]`` (int64)."""

    data: Uint8Array
    ends: Int64Array

    @staticmethod
    def of(texts: list[str]) -> PackedTexts:
        """Pack these texts."""
        encoded = [text.encode() for text in texts]
        ends = np.cumsum([0, *map(len, encoded)])
        return PackedTexts(np.frombuffer(b"".join(encoded), np.uint8), ends.astype(np.int64))


_QUOTE, _BACKSLASH, _SPACE, _COMMA, _COLON = 0x22, 0x5C, 0x20, 0x2C, 0x3A
_MINUS, _PLUS, _POINT, _ZERO, _NINE = 0x2D, 0x2B, 0x2E, 0x30, 0x39
_OBJECT, _OBJECT_END, _ARRAY, _ARRAY_END = 0x7B, 0x7D, 0x5B, 0x5D
_WORDS: Final = tuple(np.frombuffer(word, np.uint8) for word in (b"null", b"true", b"false"))
_NULL, _TRUE, _FALSE = _WORDS


@kernel()
def _after_space(data: Uint8Array, offset: Offset, end: Offset) -> Offset:
    while offset < end and (
        data[offset] == _SPACE or 9 <= data[offset] <= 10 or data[offset] == 13
    ):  # tab, line ends
        offset += 1
    return offset


@kernel()
def text_end(data: Uint8Array, offset: Offset, end: Offset) -> Offset:
    """The offset of the closing quote of the string that begins at ``offset``; NOT_JSON if it has escapes too."""
    while offset < end and data[offset] != _QUOTE:
        if data[offset] == _BACKSLASH or data[offset] < _SPACE:
            return NOT_JSON
        offset += 1
    return offset if offset < end else NOT_JSON


@kernel()
def _after_digits(data: Uint8Array, offset: Offset, end: Offset) -> Offset:
    while offset < end and _ZERO <= data[offset] <= _NINE:
        offset += 1
    return offset


@kernel()
def after_number(data: Uint8Array, offset: Offset, end: Offset) -> tuple[Offset, int]:
    """The end of the number, or NOT_JSON, and its kind. It begins with a minus sign or a digit."""
    if data[offset] == _MINUS:
        offset += 1
    whole = _after_digits(data, offset, end)
    # no digits, or a leading zero
    if whole == offset or (data[offset] == _ZERO and whole > offset + 1):
        return NOT_JSON, WHOLE
    offset, kind = whole, WHOLE
    if offset < end and data[offset] == _POINT:
        after = _after_digits(data, offset + 1, end)
        if after == offset + 1:
            return NOT_JSON, FRACTION
        offset, kind = after, FRACTION
    if offset < end and (data[offset] | 0x20) == 0x65:  # e or E
        offset += 1
        if offset < end and (data[offset] == _MINUS or data[offset] == _PLUS):
            offset += 1
        after = _after_digits(data, offset, end)
        if after == offset:
            return NOT_JSON, FRACTION
        offset, kind = after, FRACTION
    return offset, kind


@kernel()
def _after_word(data: Uint8Array, offset: Offset, end: Offset, word: Uint8Array) -> Offset:
    if offset + len(word) > end:
        return NOT_JSON
    for i in range(len(word)):
        if data[offset + i] != word[i]:
            return NOT_JSON
    return offset + len(word)


@kernel()
def _after_scalar(data: Uint8Array, offset: Offset, end: Offset) -> Offset:
    first = data[offset]
    if first == _QUOTE:
        close = text_end(data, offset + 1, end)
        return close + 1 if close >= 0 else NOT_JSON
    if first == _NULL[0]:
        return _after_word(data, offset, end, _NULL)
    if first == _TRUE[0]:
        return _after_word(data, offset, end, _TRUE)
    if first == _FALSE[0]:
        return _after_word(data, offset, end, _FALSE)
    after: Offset = after_number(data, offset, end)[0]
    return after


@kernel()
def _after_name(data: Uint8Array, offset: Offset, end: Offset) -> Offset:
    """The offset of a member's value, behind its name and colon."""
    offset = _after_space(data, offset, end)
    if offset >= end or data[offset] != _QUOTE:
        return NOT_JSON
    offset = text_end(data, offset + 1, end)
    if offset < 0:
        return NOT_JSON
    offset = _after_space(data, offset + 1, end)
    if offset >= end or data[offset] != _COLON:
        return NOT_JSON
    return offset + 1


@kernel()
def _after_close(
    data: Uint8Array, offset: Offset, end: Offset, depth: int, stack: Uint8Array
) -> tuple[Offset, int]:
    """From the end of a value to the next value: its offset, and the depth there."""
    while depth > 0:
        offset = _after_space(data, offset, end)
        if offset >= end:
            return NOT_JSON, depth
        inside, byte = stack[depth - 1], data[offset]
        offset += 1
        if byte == _COMMA:
            return (_after_name(data, offset, end) if inside == _OBJECT else offset), depth
        if byte != (_OBJECT_END if inside == _OBJECT else _ARRAY_END):
            return NOT_JSON, depth
        depth -= 1
    return offset, 0


@kernel()
def _after_value(data: Uint8Array, offset: Offset, end: Offset, stack: Uint8Array) -> Offset:
    """The offset behind a value of any kind."""
    depth = 0
    while True:
        offset = _after_space(data, offset, end)
        if offset >= end:
            return NOT_JSON
        first = data[offset]
        if first in (_OBJECT, _ARRAY):
            if depth == len(stack):
                return NOT_JSON
            stack[depth] = first
            depth += 1
            offset = _after_space(data, offset + 1, end)
            if offset >= end:
                return NOT_JSON
            if data[offset] != (_OBJECT_END if first == _OBJECT else _ARRAY_END):
                offset = _after_name(data, offset, end) if first == _OBJECT else offset
                if offset < 0:
                    return NOT_JSON
                continue
        else:
            offset = _after_scalar(data, offset, end)
            if offset < 0:
                return NOT_JSON
        offset, depth = _after_close(data, offset, end, depth, stack)
        if offset < 0 or depth == 0:
            return offset


@kernel()
def is_text(data: Uint8Array, offset: Offset, end: Offset, texts: PackedTexts, number: int) -> bool:
    """Whether ``data`` has that text, a plain one, from ``offset`` on, and then a quote."""
    first = texts.ends[number]
    length = texts.ends[number + 1] - first
    if offset + length >= end or data[offset + length] != _QUOTE:
        return False
    for i in range(length):  # noqa: SIM110  # compiled
        if texts.data[first + i] != data[offset + i]:
            return False
    return True


@kernel()
def _name_number(data: Uint8Array, offset: Offset, end: Offset, names: PackedTexts, guess: int) -> int:
    """The number of the name there, or _NO_NAME; producers tend to keep to one order, so ``guess`` is tried first."""
    count = len(names.ends) - 1
    for i in range(guess, guess + count):
        name = i if i < count else i - count
        if is_text(data, offset, end, names, name):
            return name
    return _NO_NAME


@kernel()
def _token(data: Uint8Array, offset: Offset, end: Offset, tokens: Int64Array, name: int) -> Offset:
    """Write a declared member's token; the offset behind it, NOT_JSON for one that is no string, number or null."""
    first = data[offset]
    if first == _QUOTE:
        close = text_end(data, offset + 1, end)
        tokens[name, START], tokens[name, END], tokens[name, KIND] = offset + 1, close, TEXT
        return close + 1 if close >= 0 else NOT_JSON
    if first == _MINUS or _ZERO <= first <= _NINE:
        after, kind = after_number(data, offset, end)
        tokens[name, START], tokens[name, END], tokens[name, KIND] = offset, after, kind
        return int(after)
    tokens[name, KIND] = NULL
    return _after_word(data, offset, end, _NULL)


@kernel()
def _after_member(
    data: Uint8Array,
    offset: Offset,
    end: Offset,
    names: PackedTexts,
    stack: Uint8Array,
    tokens: Int64Array,
    guess: int,
) -> tuple[Offset, int]:
    """The offset behind a member, whose token is written if it is declared, and the next guess.

    NOT_JSON too for a declared member that comes twice.
    """
    offset = _after_space(data, offset, end)
    if offset >= end or data[offset] != _QUOTE:
        return NOT_JSON, guess
    offset += 1
    name, ends = _name_number(data, offset, end, names, guess), names.ends
    # the length of a declared name is known
    close = text_end(data, offset, end) if name < 0 else offset + ends[name + 1] - ends[name]
    offset = _after_space(data, close + 1, end)
    if close < 0 or offset >= end or data[offset] != _COLON:
        return NOT_JSON, guess
    offset = _after_space(data, offset + 1, end)
    if offset >= end:
        return NOT_JSON, guess
    if name < 0:
        return _after_value(data, offset, end, stack), guess
    if tokens[name, KIND] != UNSEEN:
        return NOT_JSON, guess
    return _token(data, offset, end, tokens, name), name + 1


@kernel()
def scan(
    data: Uint8Array, offset: Offset, end: Offset, names: PackedTexts, stack: Uint8Array, tokens: Int64Array
) -> bool:
    """Find the named members of the one object in ``data[offset:end]``.

    :param names: the declared names
    :param stack: scratch, MAX_OPEN
    :param tokens: names × TOKEN, written: START, END, KIND
    :returns: whether it is sure of the record; if not, the tokens mean nothing
    """
    tokens[:, KIND] = UNSEEN
    offset = _after_space(data, offset, end)
    if offset >= end or data[offset] != _OBJECT:
        return False
    offset = _after_space(data, offset + 1, end)
    if offset < end and data[offset] == _OBJECT_END:
        return _after_space(data, offset + 1, end) == end
    guess = 0
    while True:
        offset, guess = _after_member(data, offset, end, names, stack, tokens, guess)
        if offset < 0:
            return False
        offset = _after_space(data, offset, end)
        if offset >= end or data[offset] != _COMMA:
            return offset < end and data[offset] == _OBJECT_END and _after_space(data, offset + 1, end) == end
        offset += 1
