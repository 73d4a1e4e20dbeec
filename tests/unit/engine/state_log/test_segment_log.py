"""Segments in the state log: compacted piece by piece, read back whole and in order, expired when unneeded."""

from __future__ import annotations

import pytest

from tests.unit.engine.support.segments import (
    FAR_BACK,
    columns,
    compacted,
    ids,
    marked,
    marks,
    rows,
)
from tests.unit.engine.support.shard_harness import TRANSACTION, DictLog
from tripline_engine.domain.history.voided import Voided
from tripline_engine.domain.state_log.segment import PruneBounds
from tripline_engine.domain.state_log.segment_log import DEFAULT_TUNING, SegmentLog, SegmentTuning


def test_merging_keeps_every_row_in_its_place(paging: SegmentTuning) -> None:
    state, log = DictLog(), SegmentLog("payeeId", TRANSACTION, tuning=paging)
    for batch in range(300):
        log.append(rows(3 * batch, 3), state)
        log.compact(state)
    assert len(log.segments) < 60
    pages = sum(segment.is_manifest for segment in log.segments)
    parts = sum(len(log._parts(segment, state)) for segment in log.segments)
    assert len(list(state.items())) == pages + parts
    assert ids(log, state) == [(f"t{i}", False) for i in range(900)]
    log = SegmentLog("payeeId", TRANSACTION, log.to_json(), paging)
    log.expire(10_000, 10_000, state)
    assert list(state.items()) == []


def test_all_pages_that_a_backlog_calls_for_are_made_at_once() -> None:
    tuning = SegmentTuning(moved_rows=40, entry_rows=10)
    state, log = DictLog(), SegmentLog("payeeId", TRANSACTION, tuning=tuning)
    log.append(rows(0, 16 * 10 * 5), state)
    log.append(rows(800, 3), state)
    assert not log.compact(state)
    assert [(segment.rows, segment.is_manifest) for segment in log.segments] == [(160, True)] * 5 + [
        (3, False)
    ]
    assert ids(log, state) == [(f"t{i}", False) for i in range(803)]


def test_rows_are_written_for_one_segment_at_a_time() -> None:
    tuning = SegmentTuning(entry_rows=1)
    state, log = DictLog(), SegmentLog("payeeId", TRANSACTION, tuning=tuning)
    log.append(rows(0, 48), state)
    assert [log.compact(state) for _ in range(4)] == [True, True, True, False]


def test_what_is_large_is_not_merged_with_small_ones_behind_it() -> None:
    tuning = SegmentTuning(max_rows=159 * DEFAULT_TUNING.fan_in)
    log, state = compacted(16, tuning)
    for batch in range(16):
        for _ in range(16):
            log.append(rows(160 + batch, 1), state)
            log.compact(state)
    assert log.compact(state)
    assert [(segment.rows, segment.level) for segment in log.segments] == [(160, 1), (256, 2)]


def test_a_log_read_from_its_json_goes_on() -> None:
    state, log = DictLog(), SegmentLog("payeeId", TRANSACTION)
    for batch in range(20):
        log.append(rows(batch, 1), state)
    again = SegmentLog("payeeId", TRANSACTION, log.to_json())
    again.append(rows(20, 1), state)
    assert ids(again, state) == [(f"t{i}", False) for i in range(21)]
    assert again.accepted == 21


@pytest.mark.parametrize("size", [7, 100, 1000])
def test_a_large_micro_batch_is_written_in_entries(size: int) -> None:
    tuning = SegmentTuning(entry_rows=size)
    state, log = DictLog(), SegmentLog("payeeId", TRANSACTION, tuning=tuning)
    backfilled = [i % 50 == 3 for i in range(200)]
    log.append(marked(0, backfilled), state)
    log.append(rows(200, 100, time=500), state)
    assert [segment.rows for segment in log.segments][:2] == {7: [7, 7], 100: [100, 100], 1000: [200, 100]}[
        size
    ]
    assert ids(log, state) == [(f"t{i}", False) for i in range(300)]
    assert marks(log, state) == backfilled + [False] * 100
    assert (log.accepted, log.first) == (300, 0)
    log.expire(500, 500, state)
    assert ids(log, state) == [(f"t{i}", False) for i in range(200, 300)]


