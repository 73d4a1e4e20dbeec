"""Payloads of one shard from its input rows of a micro-batch, in the engine's order of kinds."""

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
"""Columns of a shard's input rows; the last three only where raw records may be among them."""

_RECORD: Final = {
    "partition": "partition",
    "position": "offset",
    "recordTime": "recordTime",
    "payload": "value",
}
"""Columns of a raw record by packing's names, each with the name of the input row's column."""

_BACKFILL: Final = {BACKFILL: BACKFILL}
"""The one more column where a record has a backfill."""

BATCH_BYTES: Final = 64 << 20
"""Bytes of values packed at once, one value more at most: an Arrow array of bytes holds 2 GiB at most."""


def ordered_payloads(
    batches: Iterable[pa.RecordBatch], pack: Pack, batch_bytes: int = BATCH_BYTES
) -> list[Payload]:
    """Rule events by position, ticks by position, then the rest; raw records packed.

    Neither a shuffle nor the sort by shard keeps an order. Transactions carry their sort keys for the domain.
    """
    rows = _columns(list(batches))
    raw = rows["kind"] >= BACKFILLED_RECORD
    payloads = [
        *_payloads(rows, np.flatnonzero(~raw)),
        *_packed(rows, np.flatnonzero(raw), pack, batch_bytes),
    ]
    return sorted(payloads, key=lambda payload: (payload.kind, payload.position))


def _columns(batches: list[pa.RecordBatch]) -> Columns:
    names = batches[0].schema.names
    return {
        name: np.concatenate([batch[name].to_numpy(zero_copy_only=False) for batch in batches])
        for name in names
    }


def _payloads(rows: Columns, row_numbers: npt.NDArray[np.intp]) -> Iterator[Payload]:
    columns = (rows[name][row_numbers].tolist() for name in ("kind", "position", "payload"))
    for kind, position, data in zip(*columns, strict=True):
        yield Payload(Kind(kind), bytes(data), position)


def _packed(
    rows: Columns, row_numbers: npt.NDArray[np.intp], pack: Pack, batch_bytes: int
) -> Iterator[Payload]:
    if not len(row_numbers):
        return
    by_offset = row_numbers[np.lexsort((rows["position"][row_numbers], rows["partition"][row_numbers]))]
    sizes = np.fromiter((len(value or b"") for value in rows["payload"][by_offset]), np.int64, len(by_offset))
    cuts = np.flatnonzero(np.diff(np.cumsum(sizes) // batch_bytes)) + 1
    for packed in pack(_batch(rows, chunk) for chunk in np.split(by_offset, cuts)):
        yield from unpacked(packed)


def _batch(rows: Columns, row_numbers: npt.NDArray[np.intp]) -> pa.RecordBatch:
    backfilled = (rows["kind"][row_numbers] != RAW_RECORD).any()
    names = _RECORD | _BACKFILL if backfilled else _RECORD
    columns = {
        name: pa.array(rows[column][row_numbers], INPUT_SCHEMA.field(column).type)
        for column, name in names.items()
    }
    return pa.RecordBatch.from_pydict(columns)
