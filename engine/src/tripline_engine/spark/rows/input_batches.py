"""A shard's rows of one micro-batch as payloads, in the engine's order of kinds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tripline_engine.domain.shard.ports import Kind, Payload
from tripline_engine.domain.transactions.columns import BACKFILL
from tripline_engine.spark.rows.input_schema import BACKFILLED_RECORD, RAW_RECORD
from tripline_engine.spark.rows.packing import PACKED, Pack, unpacked

Columns = dict[str, npt.NDArray[Any]]

INPUT_SCHEMA: Final = pa.schema(
    [*PACKED, ("partition", pa.int32()), ("recordTime", pa.int64()), (BACKFILL, pa.binary())]
)
"""What a shard's rows are made of; the last three only where raw records may be among them."""

_RECORD: Final = {
    "partition": "partition",
    "position": "offset",
    "recordTime": "recordTime",
    "payload": "value",
}
"""What packing needs of a raw record: a row's column, and what packing calls it."""

_BACKFILL: Final = {BACKFILL: BACKFILL}
"""And if one of them has that."""

BATCH_BYTES = 64 << 20
"""Values that are handed over for packing at once, and one more: an Arrow array of bytes holds 2 GiB at most."""


def ordered_payloads(batches: Iterable[pa.RecordBatch], pack: Pack) -> list[Payload]:
    """Rule events by position, ticks by position, then the rest; raw records as what packing makes of them.

    Neither a shuffle nor the sort by shard keeps an order. Transactions carry what the domain sorts them by.
    """
    rows = _columns(list(batches))
    raw = rows["kind"] >= BACKFILLED_RECORD
    found = [*_payloads(rows, np.flatnonzero(~raw)), *_packed(rows, np.flatnonzero(raw), pack)]
    return sorted(found, key=lambda payload: (payload.kind, payload.position))


def _columns(batches: list[pa.RecordBatch]) -> Columns:
    names = batches[0].schema.names
    return {
        name: np.concatenate([batch[name].to_numpy(zero_copy_only=False) for batch in batches])
        for name in names
    }


def _payloads(rows: Columns, chosen: npt.NDArray[np.intp]) -> Iterator[Payload]:
    columns = (rows[name][chosen].tolist() for name in ("kind", "position", "payload"))
    for kind, position, data in zip(*columns, strict=True):
        yield Payload(Kind(kind), bytes(data), position)


def _packed(rows: Columns, chosen: npt.NDArray[np.intp], pack: Pack) -> Iterator[Payload]:
    if not len(chosen):
        return
    chosen = chosen[np.lexsort((rows["position"][chosen], rows["partition"][chosen]))]
    sizes = np.fromiter((len(value or b"") for value in rows["payload"][chosen]), np.int64, len(chosen))
    cuts = np.flatnonzero(np.diff(np.cumsum(sizes) // BATCH_BYTES)) + 1
    for packed in pack(_batch(rows, part) for part in np.split(chosen, cuts)):
        yield from unpacked(packed)


def _batch(rows: Columns, chosen: npt.NDArray[np.intp]) -> pa.RecordBatch:
    backfilled = (rows["kind"][chosen] != RAW_RECORD).any()
    wanted = _RECORD | _BACKFILL if backfilled else _RECORD
    columns = {
        name: pa.array(rows[column][chosen], INPUT_SCHEMA.field(column).type)
        for column, name in wanted.items()
    }
    return pa.RecordBatch.from_pydict(columns)
