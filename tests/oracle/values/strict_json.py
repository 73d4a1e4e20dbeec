"""Raw bytes to JSON values, numbers kept as the text they were written in.

A float never exists here, not even for a moment: every number arrives as a `Numeral`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NoReturn, TypeAlias

from tests.oracle.values.errors import Unreadable


@dataclass(frozen=True, slots=True)
class Numeral:
    """A JSON number as written; `integer` when it has neither fraction nor exponent."""

    text: str
    integer: bool


Value: TypeAlias = "bool | Numeral | str | list[Value] | dict[str, Value] | None"


def _whole(text: str) -> Numeral:
    return Numeral(text, integer=True)


def _broken(text: str) -> Numeral:
    return Numeral(text, integer=False)


def _no_constant(text: str) -> NoReturn:
    raise Unreadable(f"{text} is not JSON")


def _refuse_surrogates(values: Iterable[object]) -> None:
    for value in values:
        if isinstance(value, str):
            if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
                raise Unreadable("lone surrogate")
        elif isinstance(value, list):
            _refuse_surrogates(value)


def _object(pairs: list[tuple[str, Value]]) -> dict[str, Value]:
    # Looked at pair by pair, because a repeated key hides its earlier values from the dict.
    for pair in pairs:
        _refuse_surrogates(pair)
    return dict(pairs)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_whole, parse_float=_broken, parse_constant=_no_constant, strict=True
)


def read_object(raw: bytes) -> dict[str, Value]:
    """The one JSON object in `raw` (UTF-8, JSON whitespace around it allowed), or Unreadable."""
    try:
        text = raw.decode("utf-8", errors="strict")
        value = _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"not JSON: {error}") from error
    if not isinstance(value, dict):
        raise Unreadable("not a JSON object")
    return value


def read_integer(value: Value | None, what: str) -> int:
    """A JSON integer as an int, or Unreadable."""
    if not isinstance(value, Numeral) or not value.integer:
        raise Unreadable(f"{what} is not an integer")
    if len(value.text) > 40:
        raise Unreadable(f"{what} is out of range")
    return int(value.text)


def read_number(value: Value | None, what: str) -> int:
    """A JSON integer that canonical JSON can hold, or Unreadable."""
    number = read_integer(value, what)
    # Beyond it RFC 8785 would have to print a double, and there would be no alert id.
    if abs(number) > 2**53 - 1:
        raise Unreadable(f"{what} is out of range")
    return number


def read_text(value: Value | None, what: str) -> str:
    """A JSON string, or Unreadable."""
    if not isinstance(value, str):
        raise Unreadable(f"{what} is not a string")
    return value
