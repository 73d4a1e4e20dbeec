"""The rows that a shard receives: their schema, and the kinds that only Spark's side knows."""

from __future__ import annotations

from typing import Final

PACKED_SCHEMA: Final = "shardKey int, kind tinyint, position long, payload binary"


RAW_RECORD: Final = 127
"""The `kind` of a raw transaction record: position is its offset, payload its value."""


BACKFILLED_RECORD: Final = 126
"""The `kind` of a raw record with the header `backfill`; in rows of all other kinds the column `backfill` is null."""
