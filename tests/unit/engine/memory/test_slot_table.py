"""Slot tables against a dictionary that does the same."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tripline_engine.domain.memory import slot_table
from tripline_engine.domain.memory.arena import HeapArena
from tripline_engine.domain.memory.slot_table import SlotTable

# Few keys, whose low words share their last bits: probe runs, gaps in them and slots given back are the rule.
KEYS = st.tuples(st.sampled_from([0, 512, 1024, 1, 513, 2**64 - 1]), st.sampled_from([0, 1]))
STEPS = st.lists(st.tuples(st.booleans(), st.lists(KEYS, min_size=1, max_size=8)), max_size=40)


class Reference:
    """Counts by key; a slot is whatever the table said first, until its count is nought."""

    def __init__(self) -> None:
        self.counts: dict[tuple[int, int], int] = {}
        self.slots: dict[tuple[int, int], int] = {}


def words(keys: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([low for low, _ in keys], np.uint64), np.array([high for _, high in keys], np.uint64)


@given(STEPS)
def test_slots_are_one_to_one_and_given_back(steps: list[tuple[bool, list[tuple[int, int]]]]) -> None:
    follow(SlotTable(HeapArena(), "t"), steps)


@given(STEPS, st.integers(1, 3), st.booleans())
def test_and_while_they_move_one_by_one(
    steps: list[tuple[bool, list[tuple[int, int]]]], least: int, reattached: bool
) -> None:
    with (
        patch.object(slot_table, "_FIRST_CAPACITY", 2),
        patch.object(slot_table, "_AT_ONCE", 0),
        patch.object(slot_table, "_MOVED_EACH", 0),
        patch.object(slot_table, "_MOVED_LEAST", least),
    ):
        arena = HeapArena()
        follow(SlotTable(arena, "t"), steps, arena if reattached else None)


def follow(
    table: SlotTable, steps: list[tuple[bool, list[tuple[int, int]]]], arena: HeapArena | None = None
) -> None:
    """With an arena, the table is opened anew for each step."""
    reference = Reference()
    for add, keys in steps:
        table = SlotTable(arena, "t") if arena else table
        if add:
            slots = table.intern(*words(keys), np.ones(len(keys), np.bool_)).tolist()
            for key, slot in zip(keys, slots, strict=True):
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
        found = table.find(*words(everything)).tolist()
        assert found == [reference.slots.get(key, -1) for key in everything]


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


def test_a_large_table_moves_bit_by_bit() -> None:
    arena, rng = HeapArena(), np.random.default_rng(1)
    table, n = SlotTable(arena, "t"), 1 << 15
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
        moving.append(len([name for name in arena._arrays if name.startswith("t.table")]) == 2)
    assert moving[0]
    assert sum(moving) > 10
    kept = np.concatenate((np.arange(2048, n), np.arange(1, 2048, 2), np.arange(n, len(low))))
    found = table.find(low[kept], high[kept])
    assert len(np.unique(found)) == len(kept) == table.used
    assert (found >= 0).all()
