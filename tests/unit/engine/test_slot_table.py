"""Slot tables against a dictionary that does the same."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tripline_engine.domain.arena import HeapArena
from tripline_engine.domain.slot_table import SlotTable

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
    table, reference = SlotTable(HeapArena(), "t"), Reference()
    for add, keys in steps:
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
