"""Large groups get numbers, keep them when they shrink, and free them when their list ends."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tripline_engine.domain.groups.large_groups import NO_GROUP, SMALL_GROUP, SMALL_GROUP_ROWS, LargeGroups
from tripline_engine.domain.memory.arena import HeapArena

MANY = 1_000


def column(*values: int) -> npt.NDArray[np.int32]:
    return np.array(values, np.int32)


def test_a_group_is_large_from_the_micro_batch_on_in_which_it_has_more_than_a_few() -> None:
    groups = LargeGroups(HeapArena(), "by", 4)
    counts, last = (
        column(SMALL_GROUP_ROWS, SMALL_GROUP_ROWS + 1, 1, SMALL_GROUP_ROWS + 3),
        column(7, 9, -1, -1),
    )
    entering = groups.enter(column(1, 0, -1, 3, 1, 2), counts, last, 0)
    assert entering.numbers.tolist() == [0, SMALL_GROUP, NO_GROUP, 1, 0, SMALL_GROUP]
    assert entering.grown.tolist() == [0, 1]
    # the newest row before the micro-batch; the other group has come with it
    assert entering.newest.tolist() == [9, -1]
    again = groups.enter(column(3, 1), counts, last, 0)
    assert (again.numbers.tolist(), again.grown.tolist()) == ([1, 0], [])


def test_a_row_that_has_left_the_history_is_not_the_newest() -> None:
    groups = LargeGroups(HeapArena(), "by", 1)
    entering = groups.enter(column(0), column(SMALL_GROUP_ROWS + 1), column(4), 5)
    assert (entering.grown.tolist(), entering.newest.tolist()) == ([0], [-1])


def test_a_group_that_has_shrunk_keeps_its_number() -> None:
    groups = LargeGroups(HeapArena(), "by", 1)
    groups.enter(column(0), column(SMALL_GROUP_ROWS + 1), column(-1), 0)
    assert groups.enter(column(0), column(1), column(3), 0).numbers.tolist() == [0]


def test_numbers_of_ended_lists_are_used_again() -> None:
    groups, counts = LargeGroups(HeapArena(), "by", 3), column(*[SMALL_GROUP_ROWS + 1] * 3)
    groups.enter(column(0, 1), counts, column(-1, -1, -1), 0)
    slots, last = column(0, 1, 0, -1), column(2, 1, -1)
    # rows 0 and 1 are dropped: that is all of group 1, and group 0 has row 2 still
    groups.release(0, 2, slots, last)
    assert groups.by_slot.tolist() == [0, SMALL_GROUP, SMALL_GROUP]
    assert groups.numbers(slots).tolist() == [0, SMALL_GROUP, 0, NO_GROUP]
    assert groups.enter(column(2), counts, last, 2).numbers.tolist() == [1]
    numbers, newest = groups.numbers_in_use(column(2, -1, 3), 2)
    assert sorted(zip(numbers.tolist(), newest.tolist(), strict=True)) == [(0, 2), (1, 3)]


def test_there_is_room_for_as_many_as_become_large() -> None:
    groups = LargeGroups(HeapArena(), "by", MANY)
    slots, counts, last = (
        np.arange(MANY, dtype=np.int32),
        np.full(MANY, SMALL_GROUP_ROWS + 1, np.int32),
        column(*[-1] * MANY),
    )
    entering = groups.enter(slots, counts, last, 0)
    assert sorted(entering.numbers.tolist()) == list(range(MANY))
    assert sorted(entering.grown.tolist()) == list(range(MANY))
    assert groups.capacity >= MANY
