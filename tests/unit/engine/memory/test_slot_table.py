"""Slot tables against a dictionary that does the same."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tripline_engine.domain.memory.arena import HeapArena
from tripline_engine.domain.memory.slot_table import SlotTable, SlotTableTuning

# Few keys, whose low words share their last bits: probe runs, gaps in them and free slots are the rule.
KEYS = st.tuples(st.sampled_from([0, 512, 1024, 1, 513, 2**64 - 1]), st.sampled_from([0, 1]))
STEPS = st.lists(st.tuples(st.booleans(), st.lists(KEYS, min_size=1, max_size=8)), max_size=40)


class Reference:
    """Counts by key; a slot is whatever the table said first, until its count is 0."""

    def __init__(self) -> None:
        self.counts: dict[tuple[int, int], int] = {}
        self.slots: dict[tuple[int, int], int] = {}


def words(keys: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([low for low, _ in keys], np.uint64), np.array([high for _, high in keys], np.uint64)


@given(STEPS)
def test_slots_are_one_to_one_and_used_again(steps: list[tuple[bool, list[tuple[int, int]]]]) -> None:
    follow(SlotTable(HeapArena(), "t"), steps)


@given(STEPS, st.integers(1, 3), st.booleans())
def test_slots_are_the_same_while_a_table_is_rehashed(
    steps: list[tuple[bool, list[tuple[int, int]]]], moved: int, reattached: bool
) -> None:
    tuning = SlotTableTuning(first_capacity=2, at_once=0, moved_per_key=0, moved_per_call=moved)
    arena = HeapArena()
    follow(
        SlotTable(arena, "t", tuning), steps, (lambda: SlotTable(arena, "t", tuning)) if reattached else None
    )


def follow(
    table: SlotTable,
    steps: list[tuple[bool, list[tuple[int, int]]]],
    reattach: Callable[[], SlotTable] | None = None,
) -> None:
    """Hold the table against the reference at each step; ``reattach`` opens it again before."""
    reference = Reference()
    for add, keys in steps:
        table = reattach() if reattach else table
        if add:
            interned = table.intern(*words(keys), np.ones(len(keys), np.bool_)).tolist()
            for key, slot in zip(keys, interned, strict=True):
                assert reference.slots.setdefault(key, slot) == slot
                reference.counts[key] = reference.counts.get(key, 0) + 1
        else:
            held = [key for key in keys if reference.counts.get(key)]
            for key in held:
                if not reference.counts.get(key):
                    continue
                table.release(np.array([reference.slots[key]], np.int32))
                reference.counts[key] -= 1
                if not reference.counts[key]:
                    del reference.counts[key], reference.slots[key]
        assert table.used == len(reference.slots)
        assert len(set(reference.slots.values())) == len(reference.slots)
        everything = [(low, high) for low in (0, 512, 1024, 1, 513, 2**64 - 1) for high in (0, 1)]
        slots = table.find(*words(everything)).tolist()
        assert slots == [reference.slots.get(key, -1) for key in everything]


def test_absent_keys_have_no_slot_and_tables_grow() -> None:
    table = SlotTable(HeapArena(), "t")
    low = np.arange(20_000, dtype=np.uint64)
    high = np.zeros(20_000, np.uint64)
    present = np.arange(20_000) % 3 > 0
    slots = table.intern(low, high, present)
    assert (slots[~present] == -1).all()
    assert len(np.unique(slots[present])) == present.sum() == table.used
    assert (table.find(low, high) == slots).all()
    table.release(slots)
    assert table.used == 0
    # Freed slots are used again before new ones are made.
    again = table.intern(low[present], high[present], present[present])
    assert table.end == present.sum()
    assert len(np.unique(again)) == len(again)


def test_many_rows_of_few_keys_take_little_room() -> None:
    table = SlotTable(HeapArena(), "t")
    keys = np.arange(100_000, dtype=np.uint64) % np.uint64(5)
    table.intern(keys, keys, np.ones(len(keys), np.bool_))
    assert table.used == 5
    assert table.capacity <= 8192


def test_a_large_table_is_rehashed_in_pieces() -> None:
    rng, n = np.random.default_rng(1), 1 << 15
    table = SlotTable(HeapArena(), "t")
    low, high = rng.integers(0, 2**64, (2, n + 2048), np.uint64)
    slots, begun = table.intern(low[:n], high[:n], np.ones(n, np.bool_)), n
    moving = []
    while begun < len(low):
        some = slice(begun, begun + 64)
        assert (table.find(low[some], high[some]) == -1).all()
        more = table.intern(low[some], high[some], np.ones(64, np.bool_))
        assert (table.find(low[:n], high[:n])[1::2] == slots[1::2]).all()
        # every other one of before goes, wherever it is, and its slot is used again
        if begun - n < 1024:
            table.release(slots[2 * (begun - n) : 2 * (begun - n) + 128 : 2])
        assert (table.find(low[some], high[some]) == more).all()
        begun += 64
        moving.append(table.rehashing)
    assert moving[0]
    assert sum(moving) > 10
    kept = np.concatenate((np.arange(2048, n), np.arange(1, 2048, 2), np.arange(n, len(low))))
    kept_slots = table.find(low[kept], high[kept])
    assert len(np.unique(kept_slots)) == len(kept) == table.used
    assert (kept_slots >= 0).all()
