"""Entries: what a party's anchor takes in place of transactions, one for each side that has a value.

    transaction   from 25, to 12             from 7, to null
    entries       party 25, side from
                  party 12, side to          party 7, side from

An entry is a row with all fields of its transaction and two more: the party's value, and its side. To the anchor it is
a transaction of an event type that declares these. A mask has a bit for each declared anchor, then one for each side.
"""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tripline_contracts.event_type import SIDE, EventType, Field, Party
from tripline_engine.domain.memory.array_types import Uint16Array
from tripline_engine.domain.transactions.columns import TransactionBatch


@functools.cache
def rows_type(event_type: EventType, anchor: str) -> EventType:
    """The type of an anchor's rows: the events' own, and of a party that of its entries."""
    party = event_type.party(anchor)
    if party is None:
        return event_type
    first = event_type.field(party.fields[0])
    value = replace(first, name=party.name, role="key", aliases=(), required=True)
    side = Field(SIDE, "attribute", "enum", required=True, values=party.side_names)
    return replace(event_type, fields=(*event_type.fields, value, side))


def bits_of(event_type: EventType, anchor: str) -> range:
    """The bits of a mask that bring a row to the anchor, one for each side of a party."""
    if anchor in event_type.anchors:
        bit = event_type.anchors.index(anchor)
        return range(bit, bit + 1)
    first = len(event_type.anchors)
    for party in event_type.parties:
        if party.name == anchor:
            return range(first, first + len(party.sides))
        first += len(party.sides)
    raise KeyError(anchor)


def rows_of(
    rows: TransactionBatch, masks: Uint16Array, anchor: str, event_type: EventType
) -> TransactionBatch:
    """What comes to the anchor: rows whose masks say so, of a party their entries there, in the engine's order."""
    bits, party = bits_of(event_type, anchor), event_type.party(anchor)
    if party is None:
        return rows.filter(((masks >> bits[0]) & 1).astype(np.bool_), event_type)
    here = (masks[:, np.newaxis] >> np.array(bits, np.uint16)) & 1
    return _entries(rows, np.nonzero(here), party, event_type)


def all_entries(rows: TransactionBatch, party: Party, event_type: EventType) -> TransactionBatch:
    """The entries of all rows, whichever shards they belong to."""
    present = np.stack([rows.texts[field].present for field in party.fields], axis=1)
    return _entries(rows, np.nonzero(present), party, event_type)


def _entries(
    rows: TransactionBatch, chosen: tuple[np.ndarray, ...], party: Party, event_type: EventType
) -> TransactionBatch:
    """The entries of these rows and sides, which come row by row and side by side."""
    numbers, sides = chosen
    table = rows.table.take(pa.array(numbers))
    which = pa.array(sides)
    values = pc.choose(which, *(table.column(field).cast(pa.string()) for field in party.fields))
    names = pa.array(party.side_names).take(which)
    table = table.append_column(party.name, values).append_column(SIDE, names)
    return TransactionBatch.of(table, rows_type(event_type, party.name))
