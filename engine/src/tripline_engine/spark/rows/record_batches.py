"""Serializer between Spark and a shard's processor: Arrow record batches, as they cross the socket anyway.

Spark's own serializer converts each record batch to pandas columns, these to one tuple per row, and the tuples to a
data frame; and a processor's output to one array per field again. That was more than a tenth of the Python time of a
small micro-batch. `use_record_batches` installs ours in Spark's worker: `handleInputRows` gets record batches, and may
yield them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark import worker
from pyspark.sql.pandas.serializers import ArrowStreamSerializer, TransformWithStateInPandasSerializer
from pyspark.sql.streaming.stateful_processor_util import TransformWithStateInPandasFuncMode

from tripline_engine.spark.rows.input_batches import INPUT_SCHEMA

if TYPE_CHECKING:
    import pandas as pd

Key = tuple[int]
_RETURNED = "_0"
"""Spark's name of the one output column, a struct."""


class KeyedRows:
    """The part of a data frame's interface that Spark's worker uses: columns by index, `frame.iloc[:, indices]`."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        self._batch = batch

    @property
    def iloc(self) -> KeyedRows:
        """Itself."""
        return self

    def __getitem__(self, indices: tuple[slice, list[int]]) -> pa.RecordBatch:
        return self._batch.select(indices[1])


class RecordBatchSerializer(TransformWithStateInPandasSerializer):
    """Replaces Spark's serializer for `transformWithStateInPandas`; the grouping key is one integer."""

    def load_stream(self, stream: IO[bytes]) -> Iterator[tuple[Any, ...]]:
        """Each key with its rows, which are contiguous; then the marks of timers and of the end."""
        batches = ArrowStreamSerializer.load_stream(self, stream)
        parts = (part for batch in batches for part in self._by_key(batch))
        for key, group in groupby(parts, key=itemgetter(0)):
            yield TransformWithStateInPandasFuncMode.PROCESS_DATA, key, group
        yield TransformWithStateInPandasFuncMode.PROCESS_TIMER, None, None
        yield TransformWithStateInPandasFuncMode.COMPLETE, None, None

    def dump_stream(self, iterator: Iterable[Any], stream: IO[bytes]) -> None:
        """`iterator` has one (record batches, type) in a list for each key."""
        outputs = (batch for [(batches, _)] in iterator for batch in batches)
        structs = (pa.RecordBatch.from_arrays([batch.to_struct_array()], [_RETURNED]) for batch in outputs)
        # Spark can report an error only before the stream's start is written
        ArrowStreamSerializer.dump_stream(self, self._write_stream_start(structs, stream), stream)

    def _by_key(self, batch: pa.RecordBatch) -> Iterator[tuple[Key, KeyedRows]]:
        assert self.key_offsets is not None  # Spark's worker sets them before it reads
        [key_index] = self.key_offsets
        keys = batch.column(key_index).to_numpy()
        cuts = (np.flatnonzero(np.diff(keys)) + 1).tolist()
        for start, end in zip([0, *cuts], [*cuts, len(keys)], strict=True):
            # Spark may send a batch without rows
            if start < end:
                yield (int(keys[start]),), KeyedRows(batch.slice(start, end - start))


def use_record_batches() -> None:
    """Have Spark's worker, in this process and all that are forked from it, use this serializer."""
    worker.TransformWithStateInPandasSerializer = RecordBatchSerializer  # type: ignore[attr-defined]


def as_record_batch(rows: pa.RecordBatch | pd.DataFrame) -> pa.RecordBatch:
    """Input rows by INPUT_SCHEMA. In a query with an initial state Spark's own serializer makes data frames."""
    if isinstance(rows, pa.RecordBatch):
        return rows
    fields = [INPUT_SCHEMA.field(name) for name in rows.columns]
    arrays = [pa.array(rows[field.name], field.type, from_pandas=True) for field in fields]
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


def as_data_frame(batch: pa.RecordBatch) -> pd.DataFrame:
    """Output rows as a data frame, for Spark's own serializer."""
    import pandas as pd  # noqa: PLC0415

    return pd.DataFrame(batch.to_pydict(), dtype=object)
