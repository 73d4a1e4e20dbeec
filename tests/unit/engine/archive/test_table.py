"""Records into files and back: all of them, byte for byte; and beside them what other tools read."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.engine.archive.support.memory_store import START, record
from tripline_contracts.event_type import EventType, Field
from tripline_contracts.event_type_loader import load
from tripline_engine.archive import file_store
from tripline_engine.archive.file_store import FileStore
from tripline_engine.archive.table import TableFormat
from tripline_engine.kafka_log.record import Record

TRANSACTION = load()
BYTES = st.one_of(st.none(), st.binary(max_size=40))
RECORDS = st.lists(
    st.tuples(
        st.integers(-1, 2**62), BYTES, BYTES, st.lists(st.tuples(st.text(max_size=5), BYTES), max_size=3)
    ),
    min_size=1,
    max_size=20,
)


def payment(**changes: object) -> bytes:
    fields = {
        "transactionId": "t-1",
        "eventTime": START,
        "payerId": 25,
        "beneficiaryId": None,
        "paymentAmount": "12.50",
        "paymentType": "CSH",
    }
    return json.dumps(fields | changes).encode()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(logged=RECORDS)
def test_what_comes_out_is_what_went_in(
    tmp_path: Path, logged: list[tuple[int, bytes | None, bytes | None, list[tuple[str, bytes | None]]]]
) -> None:
    records = [
        Record(3, 7 + 2 * n, timestamp, key, value, tuple(headers))
        for n, (timestamp, key, value, headers) in enumerate(logged)
    ]
    store = FileStore(tmp_path, "transaction", "transactions.v1")
    piece = store.write(records, 5, TableFormat(TRANSACTION))
    assert (piece.partition, piece.first, piece.until) == (3, 5, records[-1].offset + 1)
    assert store.files()[3].count(piece) == 1
    assert [one for run in store.records(piece) for one in run] == records
    part = [one for run in store.records(piece, records[0].offset + 1, records[-1].offset) for one in run]
    assert part == records[1:-1]
    later = [one for run in store.records(piece, records[-1].offset) for one in run]
    assert later == records[-1:]
    assert store.last_record(piece) == records[-1]


def test_of_row_groups_without_what_is_wanted_nothing_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_store, "_GROUP_BYTES", 1)
    records = [record(n) for n in range(9)]
    store = FileStore(tmp_path, "transaction", "transactions.v1")
    files = [store.write(records[first : first + 3], first, TableFormat(None)) for first in (0, 3, 6)]
    merged = store.merge(files, TableFormat(None))
    assert pq.ParquetFile(store.folder / merged.path).metadata.num_row_groups == 3
    read: list[list[int]] = []
    whole = pq.ParquetFile.iter_batches

    def told(file: pq.ParquetFile, size: int, groups: list[int], *more: Any, **options: Any) -> Any:
        read.append(groups)
        return whole(file, size, groups, *more, **options)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", told)
    for first, until, groups in ((0, 9, [0, 1, 2]), (4, 6, [1]), (5, 7, [1, 2]), (3, 3, []), (8, 99, [2])):
        assert [one for run in store.records(merged, first, until) for one in run] == records[first:until]
        assert read.pop() == groups


def test_declared_fields_stand_beside_the_bytes_and_are_null_where_nobody_can_read_them(
    tmp_path: Path,
) -> None:
    values = [payment(), b"broken", None, payment(paymentAmount="1e3", ingestionTimestamp=START + 5)]
    records = [replace(record(n), value=value) for n, value in enumerate(values)]
    store = FileStore(tmp_path, "transaction", "transactions.v1")
    piece = store.write(records, 0, TableFormat(TRANSACTION))
    table = (
        pq.ParquetFile(store.folder / piece.path)
        .read()
        .select(
            [
                "value",
                "transactionId",
                "eventTime",
                "payeeId",
                "beneficiaryId",
                "paymentAmount",
                "ingestionTimestamp",
            ]
        )
    )
    when = datetime.fromtimestamp(START // 1000, UTC)
    assert [tuple(row.values()) for row in table.to_pylist()] == [
        (values[0], "t-1", when, "25", None, Decimal("12.500000"), None),
        (b"broken", *[None] * 6),
        (None, *[None] * 6),
        (values[3], "t-1", when, "25", None, Decimal(1000), when.replace(microsecond=5000)),
    ]


def test_a_field_with_the_name_of_a_column_has_one_of_its_own() -> None:
    fields = (
        *TRANSACTION.fields,
        Field("value", "attribute", "string", max_length=5),
        Field("date", "key", "string", max_length=5),
    )
    names = TableFormat(replace(TRANSACTION, fields=fields)).schema.names
    assert {"value", "value_", "date_"} <= set(names)
    assert "date" not in names
    assert len(names) == len(set(names))


def test_topics_of_ours_have_the_raw_columns_alone() -> None:
    assert TableFormat(None).schema.names == ["partition", "offset", "timestamp", "key", "value", "headers"]


def test_files_of_an_older_event_type_are_merged_into_the_form_of_today(tmp_path: Path) -> None:
    older: EventType = replace(TRANSACTION, fields=TRANSACTION.fields[:-2])
    store = FileStore(tmp_path, "transaction", "transactions.v1")
    records = [replace(record(n), value=payment(transactionId=f"t{n}")) for n in range(4)]
    first = store.write(records[:2], 0, TableFormat(older))
    second = store.write(records[2:], 2, TableFormat(TRANSACTION))
    merged = store.merge([first, second], TableFormat(TRANSACTION))
    assert store.files() == {0: [merged]}
    assert [one for run in store.records(merged) for one in run] == records
    table: pa.Table = pq.ParquetFile(store.folder / merged.path).read()
    assert table.schema.names == TableFormat(TRANSACTION).schema.names
    assert table.column("paymentType").to_pylist() == ["CSH"] * 4
