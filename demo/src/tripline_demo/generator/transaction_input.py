"""A transaction that somebody wrote, in a request or a file, read by the event type's declaration."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Final

import msgspec

from tripline_contracts import decimals
from tripline_contracts.event_type import MAX_TIMESTAMP, EventType, Field
from tripline_contracts.normal_forms.normal_texts import NORMAL_TEXTS
from tripline_demo.generator.errors import InvalidInput, Problem
from tripline_http.fields import is_storable

Transaction = dict[str, str | int | None]
"""All declared fields under their canonical names: ids and keys text, times ms, decimals plain text."""

_MAX_DIGITS: Final = 64
_ENCODER: Final = msgspec.json.Encoder()


def read(
    data: object,
    event_type: EventType,
    *,
    defaults: Mapping[str, str | int] | None = None,
    unknown_refused: bool = False,
) -> Transaction:
    """The transaction that a JSON object means; InvalidInput names every wrong field and what was expected.

    `defaults` stand in for fields that are absent or null. Numbers with a fraction must come as Decimal.
    """
    if not isinstance(data, Mapping):
        raise InvalidInput([Problem("body", "expected a JSON object with the fields of a transaction")])
    problems: list[Problem] = []
    transaction: Transaction = {}
    if unknown_refused:
        known = {name for field in event_type.fields for name in field.names}
        expected = ", ".join(field.name for field in event_type.fields)
        problems += [
            Problem(str(name), f"unknown; known are {expected}") for name in data if name not in known
        ]
    for field in event_type.fields:
        try:
            value = _given(data, field)
            if value is None:
                value = (defaults or {}).get(field.name)
            transaction[field.name] = _checked(value, field)
        except ValueError as error:
            problems.append(Problem(field.name, str(error)))
    if problems:
        raise InvalidInput(problems)
    return transaction


def to_bytes(transaction: Mapping[str, str | int | None]) -> bytes:
    """The transaction as it goes into transactions.v1."""
    return _ENCODER.encode(transaction)


def key_of(transaction: Mapping[str, str | int | None], event_type: EventType) -> bytes | None:
    """The record key: the first anchor's value, so that transactions of one value of it keep their order."""
    value = transaction.get(event_type.anchors[0])
    return None if value is None else str(value).encode()


def _given(data: Mapping[object, object], field: Field) -> object:
    """The value under the name or an alias; under both they must mean the same, as the engine has it."""
    given = [data[name] for name in field.names if data.get(name) is not None]
    if len({str(value) for value in given}) > 1:
        raise ValueError(f"given twice, differently; expected one of {', '.join(field.names)}")
    return given[0] if given else None


def _checked(value: object, field: Field) -> str | int | None:
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
    if not is_storable(value):
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
