"""Rows to the processor and back as record batches: what Spark's own serializer hands on, in other clothes."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark import worker
from pyspark.sql.pandas.serializers import TransformWithStateInPandasSerializer
from pyspark.sql.streaming.stateful_processor_util import TransformWithStateInPandasFuncMode as Mode

from tripline_engine.domain.shard.ports import OutRecord
from tripline_engine.spark.rows.input_batches import INPUT_SCHEMA
from tripline_engine.spark.rows.output_batches import counter_batch, record_batches
from tripline_engine.spark.rows.output_schema import OUTPUT_SCHEMA
from tripline_engine.spark.rows.record_batches import (
    RecordBatchSerializer,
    as_data_frame,
    as_record_batch,
    use_record_batches,
)

KINDS = (TransformWithStateInPandasSerializer, RecordBatchSerializer)
COLUMNS = list(range(len(INPUT_SCHEMA)))
RECORDS = [
    OutRecord("alerts.v1", b"k", b"v" * 10, (("ce_id", b"1"), ("ce_type", b"alert"))),
    OutRecord("rejects.v1", None, b"", ()),
]


def serializer(kind: type[TransformWithStateInPandasSerializer]) -> Any:
    made = kind(
        timezone="UTC",
        safecheck=True,
        assign_cols_by_name=True,
        prefer_int_ext_dtype=False,
        arrow_max_records_per_batch=50_000,
        arrow_max_bytes_per_batch=2**31 - 1,
        int_to_decimal_coercion_enabled=False,
    )
    made.key_offsets = [0]
    return made


def stream(batches: list[list[int]]) -> io.BytesIO:
    """Record batches of rows with these keys, numbered through."""
    sink, number = io.BytesIO(), 0
    with pa.ipc.new_stream(sink, INPUT_SCHEMA) as writer:
        for keys in batches:
            rows = [
                {"shardKey": key, "kind": 1, "position": number + n, "payload": b"%d" % n, "partition": n}
                for n, key in enumerate(keys)
            ]
            number += len(keys)
            writer.write_batch(pa.RecordBatch.from_pylist(rows, schema=INPUT_SCHEMA))
    sink.seek(0)
    return sink


def loaded(kind: type[TransformWithStateInPandasSerializer], batches: list[list[int]]) -> list[Any]:
    """Mode, key and positions as Spark's worker hands them to a processor."""
    rows_read = []
    for mode, key, group in serializer(kind).load_stream(stream(batches)):
        chosen = [part[1].iloc[:, COLUMNS] for part in group] if group is not None else []
        rows = [row for part in chosen for row in as_record_batch(part).to_pylist()]
        rows_read.append((mode, key and tuple(map(int, key)), rows))
    return rows_read


@given(st.lists(st.lists(st.integers(0, 2), max_size=4).map(sorted), max_size=4))
def test_each_key_gets_its_rows_as_from_sparks_own(batches: list[list[int]]) -> None:
    theirs, ours = (loaded(kind, batches) for kind in KINDS)
    assert ours == theirs
    assert [mode for mode, _, _ in ours][-2:] == [Mode.PROCESS_TIMER, Mode.COMPLETE]


def dumped(kind: type[TransformWithStateInPandasSerializer], outputs: list[Any]) -> list[Any]:
    sink = io.BytesIO()
    packed: Iterator[Any] = iter([[(iter(outputs), OUTPUT_SCHEMA)]])
    serializer(kind).dump_stream(packed, sink)
    sink.seek(0)
    assert int.from_bytes(sink.read(4), "big", signed=True) < 0  # the mark before the stream
    table = pa.ipc.open_stream(sink).read_all()
    return [table.schema.field(0).type, table.column_names, table.to_pylist()]


def test_what_comes_back_is_what_sparks_own_writes() -> None:
    outputs = [*record_batches(RECORDS, "p-"), counter_batch(1, {"alerts": 2})]
    theirs, ours = (
        dumped(TransformWithStateInPandasSerializer, [as_data_frame(batch) for batch in outputs]),
        dumped(RecordBatchSerializer, outputs),
    )
    assert ours == theirs
    told = [row["_0"] for row in ours[2]]
    assert [row["topic"] for row in told] == ["p-alerts.v1", "p-rejects.v1", None]
    assert told[0]["headers"] == [{"key": "ce_id", "value": b"1"}, {"key": "ce_type", "value": b"alert"}]
    assert (told[2]["shard"], told[2]["counters"]) == (1, '{"alerts": 2}')


def test_nothing_that_comes_back_is_no_stream() -> None:
    sink = io.BytesIO()
    serializer(RecordBatchSerializer).dump_stream(iter([[(iter([]), OUTPUT_SCHEMA)]]), sink)
    assert sink.getvalue() == b""


def test_a_data_frame_without_the_columns_of_raw_records() -> None:
    frame = pd.DataFrame({"shardKey": [3], "kind": [1], "position": [7], "payload": [b"x"]})
    batch = as_record_batch(frame)
    assert batch.to_pylist() == [{"shardKey": 3, "kind": 1, "position": 7, "payload": b"x"}]
    assert batch.schema.types == INPUT_SCHEMA.types[:4]


def test_sparks_worker_takes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "TransformWithStateInPandasSerializer", TransformWithStateInPandasSerializer)
    use_record_batches()
    assert vars(worker)["TransformWithStateInPandasSerializer"] is RecordBatchSerializer
