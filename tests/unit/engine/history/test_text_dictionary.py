"""Text dictionaries: a text lives as long as its slot is in use, however slots and bytes are used again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tripline_contracts.filters.filter_leaves import TEXT_OPERATORS
from tripline_engine.domain.history.text_dictionary import TextDictionary
from tripline_engine.domain.memory.arena import HeapArena
from tripline_engine.domain.memory.mapped_arena import MappedArena
from tripline_engine.domain.transactions.columns import Texts
from tripline_engine.domain.transactions.hash_key import HashKey

KEY = HashKey(11, 22)
VALUES = st.none() | st.text(min_size=1, max_size=40)


def texts_of(values: list[str | None]) -> Texts:
    encoded = [(value or "").encode() for value in values]
    offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    data = np.frombuffer(b"".join(encoded) or b"\0", np.uint8)
    return Texts(offsets, data, np.array([value is not None for value in values], np.bool_))


def intern(table: TextDictionary, values: list[str | None]) -> list[int]:
    texts = texts_of(values)
    return [int(slot) for slot in table.intern_texts(texts, *KEY.of(texts))]


@settings(deadline=None)
@given(st.lists(st.lists(VALUES, min_size=1, max_size=30), max_size=30), st.integers(1, 4))
def test_every_slot_in_use_has_its_text(rounds: list[list[str | None]], kept: int) -> None:
    table, held = TextDictionary(HeapArena(), "field"), []
    for values in rounds:
        held.append((values, intern(table, values)))
        if len(held) > kept:
            table.release(np.array(held.pop(0)[1], np.int32))
        for texts, slots in held:
            assert [table.text(slot) for slot in slots] == texts


def test_the_heap_is_compacted() -> None:
    arena = HeapArena()
    table = TextDictionary(arena, "field")
    for number in range(3000):
        slots = intern(table, [f"{number:060}"])
        table.release(np.array(slots, np.int32))
    assert arena.bytes() < 40_000


@pytest.mark.parametrize("capacity", [10, 2000])
def test_another_process_reads_the_same(tmp_path: Path, capacity: int) -> None:
    values: list[str | None] = [f"value {i}" for i in range(capacity)]
    slots = intern(TextDictionary(MappedArena(tmp_path), "field"), values)
    again = TextDictionary(MappedArena(tmp_path), "field")
    assert [again.text(slot) for slot in slots] == values


# few letters, so that parts are often there; some are of several bytes, which begin alike
LETTERS = st.text("ab\u00e9\u00ea\u20ac\U0001f600\U0001f601", min_size=1, max_size=6)


@settings(deadline=None)
@given(st.lists(st.none() | LETTERS, min_size=1, max_size=20), LETTERS)
def test_parts_of_texts(values: list[str | None], part: str) -> None:
    table = TextDictionary(HeapArena(), "field")
    slots = np.array(intern(table, values), np.int32)
    expected = {
        "startsWith": [value is not None and value.startswith(part) for value in values],
        "endsWith": [value is not None and value.endswith(part) for value in values],
        "contains": [value is not None and part in value for value in values],
    }
    for operator in TEXT_OPERATORS:
        assert table.matching(slots, operator, part.encode()).tolist() == expected[operator], operator
