"""A shard's rows as payloads: order of kinds, raw records as packing has them, whatever order they come in."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.engine.spark.support.raw_records import batch, payment
from tests.unit.engine.support.shard_harness import config
from tripline_engine.domain.shard.ports import Kind, Payload
from tripline_engine.spark.rows.input_batches import INPUT_SCHEMA, ordered_payloads
from tripline_engine.spark.rows.input_schema import BACKFILLED_RECORD, RAW_RECORD
from tripline_engine.spark.rows.packing import Pack, packer, unpacked

RECORDS = [
    (0, 7, 100, payment(1)),
    (0, 8, 300, b"broken"),
    (0, 9, 200, payment(2)),
    (1, 3, 250, None),
    (1, 4, 240, payment(3, payee=None)),
]


def rows(*values: tuple[object, ...]) -> pa.RecordBatch:
    fields = list(INPUT_SCHEMA)[: len(values[0])]
    columns = [
        pa.array(column, field.type) for column, field in zip(zip(*values, strict=True), fields, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))


def raw(record: tuple[int, int, int, bytes | None]) -> tuple[object, ...]:
    partition, offset, time, value = record
    return (0, RAW_RECORD, offset, value, partition, time, None)


def packed_by_itself() -> list[Payload]:
    return [payload for packed in packer(config(1))(iter([batch(RECORDS)])) for payload in unpacked(packed)]


def contents(payloads: list[Payload], kind: Kind) -> list[dict[str, object]]:
    tables = (pa.ipc.open_stream(p.data).read_all().to_pylist() for p in payloads if p.kind is kind)
    return [row for part in tables for row in part]


def by_kind(payloads: list[Payload]) -> list[Payload]:
    return sorted(payloads, key=lambda payload: (payload.kind, payload.position))


@given(st.permutations(range(len(RECORDS))), st.integers(0, len(RECORDS)))
def test_raw_records_are_packed_as_if_in_the_order_of_their_offsets(order: list[int], cut: int) -> None:
    shuffled = [raw(RECORDS[i]) for i in order]
    batches = [rows(*part) for part in (shuffled[:cut], shuffled[cut:]) if part]
    assert ordered_payloads(batches, packer(config(1))) == by_kind(packed_by_itself())


@pytest.mark.parametrize("most", [1, 150])
def test_many_bytes_are_packed_a_part_at_a_time(most: int) -> None:
    payloads = ordered_payloads([rows(*map(raw, RECORDS))], packer(config(1), pass_bytes=most), most)
    whole = packed_by_itself()
    assert len(payloads) > len(whole)
    for kind in (Kind.TRANSACTIONS, Kind.PARSE_REJECTS):
        assert contents(payloads, kind) == contents(whole, kind)
    assert [p for p in payloads if p.kind is Kind.PARTITION_RANGE] == [
        p for p in whole if p.kind is Kind.PARTITION_RANGE
    ]


@pytest.mark.parametrize("backfilled", [0, 2])
def test_parts_of_which_one_has_a_backfill_are_packed_apart(backfilled: int) -> None:
    records = [
        (
            0,
            BACKFILLED_RECORD if i == backfilled else RAW_RECORD,
            i,
            payment(i),
            0,
            i,
            b"b" if i == backfilled else None,
        )
        for i in range(3)
    ]
    payloads = ordered_payloads([rows(*records)], packer(config(1)), batch_bytes=1)
    judged = contents(payloads, Kind.TRANSACTIONS)
    assert [row.get("backfill") for row in judged] == ["b" if i == backfilled else None for i in range(3)]


def test_events_come_by_kind_and_position_before_what_is_packed() -> None:
    batches = [
        rows(
            raw(RECORDS[0]), (0, Kind.TICK, 5, b"t5", 0, 0, None), (0, Kind.RULE_EVENT, 9, b"r9", 0, 0, None)
        ),
        rows((0, Kind.TICK, 4, b"t4", 0, 0, None), (0, Kind.RULE_EVENT, 2, b"", 0, 0, None)),
    ]
    payloads = ordered_payloads(batches, packer(config(1)))
    assert [(payload.kind, payload.position) for payload in payloads] == [
        (Kind.RULE_EVENT, 2),
        (Kind.RULE_EVENT, 9),
        (Kind.TICK, 4),
        (Kind.TICK, 5),
        (Kind.TRANSACTIONS, 0),
        (Kind.PARTITION_RANGE, 0),
    ]
    assert [payload.data for payload in payloads[:4]] == [b"", b"r9", b"t4", b"t5"]


def test_the_header_of_a_backfill_goes_along_with_its_record() -> None:
    of_a_backfill = (0, BACKFILLED_RECORD, 8, payment(2), 0, 100, b"b-1")
    payloads = ordered_payloads([rows(of_a_backfill, *map(raw, RECORDS[:1]))], packer(config(1)))
    told = [(row["offset"], row["backfill"]) for row in contents(payloads, Kind.TRANSACTIONS)]
    assert told == [(7, None), (8, "b-1")]
    ordinary = ordered_payloads([rows(*map(raw, RECORDS[:1]))], packer(config(1)))
    assert ["backfill" in row for row in contents(ordinary, Kind.TRANSACTIONS)] == [False]


def test_packed_rows_are_payloads_already() -> None:
    def nothing_to_pack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        pytest.fail(f"packed again: {list(batches)}")

    pack: Pack = nothing_to_pack
    batches = [rows((0, Kind.PARTITION_RANGE, 0, b"{}"), (0, Kind.TRANSACTIONS, 0, b"arrow"))]
    assert ordered_payloads(batches, pack) == [
        Payload(Kind.TRANSACTIONS, b"arrow", 0),
        Payload(Kind.PARTITION_RANGE, b"{}", 0),
    ]
