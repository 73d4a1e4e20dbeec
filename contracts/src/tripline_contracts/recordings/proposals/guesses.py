"""How sample values are written: forms of times and styles of numbers that fit all of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from tripline_contracts import decimals
from tripline_contracts.errors import ContractError
from tripline_contracts.recordings.amounts import NumberStyle
from tripline_contracts.recordings.file_mapping import Count, Iso, Pattern, TimeForm
from tripline_contracts.recordings.times import Clock

_DAYS: Final = (
    "%d.%m.%Y", "%d.%m.%y", "%d/%m/%Y", "%m/%d/%Y", "%Y-%m-%d", "%Y/%m/%d", "%d-%m-%Y", "%m-%d-%Y", "%d %b %Y",
    "%d-%b-%Y", "%b %d %Y", "%Y%m%d",
)  # fmt: skip
_CLOCKS: Final = (
    " %H:%M:%S.%f",
    " %H:%M:%S",
    " %H:%M",
    " %I:%M:%S %p",
    " %I:%M %p",
    "T%H:%M:%S",
    "%H%M%S",
    "",
)
_SECONDS: Final = re.compile(r"[0-9]{9,10}(?:\.[0-9]+)?", re.ASCII)
_MILLISECONDS: Final = re.compile(r"[0-9]{12,13}", re.ASCII)
_SIFTED: Final = 50
_ZONED: Final = re.compile(r".*(?:Z|z|UTC|[+-][0-9]{2}:?(?:[0-9]{2})?)", re.ASCII)
TIME_OF_DAY: Final = re.compile(r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class TimeGuess:
    """Forms that fit all values, as a mapping says them, and whether the values name no zone.

    :ivar misfits: values that are left out, for no form fits them at all
    """

    forms: tuple[str, ...]
    needs_zone: bool
    misfits: tuple[str, ...] = ()


def most_likely_time(values: Sequence[object]) -> TimeGuess:
    """Like `time_guess`, but up to half of the values may be no times: a line of totals, something broken."""
    guess = time_guess(values)
    if guess.forms:
        return guess
    values = values[:_SIFTED]
    fitting = [value for value in values if time_guess([value]).forms]
    misfits = tuple(str(value) for value in values if value not in fitting)
    if len(fitting) < len(misfits):
        return guess
    guess = time_guess(fitting)
    return TimeGuess(guess.forms, guess.needs_zone, misfits)


def time_guess(values: Sequence[object]) -> TimeGuess:
    """Of the values of a column; no form fits where there are none."""
    moments = [value for value in values if isinstance(value, datetime)]
    if values and len(moments) == len(values):
        return TimeGuess(("iso-8601",), any(moment.tzinfo is None for moment in moments))
    texts = [str(value) for value in values]
    if not texts:
        return TimeGuess((), False)
    if all(_MILLISECONDS.fullmatch(text) for text in texts):
        return TimeGuess(("epoch-milliseconds",), False)
    if all(_SECONDS.fullmatch(text) for text in texts):
        return TimeGuess(("epoch-seconds",), False)
    if _fits(Iso(), texts):
        return TimeGuess(("iso-8601",), not all(_ZONED.fullmatch(text[10:]) for text in texts))
    patterns = (f"{day}{clock}" for day in _DAYS for clock in _CLOCKS)
    fitting = tuple(pattern for pattern in patterns if _fits(Pattern(pattern), texts))
    return TimeGuess(fitting, bool(fitting))


def _fits(form: TimeForm, texts: Sequence[str]) -> bool:
    assert not isinstance(form, Count)
    clock = Clock(form, None)
    return all(_is_read(clock, text) for text in texts)


def _is_read(clock: Clock, text: str) -> bool:
    try:
        clock.instant(text)
    except ContractError as error:
        return "has no zone" in str(error)
    return True


@dataclass(frozen=True, slots=True)
class StyleGuess:
    """Styles of numbers that fit all values.

    :ivar misfits: values that are left out, for no style fits them at all
    """

    styles: tuple[NumberStyle, ...]
    misfits: tuple[str, ...] = ()


_STYLES: Final = (
    NumberStyle(),
    NumberStyle(thousands=","),
    NumberStyle(decimal_comma=True),
    NumberStyle(decimal_comma=True, thousands="."),
    NumberStyle(thousands="'"),
    NumberStyle(thousands=" "),
    NumberStyle(decimal_comma=True, thousands=" "),
)


def style_guess(values: Sequence[object]) -> StyleGuess:
    """Of the values of a column. A style that is the same but for what no value has is left out."""
    if any(isinstance(value, float) for value in values):
        return StyleGuess((NumberStyle(shortest_floats=True),))
    fitting: list[NumberStyle] = []
    readings: list[list[str]] = []
    for style in _STYLES:
        read = _read(style, values)
        if read is not None and read not in readings:
            fitting.append(style)
            readings.append(read)
    return StyleGuess(tuple(fitting))


def most_likely_style(values: Sequence[object]) -> StyleGuess:
    """Like `style_guess`, but up to half of the values may be no numbers."""
    guess = style_guess(values)
    if guess.styles:
        return guess
    fitting = [value for value in values if style_guess([value]).styles]
    misfits = tuple(str(value) for value in values if not style_guess([value]).styles)
    if len(fitting) < len(misfits):
        return StyleGuess((), misfits)
    return StyleGuess(style_guess(fitting).styles, misfits)


def _read(style: NumberStyle, values: Sequence[object]) -> list[str] | None:
    try:
        return [str(decimals.parse(style.plain(value))) for value in values if re.search("[0-9]", str(value))]
    except ContractError:
        return None
