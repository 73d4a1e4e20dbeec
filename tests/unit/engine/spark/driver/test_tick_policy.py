"""What the next tick carries (semantics §5, the record clock)."""

from __future__ import annotations

import pytest

from tripline_engine.spark.driver.tick_policy import OrderedRange, PartitionState, TickState, next_tick

IDLE = 30_000
WALL = 1_000_000


def busy(time: int | None) -> PartitionState:
    return PartitionState(time, None)


def resting(time: int | None, ms: int) -> PartitionState:
    return PartitionState(time, ms)


CASES = [
    ("the slower partition counts", [busy(700), busy(900)], WALL, 700),
    ("never above the wall clock", [busy(WALL + 5), busy(WALL + 9)], WALL, WALL),
    ("a short rest still counts", [busy(900), resting(700, IDLE - 1)], WALL, 700),
    ("a long rest is left out", [busy(900), resting(700, IDLE)], WALL, 900),
    (
        "all at rest: wall clock less the idle time",
        [resting(700, IDLE), resting(None, IDLE)],
        WALL,
        WALL - IDLE,
    ),
    ("then in steps of a third of it", [resting(700, IDLE)], WALL + 9_999, WALL - IDLE),
    ("and on", [resting(700, IDLE)], WALL + 10_000, WALL - IDLE + 10_000),
    ("a partition never read holds the clock", [busy(900), busy(None)], WALL, None),
    ("an empty partition holds it for the idle time only", [busy(900), resting(None, IDLE - 1)], WALL, None),
    ("an empty partition is then left out", [busy(900), resting(None, IDLE)], WALL, 900),
    ("old data: no wall clock, no cap", [busy(WALL + 5)], None, WALL + 5),
    ("old data at rest stands still", [resting(700, IDLE), resting(800, IDLE)], None, None),
    ("old data: one at rest is left out", [busy(900), resting(700, IDLE)], None, 900),
    ("no partitions, all of them are at rest", [], WALL, WALL - IDLE),
]


@pytest.mark.parametrize(
    ("partitions", "wall", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_next_tick(partitions: list[PartitionState], wall: int | None, expected: int | None) -> None:
    assert next_tick(partitions, IDLE, wall) == expected


@pytest.mark.parametrize(("idle", "expected"), [(0, WALL + 7), (2, WALL + 5), (60_000, 940_000)])
def test_steps_of_rest_go_by_the_idle_time(idle: int, expected: int) -> None:
    assert next_tick([resting(700, idle)], idle, WALL + 7) == expected


def test_only_committed_micro_batches_count() -> None:
    state = TickState()
    state.take([OrderedRange(0, 10, 500), OrderedRange(0, 20, 900)], {0: 10})
    assert state.max_record_times == {0: 500}
    state.take([], {0: 19})
    assert state.max_record_times == {0: 500}
    state.take([], {0: 20})
    assert state.max_record_times == {0: 900}
    assert state.uncommitted == []


def test_the_highest_record_time_stays_whatever_comes_later() -> None:
    state = TickState()
    state.take([OrderedRange(0, 10, 900), OrderedRange(0, 20, 500)], {0: 20})
    assert state.max_record_times == {0: 900}


def test_a_repeated_order_record_changes_nothing() -> None:
    state = TickState()
    state.take([OrderedRange(0, 10, 900)] * 2, {0: 10})
    assert state.max_record_times == {0: 900}


def test_rest_starts_anew_after_something_unread() -> None:
    state = TickState()
    assert [p.resting_ms for p in state.observe({0: 7}, {0: 0}, 1000)] == [0]
    assert [p.resting_ms for p in state.observe({0: 7}, {0: 0}, 5000)] == [4000]
    assert [p.resting_ms for p in state.observe({0: 10}, {0: 3}, 6000)] == [None]
    assert [p.resting_ms for p in state.observe({0: 10}, {0: 0}, 9000)] == [0]


def test_rest_starts_anew_after_what_was_taken_between_two_looks() -> None:
    state = TickState()
    assert [p.resting_ms for p in state.observe({0: 7, 1: 7}, {0: 0, 1: 0}, 1000)] == [0, 0]
    assert [p.resting_ms for p in state.observe({0: 9, 1: 7}, {0: 0, 1: 0}, 40_000)] == [0, 39_000]
    assert [p.resting_ms for p in state.observe({0: 9, 1: 7}, {0: 0, 1: 0}, 41_000)] == [1000, 40_000]


def test_a_record_ahead_of_the_wall_clock_does_not_let_it_run_away_later() -> None:
    """As a producer may write that is wrong, or hostile: then an outage, and honest records that wait."""
    state = TickState()
    state.take([OrderedRange(0, 10, 2**62)], {0: 10}, wall_ms=1_000)
    assert state.max_record_times == {0: 1_000}
    after_the_outage = state.observe({0: 500}, {0: 490}, elapsed_ms=0)
    assert next_tick(after_the_outage, 30_000, 600_000) == 1_000
    old_data = TickState()
    old_data.take([OrderedRange(0, 10, 2**62)], {0: 10})
    assert old_data.max_record_times == {0: 2**62}
