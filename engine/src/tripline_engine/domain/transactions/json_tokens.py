"""Where in a record's bytes its members are: one pass over JSON, compiled. It is sure of a record, or leaves it.

What it takes is JSON by RFC 8259 to the letter, but for texts with escapes and nesting deeper than its stack: whoever
calls reads such records otherwise. That bytes above 127 are UTF-8 is for the caller to check too.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tripline_engine.domain.memory.kernel import kernel

UNSEEN, NULL, TEXT, WHOLE, FRACTION = 0, 1, 2, 3, 4
"""What a member is: not there, null, a text, a number without or with fraction or exponent."""

START, END, KIND, TOKEN = 0, 1, 2, 3
"""A token: where it begins, where it ends (a text without its quotes), and what it is."""

MAX_OPEN: Final = 48

_QUOTE, _BACKSLASH, _SPACE, _COMMA, _COLON = 0x22, 0x5C, 0x20, 0x2C, 0x3A
_MINUS, _PLUS, _POINT, _ZERO, _NINE = 0x2D, 0x2B, 0x2E, 0x30, 0x39
_OBJECT, _OBJECT_END, _ARRAY, _ARRAY_END = 0x7B, 0x7D, 0x5B, 0x5D
_WORDS: Final = tuple(np.frombuffer(word, np.uint8) for word in (b"null", b"true", b"false"))
_NULL, _TRUE, _FALSE = _WORDS


@kernel()
def _after_space(data: Any, at: int, end: int) -> int:
    while at < end and (data[at] == _SPACE or 9 <= data[at] <= 10 or data[at] == 13):  # tab, line ends
        at += 1
    return at


@kernel()
def text_end(data: Any, at: int, end: int) -> int:
    """Where the text that begins at ``at`` has its closing quote; -1: nowhere, or it isn't plain."""
    while at < end and data[at] != _QUOTE:
        if data[at] == _BACKSLASH or data[at] < _SPACE:
            return -1
        at += 1
    return at if at < end else -1


@kernel()
def _after_digits(data: Any, at: int, end: int) -> int:
    while at < end and _ZERO <= data[at] <= _NINE:
        at += 1
    return at


@kernel()
def after_number(data: Any, at: int, end: int) -> Any:
    """Where the number ends (-1: it is none), and its kind. It begins with a minus or a digit."""
    if data[at] == _MINUS:
        at += 1
    whole = _after_digits(data, at, end)
    # no digits, or a nought before others
    if whole == at or (data[at] == _ZERO and whole > at + 1):
        return -1, WHOLE
    at, kind = whole, WHOLE
    if at < end and data[at] == _POINT:
        after = _after_digits(data, at + 1, end)
        if after == at + 1:
            return -1, FRACTION
        at, kind = after, FRACTION
    if at < end and (data[at] | 0x20) == 0x65:  # e or E
        at += 1
        if at < end and (data[at] == _MINUS or data[at] == _PLUS):
            at += 1
        after = _after_digits(data, at, end)
        if after == at:
            return -1, FRACTION
        at, kind = after, FRACTION
    return at, kind


@kernel()
def _after_word(data: Any, at: int, end: int, word: Any) -> int:
    if at + len(word) > end:
        return -1
    for i in range(len(word)):
        if data[at + i] != word[i]:
            return -1
    return at + len(word)


@kernel()
def _after_scalar(data: Any, at: int, end: int) -> int:
    first = data[at]
    if first == _QUOTE:
        close = text_end(data, at + 1, end)
        return close + 1 if close >= 0 else -1
    if first == _NULL[0]:
        return _after_word(data, at, end, _NULL)
    if first == _TRUE[0]:
        return _after_word(data, at, end, _TRUE)
    if first == _FALSE[0]:
        return _after_word(data, at, end, _FALSE)
    after: int = after_number(data, at, end)[0]
    return after


@kernel()
def _after_name(data: Any, at: int, end: int) -> int:
    """Past a member's name and its colon, to its value; -1 if there is none."""
    at = _after_space(data, at, end)
    if at >= end or data[at] != _QUOTE:
        return -1
    at = text_end(data, at + 1, end)
    if at < 0:
        return -1
    at = _after_space(data, at + 1, end)
    if at >= end or data[at] != _COLON:
        return -1
    return at + 1


@kernel()
def _after_close(data: Any, at: int, end: int, depth: int, stack: Any) -> Any:
    """From the end of a value to where the next one begins: that place, and how many are open there; -1: no JSON."""
    while depth > 0:
        at = _after_space(data, at, end)
        if at >= end:
            return -1, depth
        inside, found = stack[depth - 1], data[at]
        at += 1
        if found == _COMMA:
            return (_after_name(data, at, end) if inside == _OBJECT else at), depth
        if found != (_OBJECT_END if inside == _OBJECT else _ARRAY_END):
            return -1, depth
        depth -= 1
    return at, 0