def test_segments_go_when_windows_and_ids_have_passed_them() -> None:
    state, log = DictLog(), SegmentLog("payeeId", TRANSACTION)
    for batch in range(5):
        log.append(rows(10 * batch, 10, time=100 * batch), state)
    log.expire(205, 105, state)
    assert ids(log, state)[0][0] == "t10"
    log.expire(205, 205, state)
    assert ids(log, state)[0][0] == "t20"
    assert log.first == 20
    log.expire(10_000, 10_000, state)
    assert ids(log, state) == []
    assert list(state.items()) == []
    assert log.accepted == 50


def test_what_is_backfilled_stays_so_through_merges_and_costs_others_no_column(paging: SegmentTuning) -> None:
    state, log = DictLog(), SegmentLog("payeeId", TRANSACTION, tuning=paging)
    expected: list[bool] = []
    for batch in range(300):
        backfilled = [batch in (5, 170), False, False]
        log.append(marked(3 * batch, backfilled), state)
        expected += backfilled
        log.compact(state)
    assert len(log.segments) < 60
    assert marks(log, state) == expected
    assert sum("backfill" in column for column in columns(state)) == 2


def test_what_is_void_is_kept_while_it_is_in_the_log() -> None:
    state, log = DictLog(), SegmentLog("payeeId", TRANSACTION)
    for batch in range(3):
        log.append(rows(10 * batch, 10, time=100 * batch), state)
    log.void([25, 3], 7, 500)
    log.void([12], 9, 600)
    again = SegmentLog("payeeId", TRANSACTION, log.to_json())
    assert again.voided == [Voided(25, 7, 500), Voided(3, 7, 500), Voided(12, 9, 600)]
    again.expire(105, 105, state)
    assert again.voided == [Voided(25, 7, 500), Voided(12, 9, 600)]
    again.expire(10_000, 10_000, state)
    assert again.voided == []


def test_cleared_rows_are_read_back_as_such_and_go_with_their_ids() -> None:
    state, log = DictLog(), SegmentLog("payeeId", TRANSACTION)
    log.append(rows(0, 4, time=0), state)
    log.clear()
    log.append(rows(4, 4, time=100), state)
    for _ in range(14):
        log.append(rows(8, 1, time=200), state)
    assert log.compact(state)
    assert ids(log, state)[:8] == [(f"t{i}", i < 4) for i in range(8)]
    state, log = DictLog(), SegmentLog("payeeId", TRANSACTION)
    log.append(rows(0, 4), state)
    log.clear()
    log.expire(FAR_BACK, 10, state)
    assert ids(log, state) == []


def test_a_missing_segment_is_said_so() -> None:
    state, log = DictLog(), SegmentLog("payeeId", TRANSACTION)
    log.append(rows(0, 1), state)
    state.remove("segment/payeeId/0")
    with pytest.raises(LookupError, match="segment/payeeId/0 is missing from the state log"):
        ids(log, state)


def test_segments_that_are_not_written_are_known_all_the_same() -> None:
    state, written, log = DictLog(), DictLog(), SegmentLog("payeeId", TRANSACTION)
    unwritten = SegmentLog("payeeId", TRANSACTION, tuning=SegmentTuning(is_written=False))
    for batch in range(40):
        for one, store in ((log, written), (unwritten, state)):
            one.append(rows(3 * batch, 3, time=100 * batch), store)
        assert not unwritten.compact(state)
        floor = 100 * (batch - 10)
        log.expire(floor, floor, written)
        unwritten.expire(floor, floor, state)
        assert unwritten.prune({"payeeId": PruneBounds(floor)}, state) == 0
        assert (unwritten.accepted, unwritten.first) == (log.accepted, log.first)
    assert unwritten.accepted - unwritten.first == 33
    assert list(state.items()) == []
    with pytest.raises(LookupError):
        list(unwritten.read(state))
