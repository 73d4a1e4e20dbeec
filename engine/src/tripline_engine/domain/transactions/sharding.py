"""Sharding by anchor value: equal values of an anchor meet in one shard.

shard = low 64 bits of SipHash-2-4-128 of the value's UTF-8 text, modulo the number of shards. The global anchor is a
constant, the text "global", so everything of it meets in one shard.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from tripline_contracts.event_type import GLOBAL_ANCHOR, Party
from tripline_engine.domain.memory.array_types import Int64Array, Uint16Array
from tripline_engine.domain.memory.siphash import hash_strings
from tripline_engine.domain.transactions.columns import text_bounds

NO_SHARD: Final = -1
"""The shard of a null: a transaction without the anchor's value goes to none."""


def shards_of(values: pa.Array, shards: int, hash_key: tuple[int, int]) -> Int64Array:
    """The shard of each value, NO_SHARD for null. Values that aren't text are taken as Arrow prints them."""
    texts = values if pa.types.is_string(values.type) else values.cast(pa.string())
    letters = np.frombuffer(texts.buffers()[2] or b"\0", np.uint8)
    low, _ = hash_strings(text_bounds(texts), letters, *hash_key)
    numbers = (low % np.uint64(shards)).astype(np.int64)
    if texts.null_count:
        numbers[texts.is_null().to_numpy(zero_copy_only=False)] = NO_SHARD
    return numbers


REPORTS: Final = np.uint16(1 << 15)
"""The bit of a mask that says which shard counts the row and reports its rejection: one of those that have it."""

_LEAST_HOME: Final = 0
"""The shard of a row that no anchor brings to any: somebody has to admit or reject it."""


def anchor_masks(
    columns: Mapping[str, pa.Array],
    anchors: Mapping[str, bool],
    shards: int,
    hash_key: tuple[int, int],
    parties: Sequence[Party] = (),
) -> Uint16Array:
    """uint16 of shape (shards, rows): bit i of [s, row] says that the row belongs to shard s for anchor i.

    Each row has REPORTS in one shard: that of the first anchor that brings it anywhere.

    :param anchors: in the event type's order, each with whether rows are brought to a shard for its sake
    :param parties: those among the anchors, which come last: each has a bit for each of its sides
    """
    rows = len(next(iter(columns.values())))
    masks = np.zeros((shards, rows), np.uint16)
    all_rows: Any = np.arange(rows)
    reporting = np.full(rows, NO_SHARD)
    fields = {party.name: party.fields for party in parties}
    lanes = [(anchor, field) for anchor in anchors for field in fields.get(anchor, (anchor,))]
    for bit, (anchor, field) in enumerate(lanes):
        if not anchors[anchor]:
            continue
        if anchor == GLOBAL_ANCHOR:
            homes = np.broadcast_to(shards_of(pa.array([GLOBAL_ANCHOR]), shards, hash_key), rows)
        else:
            homes = shards_of(columns[field], shards, hash_key)
        present = homes != NO_SHARD
        masks[homes[present], all_rows[present]] |= np.uint16(1 << bit)
        reporting = np.where(reporting == NO_SHARD, homes, reporting)
    reporting[reporting == NO_SHARD] = _LEAST_HOME
    masks[reporting, all_rows] |= REPORTS
    return masks
