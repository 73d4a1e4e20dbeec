"""Values of fields as transactions have them, checked by the event type's declaration."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Final

from tripline_contracts import decimals
from tripline_contracts.event_type import MAX_TIMESTAMP, Field
from tripline_contracts.normal_forms.normal_texts import NORMAL_TEXTS

_MAX_DIGITS: Final = 64


def given(data: Mapping[str, object], field: Field) -> object:
    """The value under the name or an alias. Under several they must mean the same, as the engine has it: ValueError."""
    values = [data[name] for name in field.names if data.get(name) is not None]
    if len({str(value) for value in values}) > 1:
        raise ValueError(f"given twice, differently; expected one of {', '.join(field.names)}")
    return values[0] if values else None


def checked(value: object, field: Field) -> str | int | None:
    """The value as the topic has it: texts, ms, plain decimals. Raises ValueError with what was expected."""
    if field.kind in ("string", *NORMAL_TEXTS) and value == "" and field.role != "id":
        value = None
    if value is None:
        if field.required:
            raise ValueError("required")
        return None
    match field.kind:
        case "string":
            return _text(value, field.max_length or 64)
        case "timestamp":
            return _timestamp(value)
        case "decimal":
            return _decimal(value)
        case "ip" | "position":
            form = NORMAL_TEXTS[field.kind]
            text = form.normal(value) if isinstance(value, str) else None
            if text is None:
                raise ValueError(f"expected {form.expected}")
            return text
        case "enum":
            if value not in field.values:
                raise ValueError(f"expected one of {', '.join(field.values)}")
            return str(value)


def _text(value: object, most: int) -> str:
    expected = f"expected a text of 1 to {most} characters or an integer"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**_MAX_DIGITS:
        value = str(value)
    if not isinstance(value, str) or not 1 <= len(value) <= most:
        raise ValueError(expected)
    if "\x00" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise ValueError(f"{expected}, without U+0000 and lone surrogates")
    return value


def _timestamp(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_TIMESTAMP:
        raise ValueError(f"expected an integer from 0 to {MAX_TIMESTAMP}: ms since the epoch, UTC")
    return value


def _decimal(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, str, Decimal)):
        raise ValueError("expected a decimal number or its text")  # collected as a problem
    return decimals.plain(decimals.parse(value))
