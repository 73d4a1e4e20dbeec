"""The constants of a filter: what each kind of field is compared with, and how it is kept.

A decimal is kept as plain text, a text and an enum's value as they are, a time as int ms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Final, assert_never

from tripline_contracts import decimals, spelling
from tripline_contracts.errors import InvalidConstant, InvalidDecimal
from tripline_contracts.event_type import MAX_TIMESTAMP, Field
from tripline_contracts.normal_forms.normal_texts import NORMAL_TEXTS
from tripline_contracts.spelling import Operator

Constant = str | int

WHOLE_BOUND: Final = 10**decimals.WHOLE_DIGITS
"""An id that is sent as a JSON integer stays below this; a longer one is sent as text."""

_EQUALITY: Final[tuple[Operator, ...]] = ("=", "!=")
_ALL_OPERATORS: Final = tuple(spelling.OPERATORS.values())


def operators_of(field: Field) -> tuple[Operator, ...]:
    """The operators that mean something for the field: texts have no order."""
    return _ALL_OPERATORS if field.kind in ("timestamp", "decimal") else _EQUALITY


def read_constant(value: object, field: Field) -> Constant:
    """The constant in the form in which it is kept.

    Raises InvalidConstant for what the field can never hold, null among it: no comparison with it is true.
    """
    if value is None:
        raise InvalidConstant(f"a comparison with null is never true; expected {_expected(field)}")
    if isinstance(value, Mapping):
        raise InvalidConstant(f"expected {_expected(field)}; not an object: parameters are decimal numbers")
    match field.kind:
        case "string":
            return read_text(value, field.max_length or 0)
        case "enum":
            if isinstance(value, str) and value in field.values:
                return value
        case "timestamp":
            number = None if isinstance(value, str) else spelling.whole_number(value)
            if number is not None and number <= MAX_TIMESTAMP:
                return number
        case "decimal":
            return _decimal(value, field)
        case "ip" | "position":
            text = NORMAL_TEXTS[field.kind].normal(value) if isinstance(value, str) else None
            if text is not None:
                return text
        case never:
            assert_never(never)
    raise _refused(value, field)


def in_order(constants: Iterable[Constant], field: Field) -> tuple[Constant, ...]:
    """Each once, ascending: numbers by value, texts by code point."""

    def sort_key(constant: Constant) -> tuple[int, str]:
        if isinstance(constant, int):
            return constant, ""
        return (decimals.parse_scaled(constant), "") if field.kind == "decimal" else (0, constant)

    return tuple(sorted(set(constants), key=sort_key))


def read_text(value: object, max_length: int) -> str:
    """A text of 1 to `max_length` characters. An integer is its decimal text, as in an event; no text is empty.

    Raises InvalidConstant.
    """
    if isinstance(value, int) and not isinstance(value, bool) and -WHOLE_BOUND < value < WHOLE_BOUND:
        return str(value)
    expected = _expected_text(max_length)
    if not isinstance(value, str) or not 1 <= len(value) <= max_length:
        raise InvalidConstant(f"expected {expected}, not {spelling.shown(value)}")
    # neither is ever in an event: Postgres can't store the one, nothing can encode the other
    if "\0" in value or not (value.isascii() or _is_encodable(value)):
        raise InvalidConstant(f"expected {expected}, without U+0000 and lone surrogates")
    return value


def _is_encodable(value: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in value)


def _decimal(value: object, field: Field) -> str:
    if isinstance(value, float):
        raise InvalidConstant(f"expected {_expected(field)}, not a float; send it as text")
    if isinstance(value, bool) or not isinstance(value, (str, int, Decimal)):
        raise _refused(value, field)
    try:
        return decimals.plain(decimals.parse(value))
    except InvalidDecimal as error:
        raise InvalidConstant(str(error)) from error


def _refused(value: object, field: Field) -> InvalidConstant:
    return InvalidConstant(f"expected {_expected(field)}, not {spelling.shown(value)}")


def _expected(field: Field) -> str:
    match field.kind:
        case "string":
            return _expected_text(field.max_length or 0)
        case "enum":
            return f"one of {', '.join(field.values)}"
        case "timestamp":
            return f"a whole number of ms since the epoch, 0 to {MAX_TIMESTAMP}"
        case "decimal":
            return "a decimal number, or its text"
        case "ip" | "position":
            return NORMAL_TEXTS[field.kind].expected
        case never:
            assert_never(never)


def _expected_text(max_length: int) -> str:
    return f"a text of 1 to {max_length} characters, or an integer of up to 18 digits"