@kernel()
def _after_value(data: Any, at: int, end: int, stack: Any) -> int:
    """Past a value of any kind; -1 if it is no JSON, or not plain."""
    depth = 0
    while True:
        at = _after_space(data, at, end)
        if at >= end:
            return -1
        first = data[at]
        if first in (_OBJECT, _ARRAY):
            if depth == len(stack):
                return -1
            stack[depth] = first
            depth += 1
            at = _after_space(data, at + 1, end)
            if at >= end:
                return -1
            if data[at] != (_OBJECT_END if first == _OBJECT else _ARRAY_END):
                at = _after_name(data, at, end) if first == _OBJECT else at
                if at < 0:
                    return -1
                continue
        else:
            at = _after_scalar(data, at, end)
            if at < 0:
                return -1
        at, depth = _after_close(data, at, end, depth, stack)
        if at < 0 or depth == 0:
            return at


@kernel()
def is_text(data: Any, at: int, end: int, texts: Any, first: int, last: int) -> bool:
    """Whether the text ``texts[first:last]``, a plain one, stands in ``data`` from ``at`` on, and then a quote."""
    length = last - first
    if at + length >= end or data[at + length] != _QUOTE:
        return False
    for i in range(length):  # noqa: SIM110  # compiled
        if texts[first + i] != data[at + i]:
            return False
    return True


@kernel()
def _place_of(data: Any, at: int, end: int, names: Any, ends: Any, guess: int) -> int:
    """Which of the names stands there, -1 for none; producers tend to keep to one order, so ``guess`` comes first."""
    count = len(ends) - 1
    for i in range(guess, guess + count):
        place = i if i < count else i - count
        if is_text(data, at, end, names, ends[place], ends[place + 1]):
            return place
    return -1


@kernel()
def _token(data: Any, at: int, end: int, tokens: Any, place: int) -> int:
    """Note a declared member's value; where it ends, -1 for one that is no text, number or null."""
    first = data[at]
    if first == _QUOTE:
        close = text_end(data, at + 1, end)
        tokens[place, START], tokens[place, END], tokens[place, KIND] = at + 1, close, TEXT
        return close + 1 if close >= 0 else -1
    if first == _MINUS or _ZERO <= first <= _NINE:
        after, kind = after_number(data, at, end)
        tokens[place, START], tokens[place, END], tokens[place, KIND] = at, after, kind
        return int(after)
    tokens[place, KIND] = NULL
    return _after_word(data, at, end, _NULL)


@kernel()
def _after_member(
    data: Any, at: int, end: int, names: Any, ends: Any, stack: Any, tokens: Any, guess: int
) -> Any:
    """Past a member, noting it if it is a declared one (-1: no JSON, not plain, or named twice); and the next guess."""
    at = _after_space(data, at, end)
    if at >= end or data[at] != _QUOTE:
        return -1, guess
    at += 1
    place = _place_of(data, at, end, names, ends, guess)
    # a declared name need not be looked through again
    close = text_end(data, at, end) if place < 0 else at + ends[place + 1] - ends[place]
    at = _after_space(data, close + 1, end)
    if close < 0 or at >= end or data[at] != _COLON:
        return -1, guess
    at = _after_space(data, at + 1, end)
    if at >= end:
        return -1, guess
    if place < 0:
        return _after_value(data, at, end, stack), guess
    if tokens[place, KIND] != UNSEEN:
        return -1, guess
    return _token(data, at, end, tokens, place), place + 1


@kernel()
def scan(data: Any, at: int, end: int, names: Any, ends: Any, stack: Any, tokens: Any) -> bool:
    """Find the named members of the one object in ``data[at:end]``.

    :param data: uint8
    :param names: uint8, the names one behind the other; name i ends where ``ends[i + 1]`` (int64) says
    :param stack: uint8, room for what is open
    :param tokens: int64, names × TOKEN, written: START, END, KIND
    :returns: whether it is sure; if not, the tokens mean nothing
    """
    tokens[:, KIND] = UNSEEN
    at = _after_space(data, at, end)
    if at >= end or data[at] != _OBJECT:
        return False
    at = _after_space(data, at + 1, end)
    if at < end and data[at] == _OBJECT_END:
        return _after_space(data, at + 1, end) == end
    guess = 0
    while True:
        at, guess = _after_member(data, at, end, names, ends, stack, tokens, guess)
        if at < 0:
            return False
        at = _after_space(data, at, end)
        if at >= end or data[at] != _COMMA:
            return at < end and data[at] == _OBJECT_END and _after_space(data, at + 1, end) == end
        at += 1
