"""Runs in the state log: merged in bounded pieces, read back whole and in order, gone when nothing needs them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.unit.engine.harness import TRANSACTION, DictLog
from tripline_engine.domain.firing import NEVER_RESET, FiringRecords
from tripline_engine.domain.firing_log import Bounds, FiringLog, Held
from tripline_engine.domain.links import NOTHING
from tripline_engine.domain.rows import Rows, segment_schema
from tripline_engine.domain.segment import SegmentLog, Voided

FAR_BACK = -(2**62)


def rows(start: int, count: int, time: int = 0) -> Rows:
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
    return Rows.of(pa.table(arrays, schema=schema), TRANSACTION)


def ids(log: SegmentLog, state: DictLog) -> list[tuple[str, bool]]:
    return [
        (name, cleared)
        for part, cleared in log.read(state)
        for name in part.table.column("transactionId").to_pylist()
    ]


def test_merging_keeps_every_row_in_its_place() -> None:
    state, log = DictLog(), SegmentLog("payeeId", TRANSACTION)
    for batch in range(300):
        log.append(rows(3 * batch, 3), state)
        assert log.merge(state) in (True, False)
    assert len(log.segments) < 60
    assert len(list(state.items())) == len(log.segments)
    assert ids(log, state) == [(f"t{i}", False) for i in range(900)]


def test_a_log_read_from_its_json_goes_on() -> None:
    state, log = DictLog(), SegmentLog("payeeId", TRANSACTION)
    for batch in range(20):
        log.append(rows(batch, 1), state)
    again = SegmentLog("payeeId", TRANSACTION, log.to_json())
    again.append(rows(20, 1), state)
    assert ids(again, state) == [(f"t{i}", False) for i in range(21)]
    assert again.accepted == 21


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


def marked(start: int, backfilled: list[bool]) -> Rows:
    """Rows of which some are part of a backfill, as packing has them."""
    names = pa.array(["b-1" if each else None for each in backfilled], pa.string())
    return Rows.of(rows(start, len(backfilled)).table.append_column("backfill", names), TRANSACTION)


def marks(log: SegmentLog, state: DictLog) -> list[bool]:
    return [not each for part, _ in log.read(state) for each in part.ordinary]


def with_column(state: DictLog) -> list[bool]:
    """Of each Arrow stream in the log, whether it has a column for that."""
    found = []
    for data in dict(state.items()).values():
        source = pa.BufferReader(data)
        while source.tell() < source.size():
            stream = pa.ipc.open_stream(source)
            found.append("backfill" in stream.schema.names)
            stream.read_all()
    return found


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
    assert sorted(with_column(state)) == [False] * (len(with_column(state)) - 2) + [True] * 2


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


def records(
    group: int, time: int, held: bool, reset: int = NEVER_RESET, alerted: int = NOTHING
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
    for batch in range(100):
        log.append(
            {(1, 1): records(batch % 3, batch, batch % 2 == 0), (2, 1): records(7, batch, True)}, state
        )
        log.merge(state, {(1, 1): Held(0, FAR_BACK), (2, 1): Held(0, FAR_BACK)}, Bounds(0, FAR_BACK))
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
    versions = {(1, 1): Held(0, 100), (3, 1): Held(0, 100), (4, 1): Held(50, 100)}
    log.merge(state, versions, Bounds(12, 149))
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
    assert (found.low.tolist(), found.time.tolist(), found.alerted.tolist()) == ([7], [5], [NOTHING])


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
