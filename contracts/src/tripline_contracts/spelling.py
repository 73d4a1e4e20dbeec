"""Spellings of rule definitions in the wild: brackets or none, any case, quoted numbers."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final, Literal, cast, get_args

from tripline_contracts import decimals
from tripline_contracts.errors import InvalidDecimal

Operator = Literal["=", "!=", ">=", "<=", ">", "<"]

OPERATORS: Final[dict[str, Operator]] = {
    "EQUAL": "=",
    "NOT_EQUAL": "!=",
    "GREATER_EQUAL": ">=",
    "LESS_EQUAL": "<=",
    "GREATER": ">",
    "LESS": "<",
}
"""The operators' names, as the articles have them, and their symbols, as they are kept."""

_BRACKETS: Final = {"(": ")", "[": "]"}
_WHOLE_NUMBER: Final = re.compile(r"[0-9]{1,18}")


def bare(text: str) -> str:
    """The text without the spaces and brackets around it: " ( SUM ) " is "SUM"."""
    # Two marks that move inward: a copy of the rest for each pair of brackets takes seconds for 100,000 of them.
    start, end = 0, len(text)
    while True:
        while start < end and text[start].isspace():
            start += 1
        while start < end and text[end - 1].isspace():
            end -= 1
        if end - start < 2 or _BRACKETS.get(text[start]) != text[end - 1]:
            return text[start:end]
        start, end = start + 1, end - 1


def keyword(value: object) -> str | None:
    """A keyword in capitals, None if the value is no text or an empty one."""
    return (bare(value).upper() or None) if isinstance(value, str) else None


def name_list(value: object) -> list[str] | None:
    """Names from a list or from text like "(oneKey & anotherKey)"; None if it is neither."""
    if isinstance(value, str):
        text = bare(value)
        return [bare(name) for name in re.split(r"[&,]", text)] if text else []
    if isinstance(value, (list, tuple)) and all(isinstance(name, str) for name in value):
        return [bare(name) for name in value]
    return None


def operator(value: object) -> Operator | None:
    """The symbol of an operator given by symbol or name; None if it is neither."""
    word = keyword(value)
    if word is None:
        return None
    return cast("Operator", word) if word in get_args(Operator) else OPERATORS.get(word)


def whole_number(value: object) -> int | None:
    """A whole number that is not negative, quoted or not; None if it is anything else."""
    if isinstance(value, str):
        text = bare(value)
        return int(text) if _WHOLE_NUMBER.fullmatch(text) else None
    if isinstance(value, float):  # 43200.0, from a reader that makes floats; exact where it is whole
        return int(value) if value.is_integer() and 0 <= value < 2**53 else None
    if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
        return None
    try:
        number, rest = divmod(decimals.parse_scaled(value), decimals.SCALE)
    except InvalidDecimal:
        return None
    return number if rest == 0 and number >= 0 else None


def shown(value: object) -> str:
    """The value for a message: short, and never expensive or impossible to print."""
    if isinstance(value, str):
        return repr(value if len(value) <= 40 else value[:40] + "…")
    if value is None or isinstance(value, (bool, float)):
        return repr(value)
    if isinstance(value, int):
        return str(value) if abs(value) < 10**30 else "a number of more than 30 digits"
    if isinstance(value, Decimal):
        return str(value) if len(value.as_tuple().digits) <= 40 else "a number of more than 40 digits"
    if isinstance(value, list):
        return "a list"
    return "an object" if isinstance(value, dict) else type(value).__name__
