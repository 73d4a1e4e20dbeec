"""Fields are dropped from segments when nothing asks for them."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from tests.unit.engine.support.segments import (
    FAR_BACK,
    FIELDS,
    columns,
    compacted,
    content,
    ids,
    prune_all,
    rows,
)
from tests.unit.engine.support.shard_harness import TRANSACTION, DictLog
from tripline_engine.domain.state_log.segment import PruneBounds
from tripline_engine.domain.state_log.segment_log import SegmentLog, SegmentTuning


def test_a_page_moves_nothing_and_its_parts_are_pruned_one_by_one() -> None:
    tuning = SegmentTuning(moved_rows=40)
    log, state = compacted(15, tuning)
    before = dict(state.items())
    log.append(rows(150, 10), state)
    last = dict(state.items()).keys() - before.keys()
    assert not log.compact(state)
    (page,) = log.segments
    assert page.is_manifest
    assert dict(state.items()).keys() == before.keys() | last | {"page/payeeId/0"}
    assert all(data == before[key] for key, data in state.items() if key in before)
    every = dict.fromkeys(FIELDS, PruneBounds(10_000))
    for done in range(1, 17):
        assert log.segments == [page]
        assert log.prune(every, state) == len(FIELDS)
        log = SegmentLog("payeeId", TRANSACTION, log.to_json(), tuning)
        changed = [key for key, data in state.items() if key in before and data != before[key]]
        assert changed == [f"segment/payeeId/{number}" for number in range(min(done, 15))]
    assert log.segments == [replace(page, dropped_fields=frozenset(FIELDS))]
    assert log.prune(every, state) == 0
    assert content(log, state)["payeeId"] == [None] * 160


@pytest.mark.parametrize("batches", [5, 17, 300])
def test_a_field_goes_from_what_is_below_its_reach(batches: int, paging: SegmentTuning) -> None:
    log, state = compacted(batches, paging)
    before, size = content(log, state), sum(len(data) for _, data in state.items())
    newest = max(segment.newest for segment in log.segments)
    assert prune_all(log, state, beneficiaryId=PruneBounds(newest), paymentAmount=PruneBounds(newest)) > 0
    after = content(log, state)
    last = log.segments[-1].rows
    assert after["beneficiaryId"] == [None] * (10 * batches - last) + ["b"] * last
    assert after["paymentAmount"] == [0] * (10 * batches - last) + before["paymentAmount"][-last:]
    others = before.keys() - {"beneficiaryId", "paymentAmount"}
    assert {name: after[name] for name in others} == {name: before[name] for name in others}
    assert sum(len(data) for _, data in state.items()) < size
    everything = dict.fromkeys(FIELDS, PruneBounds(newest + 1))
    assert prune_all(log, state, **everything) > 0
    assert all(column == {"eventTime", "recordTime", "transactionId"} for column in columns(state))
    assert prune_all(log, state, **everything) == 0
    again = SegmentLog("payeeId", TRANSACTION, log.to_json(), paging)
    assert again.segments == log.segments
    assert content(again, state)["transactionId"] == before["transactionId"]


def test_no_more_than_one_segment_at_a_time_and_the_oldest_first() -> None:
    log, state = compacted(20)
    every = dict.fromkeys(FIELDS, PruneBounds(10_000))
    assert len(log.segments) == 5
    for done in range(1, 6):
        assert log.prune(every, state) == len(FIELDS)
        assert [bool(segment.dropped_fields) for segment in log.segments] == [True] * done + [False] * (
            5 - done
        )
    assert log.prune(every, state) == 0


def test_what_was_pruned_in_parts_is_merged(paging: SegmentTuning) -> None:
    log, state = compacted(10, paging)
    assert prune_all(log, state, payeeId=PruneBounds(500), paymentAmount=PruneBounds(10_000)) > 0
    for batch in range(10, 300):
        log.append(rows(10 * batch, 10, time=100 * batch), state)
        log.compact(state)
        if batch == 200:
            prune_all(log, state, paymentType=PruneBounds(10_000))
    contents = content(log, state)
    whole = content(*compacted(300, paging))
    assert contents["transactionId"] == whole["transactionId"]
    assert contents["beneficiaryId"] == whole["beneficiaryId"]
    assert contents["payeeId"][:50] == [None] * 50
    assert contents["payeeId"][50:] == whole["payeeId"][50:]
    assert contents["paymentAmount"][:100] == [0] * 100
    assert contents["paymentAmount"][100:] == whole["paymentAmount"][100:]
    pruned = contents["paymentType"].count(None)
    assert 0 < pruned < 1_500
    assert contents["paymentType"] == [None] * pruned + ["CSH"] * (3_000 - pruned)


def test_buckets_and_remembered_ids_hold_a_field_back() -> None:
    log, state = compacted(16)
    assert prune_all(log, state, payeeId=PruneBounds(10_000, sequence=159)) == 0
    assert prune_all(log, state, payeeId=PruneBounds(10_000, record=1_509)) == 0
    assert prune_all(log, state, payeeId=PruneBounds(10_000, sequence=160, record=1_510)) == 1


def test_what_has_been_cleared_needs_no_field() -> None:
    log, state = compacted(16)
    log.clear()
    log.append(rows(160, 10, time=0), state)
    assert prune_all(log, state, payeeId=PruneBounds(FAR_BACK, record=0)) == len(FIELDS) - 1
    assert [segment.dropped_fields for segment in log.segments] == [FIELDS - {"payeeId"}, frozenset()]


def whole_entries(log: SegmentLog, state: DictLog) -> None:
    """Write merged segments as Arrow streams with all columns, as they were before fields were pruned."""
    for segment in log.segments:
        if segment.level:
            table = log._form.read(log._entry(segment, state))
            sink = pa.BufferOutputStream()
            options = pa.ipc.IpcWriteOptions(compression="zstd")
            for start in range(0, len(table), 70):
                part = table.slice(start, 70)
                with pa.ipc.new_stream(sink, part.schema, options=options) as writer:
                    writer.write_table(part)
            state.put(log._key(segment), sink.getvalue().to_pybytes())


def test_a_log_from_before_is_read_merged_and_pruned() -> None:
    tuning = SegmentTuning(moved_rows=2_000)
    log, state = compacted(200)
    expected = content(log, state)
    whole_entries(log, state)
    log = SegmentLog("payeeId", TRANSACTION, log.to_json(), tuning)
    assert content(log, state) == expected
    for batch in range(200, 300):
        log.append(rows(10 * batch, 10, time=100 * batch), state)
        log.compact(state)
    # joined bytes: runs of both forms stand in one entry
    expected = content(*compacted(300, tuning))
    assert content(log, state) == expected
    assert prune_all(log, state, beneficiaryId=PruneBounds(10**9), payeeId=PruneBounds(10**9)) > 0
    contents = content(log, state)
    assert contents["beneficiaryId"] == contents["payeeId"] == [None] * 3_000
    assert contents["paymentAmount"] == expected["paymentAmount"]


def test_a_missing_segment_of_which_fields_are_gone_is_said_so() -> None:
    log, state = compacted(16)
    assert log.prune(dict.fromkeys(FIELDS, PruneBounds(10_000)), state) == len(FIELDS)
    state.remove("segment/payeeId/0")
    with pytest.raises(LookupError, match="segment/payeeId/0 is missing from the state log"):
        ids(log, state)
