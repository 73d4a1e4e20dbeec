"""The strict parser: one record's value by the rules of the event type, or the reason why it is refused.

It is the authority on what parses. `parser` reads common records a slice at a time, and hands every record that it
isn't sure of to this module.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from tripline_contracts import decimals
from tripline_contracts.errors import InvalidDecimal
from tripline_contracts.event_type import MAX_TIMESTAMP, EventType, Field
from tripline_contracts.normal_forms.normal_texts import NORMAL_TEXTS
from tripline_engine.errors import Unparseable

MAX_DEPTH: Final = 100
"""Levels of nesting: far below Python's own limit, which depends on the depth of the caller."""

Value = str | int | None
"""A field's value: text for strings and enums, ms for timestamps, times 10**6 for decimals."""

# Possessive, and a string without end goes to the end: else each of a hundred thousand quotes is where another search
# begins, and one record takes an hour.
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*+\\?(?:"|\Z)', re.DOTALL)
_SURROGATE_PAIR: Final = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_EMPTY_IS_NULL: Final = ("string", *NORMAL_TEXTS)
_TIMESTAMP_DIGITS: Final = len(str(MAX_TIMESTAMP))


class _Number(str):
    """The text of a JSON number, so that no float is ever made."""

    __slots__ = ()


class _Whole(_Number):
    """The text of a JSON number without fraction or exponent."""

    __slots__ = ()


def read_record(event_type: EventType, value: bytes) -> tuple[Value, ...]:
    """The values of the declared fields, in declared order; undeclared fields are ignored.

    Raises Unparseable with a sentence that names the field and what was expected.
    """
    members = _load(value)
    return tuple(_read_field(field, _member(field, members)) for field in event_type.fields)


def _load(value: bytes) -> Mapping[str, Any]:
    try:
        text = value.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unparseable(f"value: expected UTF-8, found another byte at {error.start}") from error
    if text.count("[") + text.count("{") > MAX_DEPTH and _depth(text) > MAX_DEPTH:
        raise Unparseable(f"value: expected at most {MAX_DEPTH} levels of nesting")
    try:
        members = json.loads(text, parse_int=_Whole, parse_float=_Number, parse_constant=_refuse_constant)
    except ValueError as error:
        raise Unparseable(f"value: expected one JSON object, found no JSON: {error}") from error
    if "\\u" in text and _has_lone_surrogate(text):
        raise Unparseable("value: expected text, found a lone surrogate escape")
    if not isinstance(members, dict):
        raise Unparseable(f"value: expected one JSON object, found {_shown(members)}")
    return members


def _refuse_constant(literal: str) -> None:
    raise ValueError(f"{literal} is not JSON")


def _depth(text: str) -> int:
    """The deepest nesting outside strings; of text that isn't JSON, that of its part before the fault at least."""
    depth = deepest = 0
    for character in _STRING.sub("", text):
        if character in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in "]}":
            depth -= 1
    return deepest


def _has_lone_surrogate(text: str) -> bool:
    escapes = text.replace("\\\\", "")
    return _SURROGATE.search(_SURROGATE_PAIR.sub("", escapes)) is not None


def _member(field: Field, members: Mapping[str, Any]) -> Any:
    """The value under the field's name or an alias; two that differ as values are refused."""
    values = [members[name] for name in field.names if members.get(name) is not None]
    non_empty = [value for value in values if not (field.kind in _EMPTY_IS_NULL and value == "")]
    if len(non_empty) > 1 and len({_read_field(field, value) for value in non_empty}) > 1:
        raise Unparseable(f"{field.name}: expected equal values of {' and '.join(field.names)}")
    return next(iter(non_empty or values), None)


def _read_field(field: Field, value: Any) -> Value:
    if value is None:
        result: Value = None
    elif field.kind == "string":
        result = _read_string(field, value)
    elif field.kind == "timestamp":
        result = _read_timestamp(field, value)
    elif field.kind == "decimal":
        result = _read_decimal(field, value)
    elif field.kind in NORMAL_TEXTS:
        result = _read_normal_text(field, value)
    else:
        result = _read_enum(field, value)
    if result is None and field.required:
        raise Unparseable(f"{field.name}: expected {_expected(field)}, found none")
    return result


def _read_string(field: Field, value: Any) -> str | None:
    if isinstance(value, _Whole):
        text = "0" if value == "-0" else str(value)
    elif isinstance(value, str) and not isinstance(value, _Number):
        text = value
    else:
        raise _unexpected(field, value)
    if field.max_length is not None and len(text) > field.max_length:
        raise Unparseable(f"{field.name}: expected {_expected(field)}, found {len(text)} characters")
    if "\0" in text:
        raise Unparseable(f"{field.name}: expected {_expected(field)} without U+0000")
    return text or None


def _read_timestamp(field: Field, value: Any) -> int:
    if not isinstance(value, _Whole) or len(value) > _TIMESTAMP_DIGITS:
        raise _unexpected(field, value)
    time = int(value)
    if not 0 <= time <= MAX_TIMESTAMP:
        raise _unexpected(field, value)
    return time


def _read_decimal(field: Field, value: Any) -> int:
    if not isinstance(value, str):
        raise _unexpected(field, value)
    try:
        return decimals.parse_scaled(str(value))
    except InvalidDecimal as error:
        raise Unparseable(f"{field.name}: {error}, found {_shown(value)}") from error


def _read_normal_text(field: Field, value: Any) -> str | None:
    if value == "":
        return None
    is_text = isinstance(value, str) and not isinstance(value, _Number)
    text = NORMAL_TEXTS[field.kind].normal(value) if is_text else None
    if text is None:
        raise _unexpected(field, value)
    return text


def _read_enum(field: Field, value: Any) -> str:
    if isinstance(value, _Number) or not isinstance(value, str) or value not in field.values:
        raise _unexpected(field, value)
    return value


def _unexpected(field: Field, value: Any) -> Unparseable:
    return Unparseable(f"{field.name}: expected {_expected(field)}, found {_shown(value)}")


def _expected(field: Field) -> str:
    if field.kind == "string":
        return f"a string of 1 to {field.max_length} characters, or an integer"
    if field.kind == "timestamp":
        return f"an integer of milliseconds from 0 to {MAX_TIMESTAMP}"
    if field.kind == "decimal":
        return "a decimal number or its text"
    if field.kind in NORMAL_TEXTS:
        return NORMAL_TEXTS[field.kind].expected
    return f"one of {', '.join(field.values)}"


def _shown(value: Any) -> str:
    """A value as an error may show it: short, on one line, in ASCII."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array"
    text = str(value)
    kind = "" if isinstance(value, _Number) else "the string "
    return f"{kind}{ascii(text[:40]) if kind else text[:40]}{'…' if len(text) > 40 else ''}"
