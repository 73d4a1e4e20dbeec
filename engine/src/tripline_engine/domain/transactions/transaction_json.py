"""A transaction as alerts and traces carry it: JSON with every declared field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tripline_contracts import decimals
from tripline_contracts.event_type import EventType


def transaction_json(row: Mapping[str, Any], event_type: EventType) -> dict[str, Any]:
    """All declared fields of a transaction under their canonical names, nulls included, numbers as plain text."""
    return {
        field.name: decimals.plain(row[field.name])
        if field.role == "measure" and row[field.name] is not None
        else row[field.name]
        for field in event_type.fields
    }
