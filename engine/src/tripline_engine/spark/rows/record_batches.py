"""A shard's rows on their way from Spark and back, as the Arrow record batches that cross the socket anyway.

Spark's own serializer makes columns of pandas of each record batch, of these a tuple for every row and of the tuples a
data frame; and of what a processor yields an array for every field again. Of a small micro-batch that was more than a
tenth of the time in Python. `use_record_batches` has Spark's worker take ours instead: `handleInputRows` gets record
batches, and may yield them.
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
"""What Spark calls the one column, a struct, that comes back."""


class KeyedRows:
    """As much of a data frame as Spark's worker uses: it chooses columns by their places, `frame.iloc[:, places]`."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        self._batch = batch

    @property
    def iloc(self) -> KeyedRows:
        """Itself."""
        return self

    def __getitem__(self, places: tuple[slice, list[int]]) -> pa.RecordBatch:
        return self._batch.select(places[1])


class RecordBatchSerializer(TransformWithStateInPandasSerializer):
    """In the place of Spark's for `transformWithStateInPandas`; the grouping key is one whole number."""

    def load_stream(self, stream: IO[bytes]) -> Iterator[tuple[Any, ...]]:
        """Each key with its rows, which lie side by side; then what tells the processor that those were all."""
        batches = ArrowStreamSerializer.load_stream(self, stream)
        parts = (part for batch in batches for part in self._by_key(batch))
        for key, group in groupby(parts, key=itemgetter(0)):
            yield TransformWithStateInPandasFuncMode.PROCESS_DATA, key, group
        yield TransformWithStateInPandasFuncMode.PROCESS_TIMER, None, None
        yield TransformWithStateInPandasFuncMode.COMPLETE, None, None

    def dump_stream(self, iterator: Iterable[Any], stream: IO[bytes]) -> None:
        """`iterator` has one (record batches, type) in a list for each key."""
        found = (batch for [(batches, _)] in iterator for batch in batches)
        structs = (pa.RecordBatch.from_arrays([batch.to_struct_array()], [_RETURNED]) for batch in found)
        # what fails before the first one is whole can still be told as an error
        ArrowStreamSerializer.dump_stream(self, self._write_stream_start(structs, stream), stream)

    def _by_key(self, batch: pa.RecordBatch) -> Iterator[tuple[Key, KeyedRows]]:
        assert self.key_offsets is not None  # Spark's worker sets them before it reads
        [place] = self.key_offsets
        keys = batch.column(place).to_numpy()
        cuts = (np.flatnonzero(np.diff(keys)) + 1).tolist()
        for start, end in zip([0, *cuts], [*cuts, len(keys)], strict=True):
            # Spark may send a batch without rows
            if start < end:
                yield (int(keys[start]),), KeyedRows(batch.slice(start, end - start))


def use_record_batches() -> None:
    """Have Spark's worker, in this process and all that are forked from it, use this serializer."""
    worker.TransformWithStateInPandasSerializer = RecordBatchSerializer  # type: ignore[attr-defined]


def as_record_batch(rows: pa.RecordBatch | pd.DataFrame) -> pa.RecordBatch:
    """What has come, by INPUT_SCHEMA. Where a query begins with an initial state, Spark's own serializer is at work."""
    if isinstance(rows, pa.RecordBatch):
        return rows
    fields = [INPUT_SCHEMA.field(name) for name in rows.columns]
    arrays = [pa.array(rows[field.name], field.type, from_pandas=True) for field in fields]
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


def as_data_frame(batch: pa.RecordBatch) -> pd.DataFrame:
    """And on the way back there."""
    import pandas as pd  # noqa: PLC0415

    return pd.DataFrame(batch.to_pydict(), dtype=object)
