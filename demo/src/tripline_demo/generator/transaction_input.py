"""A transaction that somebody wrote, in a request or a file, read by the event type's declaration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from tripline_contracts.event_type import EventType
from tripline_contracts.recordings.field_values import checked, given
from tripline_demo.generator.errors import InvalidInput, Problem

Transaction = dict[str, str | int | None]
"""All declared fields under their canonical names: ids and keys text, times ms, decimals plain text."""

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
            value = given(data, field)
            if value is None:
                value = (defaults or {}).get(field.name)
            transaction[field.name] = checked(value, field)
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
