"""The entries of a transaction: one for each side of a party that has a value (semantics 10)."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from tests.oracle.parsers.transactions import Transaction
from tests.oracle.values.event_types import SIDE, current_type
from tests.oracle.values.schema import GLOBAL

Identity: TypeAlias = "tuple[str, str | None, str | None]"


def entries_of(transaction: Transaction, anchor: str) -> list[Transaction]:
    """What the anchor takes of a transaction: itself if it has a value there, or its entries."""
    if anchor == GLOBAL:
        return [transaction]
    party = current_type().parties.get(anchor)
    if party is None:
        return [] if transaction.keys[anchor] is None else [transaction]
    return [
        replace(transaction, keys={**transaction.keys, anchor: transaction.keys[key], SIDE: side})
        for side, key in party.items()
        if transaction.keys[key] is not None
    ]


def identity_of(entry: Transaction, anchor: str) -> Identity:
    """By what duplicates on the anchor are known: id, value, and of entries the side."""
    value = None if anchor == GLOBAL else entry.keys[anchor]
    return entry.transaction_id, value, entry.keys.get(SIDE)


def side_of(entry: Transaction) -> str | None:
    """The side of an entry; None of a transaction."""
    return entry.keys.get(SIDE)
