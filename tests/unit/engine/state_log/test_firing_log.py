"""Firing states in the state log: the last word on a group counts; compaction drops what no longer does."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from tests.unit.engine.support.segments import (
    FAR_BACK,
)
from tests.unit.engine.support.shard_harness import DictLog
from tripline_engine.domain.firing.firing_states import NEVER_RESET, FiringRecords
from tripline_engine.domain.rules.rule_version import RuleVersionKey
from tripline_engine.domain.state_log.firing_log import FiringLog, RetentionFloor, StateRetention
from tripline_engine.domain.transactions.columns import MIN_TIME


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
                entry.low.tolist(),
                entry.time.tolist(),
                entry.held.tolist(),
                entry.reset.tolist(),
                strict=True,
            )
        )
        for key, entry in log.read(state).items()
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
    entry = log.read(state)[1, 1]
    assert (entry.low.tolist(), entry.time.tolist(), entry.alerted.tolist()) == ([7], [5], [MIN_TIME])


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
