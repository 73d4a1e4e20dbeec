"""Runs in the state log: merged in bounded pieces, read back whole and in order, gone when nothing needs them."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.unit.engine.support.shard_harness import TRANSACTION, DictLog
from tripline_engine.domain.firing.firing_states import NEVER_RESET, FiringRecords
from tripline_engine.domain.history.voided import Voided
from tripline_engine.domain.rules.rule_version import RuleVersionKey
from tripline_engine.domain.state_log import segment_log as segments
from tripline_engine.domain.state_log.firing_log import FiringLog, RetentionFloor, StateRetention
from tripline_engine.domain.state_log.segment_codec import EntryForm
from tripline_engine.domain.state_log.segment_log import PruneBounds, SegmentLog
from tripline_engine.domain.transactions.columns import MIN_TIME, TransactionBatch, segment_schema

FAR_BACK = -(2**62)


@pytest.fixture(params=[segments._MOVED_ROWS, 200, 40], ids=["no pages", "pages of merged ones", "pages"])
def paging(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """How many rows are written again when segments are merged; of more there are pages."""
    monkeypatch.setattr(segments, "_MOVED_ROWS", request.param)


def rows(start: int, count: int, time: int = 0) -> TransactionBatch:
    schema = segment_schema(TRANSACTION)
    columns: dict[str, Any] = {
        "eventTime": np.arange(count) + time,
        "recordTime": np.arange(count) + time,
        "transactionId": [f"t{start + i}" for i in range(count)],
        "ingestionTimestamp": [None if i % 2 else i for i in range(count)],
        "payeeId": [None if i % 3 else "p" for i in range(count)],
        "beneficiaryId": ["b"] * count,
        "paymentType": ["CSH"] * count,
        "paymentAmount": [Decimal(i) for i in range(count)],
    }
    arrays = [pa.array(columns[field.name], field.type) for field in schema]
    return TransactionBatch.of(pa.table(arrays, schema=schema), TRANSACTION)


def ids(log: SegmentLog, state: DictLog) -> list[tuple[str, bool]]:
    return [
        (name, cleared)
        for part, cleared in log.read(state)
        for name in part.table.column("transactionId").to_pylist()
    ]


@pytest.mark.usefixtures("paging")
def test_merging_keeps_every_row_in_its_place() -> None:
    state, log = DictLog(), SegmentLog("payeeId", TRANSACTION)
    for batch in range(300):
        log.append(rows(3 * batch, 3), state)
        log.merge(state)
    assert len(log.segments) < 60
    pages = sum(segment.paged for segment in log.segments)
    parts = sum(len(log._parts(segment, state)) for segment in log.segments)
    assert len(list(state.items())) == pages + parts
    assert ids(log, state) == [(f"t{i}", False) for i in range(900)]
    log = SegmentLog("payeeId", TRANSACTION, log.to_json())
    log.expire(10_000, 10_000, state)
    assert list(state.items()) == []


def test_a_page_moves_nothing_and_its_parts_are_pruned_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "_MOVED_ROWS", 40)
    log, state = merged(15)
    before = dict(state.items())
    log.append(rows(150, 10), state)
    last = dict(state.items()).keys() - before.keys()
    assert not log.merge(state)
    (page,) = log.segments
    assert page.paged
    assert dict(state.items()).keys() == before.keys() | last | {"page/payeeId/0"}
    assert all(data == before[key] for key, data in state.items() if key in before)
    every = dict.fromkeys(FIELDS, PruneBounds(10_000))
    for done in range(1, 17):
        assert log.segments == [page]
        assert log.prune(every, state) == len(FIELDS)
        log = SegmentLog("payeeId", TRANSACTION, log.to_json())
        changed = [key for key, data in state.items() if key in before and data != before[key]]
        assert changed == [f"segment/payeeId/{number}" for number in range(min(done, 15))]
    assert log.segments == [replace(page, gone=frozenset(FIELDS))]
    assert log.prune(every, state) == 0
    assert content(log, state)["payeeId"] == [None] * 160


def test_all_pages_that_a_backlog_calls_for_are_made_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "_MOVED_ROWS", 40)
    monkeypatch.setattr(segments, "_ENTRY_ROWS", 10)
    state, log = DictLog(), SegmentLog("payeeId", TRANSACTION)
    log.append(rows(0, 16 * 10 * 5), state)
    log.append(rows(800, 3), state)
    assert not log.merge(state)
    assert [(segment.rows, segment.paged) for segment in log.segments] == [(160, True)] * 5 + [(3, False)]
    assert ids(log, state) == [(f"t{i}", False) for i in range(803)]


def test_rows_are_written_for_one_segment_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "_ENTRY_ROWS", 1)
    state, log = DictLog(), SegmentLog("payeeId", TRANSACTION)
    log.append(rows(0, 48), state)
    assert [log.merge(state) for _ in range(4)] == [True, True, True, False]


def test_what_is_large_is_not_merged_with_small_ones_behind_it(monkeypatch: pytest.MonkeyPatch) -> None:
    log, state = merged(16)
    monkeypatch.setattr(segments, "_MAX_ROWS", 159 * segments._FAN_IN)
    for batch in range(16):
        for _ in range(16):
            log.append(rows(160 + batch, 1), state)
            log.merge(state)
    assert log.merge(state)
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
def test_a_large_micro_batch_is_written_in_entries(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "_ENTRY_ROWS", size)
    state, log = DictLog(), SegmentLog("payeeId", TRANSACTION)
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


def marked(start: int, backfilled: list[bool]) -> TransactionBatch:
    """Rows of which some are part of a backfill, as packing has them."""
    names = pa.array(["b-1" if each else None for each in backfilled], pa.string())
    return TransactionBatch.of(
        rows(start, len(backfilled)).table.append_column("backfill", names), TRANSACTION
    )


def marks(log: SegmentLog, state: DictLog) -> list[bool]:
    return [not each for part, _ in log.read(state) for each in part.ordinary]


def columns(state: DictLog) -> list[set[str]]:
    """Of each run in the log, the columns that it has."""
    form, found = EntryForm(TRANSACTION), []
    for data in (data for key, data in state.items() if key.startswith("segment/")):
        for run in form._runs(data):
            if isinstance(run, pa.Table):
                found.append(set(run.column_names))
            else:
                found.append({name for piece, _ in run.pieces for name in piece.columns})
    return found


@pytest.mark.usefixtures("paging")
def test_what_is_backfilled_stays_so_through_merges_and_costs_others_no_column() -> None:
    state, log = DictLog(), SegmentLog("payeeId", TRANSACTION)
    expected: list[bool] = []
    for batch in range(300):
        backfilled = [batch in (5, 170), False, False]
        log.append(marked(3 * batch, backfilled), state)
        expected += backfilled
        log.merge(state)
    assert len(log.segments) < 60
    assert marks(log, state) == expected
    assert sum("backfill" in each for each in columns(state)) == 2


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
    assert log.merge(state)
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


FIELDS = {"ingestionTimestamp", "payeeId", "beneficiaryId", "paymentType", "paymentAmount"}
NO_SHARD = PruneBounds(FAR_BACK)


def merged(batches: int) -> tuple[SegmentLog, DictLog]:
    """A log of so many micro-batches with 10 rows each, 100 ms apart."""
    state, log = DictLog(), SegmentLog("payeeId", TRANSACTION)
    for batch in range(batches):
        log.append(rows(10 * batch, 10, time=100 * batch), state)
        log.merge(state)
    return log, state


def content(log: SegmentLog, state: DictLog) -> dict[str, list[Any]]:
    parts = [part.table for part, _ in log.read(state)]
    found: dict[str, list[Any]] = (
        pa.concat_tables(parts).select(segment_schema(TRANSACTION).names).to_pydict()
    )
    return found


def prune_all(log: SegmentLog, state: DictLog, **reaches: PruneBounds) -> int:
    every = {field: reaches.get(field, NO_SHARD) for field in FIELDS}
    total = 0
    while found := log.prune(every, state):
        total += found
    return total


@pytest.mark.usefixtures("paging")
@pytest.mark.parametrize("batches", [5, 17, 300])
def test_a_field_goes_from_what_is_below_its_reach(batches: int) -> None:
    log, state = merged(batches)
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
    assert all(each == {"eventTime", "recordTime", "transactionId"} for each in columns(state))
    assert prune_all(log, state, **everything) == 0
    again = SegmentLog("payeeId", TRANSACTION, log.to_json())
    assert again.segments == log.segments
    assert content(again, state)["transactionId"] == before["transactionId"]


def test_no_more_than_one_segment_at_a_time_and_the_oldest_first() -> None:
    log, state = merged(20)
    every = dict.fromkeys(FIELDS, PruneBounds(10_000))
    assert len(log.segments) == 5
    for done in range(1, 6):
        assert log.prune(every, state) == len(FIELDS)
        assert [bool(segment.gone) for segment in log.segments] == [True] * done + [False] * (5 - done)
    assert log.prune(every, state) == 0


@pytest.mark.usefixtures("paging")
def test_what_was_pruned_in_parts_is_merged() -> None:
    log, state = merged(10)
    assert prune_all(log, state, payeeId=PruneBounds(500), paymentAmount=PruneBounds(10_000)) > 0
    for batch in range(10, 300):
        log.append(rows(10 * batch, 10, time=100 * batch), state)
        log.merge(state)
        if batch == 200:
            prune_all(log, state, paymentType=PruneBounds(10_000))
    found = content(log, state)
    whole = content(*merged(300))
    assert found["transactionId"] == whole["transactionId"]
    assert found["beneficiaryId"] == whole["beneficiaryId"]
    assert found["payeeId"][:50] == [None] * 50
    assert found["payeeId"][50:] == whole["payeeId"][50:]
    assert found["paymentAmount"][:100] == [0] * 100
    assert found["paymentAmount"][100:] == whole["paymentAmount"][100:]
    pruned = found["paymentType"].count(None)
    assert 0 < pruned < 1_500
    assert found["paymentType"] == [None] * pruned + ["CSH"] * (3_000 - pruned)


def test_buckets_and_remembered_ids_hold_a_field_back() -> None:
    log, state = merged(16)
    assert prune_all(log, state, payeeId=PruneBounds(10_000, sequence=159)) == 0
    assert prune_all(log, state, payeeId=PruneBounds(10_000, record=1_509)) == 0
    assert prune_all(log, state, payeeId=PruneBounds(10_000, sequence=160, record=1_510)) == 1


def test_what_has_been_cleared_needs_no_field() -> None:
    log, state = merged(16)
    log.clear()
    log.append(rows(160, 10, time=0), state)
    assert prune_all(log, state, payeeId=PruneBounds(FAR_BACK, record=0)) == len(FIELDS) - 1
    assert [segment.gone for segment in log.segments] == [FIELDS - {"payeeId"}, frozenset()]


def whole_entries(log: SegmentLog, state: DictLog) -> None:
    """Write merged segments as Arrow streams with all columns, as they were before fields were pruned."""
    for segment in log.segments:
        if segment.level:
            table = log._form.read(log._data(segment, state))
            sink = pa.BufferOutputStream()
            options = pa.ipc.IpcWriteOptions(compression="zstd")
            for start in range(0, len(table), 70):
                part = table.slice(start, 70)
                with pa.ipc.new_stream(sink, part.schema, options=options) as writer:
                    writer.write_table(part)
            state.put(log._key(segment), sink.getvalue().to_pybytes())


def test_a_log_from_before_is_read_merged_and_pruned(monkeypatch: pytest.MonkeyPatch) -> None:
    log, state = merged(200)
    expected = content(log, state)
    whole_entries(log, state)
    log = SegmentLog("payeeId", TRANSACTION, log.to_json())
    assert content(log, state) == expected
    monkeypatch.setattr(segments, "_MOVED_ROWS", 2_000)
    for batch in range(200, 300):
        log.append(rows(10 * batch, 10, time=100 * batch), state)
        log.merge(state)
    # joined bytes: runs of both forms stand in one entry
    expected = content(*merged(300))
    assert content(log, state) == expected
    assert prune_all(log, state, beneficiaryId=PruneBounds(10**9), payeeId=PruneBounds(10**9)) > 0
    found = content(log, state)
    assert found["beneficiaryId"] == found["payeeId"] == [None] * 3_000
    assert found["paymentAmount"] == expected["paymentAmount"]


def test_a_missing_segment_of_which_fields_are_gone_is_said_so() -> None:
    log, state = merged(16)
    assert log.prune(dict.fromkeys(FIELDS, PruneBounds(10_000)), state) == len(FIELDS)
    state.remove("segment/payeeId/0")
    with pytest.raises(LookupError, match="segment/payeeId/0 is missing from the state log"):
        ids(log, state)


def records(
    group: int, time: int, held: bool, reset: int = NEVER_RESET, alerted: int = MIN_TIME
) -> FiringRecords:
    one = np.array([group], np.uint64)
    columns = (np.array([value]) for value in (time, held, reset, alerted))
    return FiringRecords(one, one, *columns)


def states(log: FiringLog, state: DictLog) -> dict[tuple[int, int], list[tuple[int, int, bool, int]]]:
    return {
        key: sorted(
            zip(
                found.low.tolist(),
                found.time.tolist(),
                found.held.tolist(),
                found.reset.tolist(),
                strict=True,
            )
        )
        for key, found in log.read(state).items()
    }


def test_the_last_word_on_a_group_counts_through_merges() -> None:
    state, log = DictLog(), FiringLog("payeeId", [], 0)

    def held() -> dict[RuleVersionKey, StateRetention]:
        return {(1, 1): StateRetention(0, FAR_BACK), (2, 1): StateRetention(0, FAR_BACK)}

    for batch in range(100):
        log.append(
            {(1, 1): records(batch % 3, batch, batch % 2 == 0), (2, 1): records(7, batch, True)}, state
        )
        log.merge(state, held, RetentionFloor(0, FAR_BACK))
    assert len(log.runs) < 40
    assert len(list(state.items())) == len(log.runs)
    assert states(log, state) == {
        (1, 1): [(0, 99, False, -1), (1, 97, False, -1), (2, 98, True, -1)],
        (2, 1): [(7, 99, True, -1)],
    }
    assert states(FiringLog.of_json("payeeId", log.to_json()), state) == states(log, state)


def test_merges_leave_out_what_counts_no_more() -> None:
    state, log = DictLog(), FiringLog("payeeId", [], 0)
    for batch in range(16):
        changed = {
            (1, 1): records(batch, 10 * batch, True),
            (2, 1): records(batch, 1000, True),
            (3, 1): records(batch, FAR_BACK, False, reset=batch),
            (4, 1): records(batch, FAR_BACK, False, alerted=10 * batch),
        }
        log.append(changed, state)
    # with a cooldown of 50 ms what alerted at 100 is silent to 150, where late ones may still come
    versions = {
        (1, 1): StateRetention(0, 100),
        (3, 1): StateRetention(0, 100),
        (4, 1): StateRetention(50, 100),
    }
    log.merge(state, lambda: versions, RetentionFloor(12, 149))
    assert states(log, state) == {
        (1, 1): [(group, 10 * group, True, -1) for group in range(10, 16)],
        (3, 1): [(group, FAR_BACK, False, group) for group in range(12, 16)],
        (4, 1): [(group, FAR_BACK, False, NEVER_RESET) for group in range(10, 16)],
    }
    assert log.read(state)[4, 1].alerted.tolist() == [10 * group for group in range(10, 16)]


def test_states_from_before_there_were_cooldowns_are_read() -> None:
    state, log = DictLog(), FiringLog("payeeId", [], 0)
    log.append({(1, 1): records(7, 5, True)}, state)
    ((key, data),) = state.items()
    table = pa.ipc.open_stream(data).read_all().drop_columns(["alerted"])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    state.put(key, sink.getvalue().to_pybytes())
    found = log.read(state)[1, 1]
    assert (found.low.tolist(), found.time.tolist(), found.alerted.tolist()) == ([7], [5], [MIN_TIME])


def test_the_states_of_a_rule_or_of_one_group_are_forgotten() -> None:
    state, log = DictLog(), FiringLog("payeeId", [], 0)
    log.append({(1, 1): records(1, 1, True), (1, 2): records(2, 2, True)}, state)
    log.append({(2, 1): records(1, 3, True)}, state)
    log.append({(2, 1): records(2, 4, True), (3, 1): records(1, 5, True)}, state)
    log.forget_rule(1, state)
    assert states(log, state) == {(2, 1): [(1, 3, True, -1), (2, 4, True, -1)], (3, 1): [(1, 5, True, -1)]}
    log.forget_group((2, 1), (2, 2), state)
    assert states(log, state) == {(2, 1): [(1, 3, True, -1)], (3, 1): [(1, 5, True, -1)]}
    log.forget_group((2, 1), (1, 7), state)
    log.forget_rule(2, state)
    assert states(log, state) == {(3, 1): [(1, 5, True, -1)]}
    assert len(list(state.items())) == len(log.runs) == 1


def test_a_clear_leaves_nothing() -> None:
    state, log = DictLog(), FiringLog("payeeId", [], 0)
    log.append({(1, 1): records(1, 1, True)}, state)
    log.clear(state)
    assert states(log, state) == {}
    assert list(state.items()) == []
