"""A transaction as alerts and traces carry it: JSON with every declared field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from tripline_contracts import decimals
from tripline_contracts.event_type import EventType
from tripline_engine.domain.transactions.columns import TransactionBatch


def transaction_json(row: Mapping[str, Any], event_type: EventType) -> dict[str, Any]:
    """All declared fields of a transaction under their canonical names, nulls included, numbers as plain text."""
    return {
        field.name: decimals.plain(row[field.name])
        if field.role == "measure" and row[field.name] is not None
        else row[field.name]
        for field in event_type.fields
    }


def transactions_json(
    rows: TransactionBatch, indices: Sequence[int], row_type: EventType
) -> dict[int, dict[str, Any]]:
    """The transactions at these indices as JSON objects, by index."""
    if not indices:
        return {}
    names = [field.name for field in row_type.fields]
    selected = rows.table.select(names).take(pa.array(indices)).to_pylist()
    return {i: transaction_json(row, row_type) for i, row in zip(indices, selected, strict=True)}
