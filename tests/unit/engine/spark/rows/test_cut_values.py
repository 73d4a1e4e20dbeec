"""A value of which only the beginning was read is refused with the same words as the whole one."""

from __future__ import annotations

from hashlib import sha256

import pyarrow as pa
import pytest

from tests.unit.engine.spark.support.raw_records import payment
from tests.unit.engine.support.shard_harness import config
from tripline_contracts.record_batches.records import Cut, StoredRecord
from tripline_engine.kafka_log.record import Record
from tripline_engine.kafka_log.stored_log import KEPT_BYTES, cut_of, record_from
from tripline_engine.rebuild.inputs import ReplayBatch
from tripline_engine.rebuild.payloads import PayloadPacker
from tripline_engine.rebuild.recorded_order import RecordedBatch
from tripline_engine.spark.rows.packing import packer
from tripline_engine.spark.rows.record_limits import CUT_LENGTH, CUT_SHA256, REJECT_BYTES

LARGE = b'{"a":"' + b"x" * (KEPT_BYTES + 1_000) + b'"}'
TIME = 1_763_690_000_000


def rows(values: list[bytes], lengths: list[int | None], hashes: list[str | None]) -> pa.RecordBatch:
    count = len(values)
    columns = {
        "partition": pa.array([0] * count, pa.int32()),
        "offset": pa.array(range(7, 7 + count), pa.int64()),
        "recordTime": pa.array([TIME] * count, pa.int64()),
        "value": pa.array(values, pa.binary()),
    }
    if any(lengths):
        columns |= {CUT_LENGTH: pa.array(lengths, pa.int64()), CUT_SHA256: pa.array(hashes, pa.string())}
    return pa.RecordBatch.from_pydict(columns)


@pytest.mark.parametrize("shards", [1, 3])
def test_in_the_stream(shards: int) -> None:
    pack, others = packer(config(shards)), [payment(1), b"broken", payment(2)]
    whole = rows([*others, LARGE], [None] * 4, [None] * 4)
    cut = rows(
        [*others, LARGE[:REJECT_BYTES]],
        [None, None, None, len(LARGE)],
        [None] * 3 + [sha256(LARGE).hexdigest()],
    )
    assert [part.to_pylist() for part in pack(iter([cut]))] == [
        part.to_pylist() for part in pack(iter([whole]))
    ]


def test_in_a_rebuild() -> None:
    def packed(large: Record) -> object:
        recorded = RecordedBatch("e", 1, "transaction", (), 1, None, None, ())
        records = [Record(0, 6, TIME, None, payment(1), ()), large]
        return PayloadPacker(config(1)).of(ReplayBatch(recorded, [], [], records, ()))

    known = Cut(len(LARGE), sha256(LARGE).hexdigest())
    stored = StoredRecord(7, TIME, None, LARGE[:KEPT_BYTES], (), known)
    cut = record_from(stored, 0)
    assert cut_of(cut) == known
    assert packed(cut) == packed(Record(0, 7, TIME, None, LARGE, ()))


@pytest.mark.parametrize("value", [b"{}", LARGE[:KEPT_BYTES]])
def test_a_senders_own_header_is_none_of_ours(value: bytes) -> None:
    assert cut_of(Record(0, 7, TIME, None, value, (("tripline-cut", b"no JSON"),))) is None
    assert cut_of(Record(0, 7, TIME, None, b"{}", (("tripline-cut", b'{"length":1,"sha256":""}'),))) is None
