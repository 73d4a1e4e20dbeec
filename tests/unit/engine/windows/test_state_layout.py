"""When the windows of a sum change, those that stay keep their states."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tripline_engine.domain.memory.arena import Arena, HeapArena
from tripline_engine.domain.memory.mapped_arena import MappedArena
from tripline_engine.domain.windows.state_layout import relayout

EMPTY = np.array([-1, 0, 0], np.int64)


@pytest.fixture(params=["heap", "mapped"])
def arena(request: pytest.FixtureRequest, tmp_path: Path) -> Arena:
    return HeapArena() if request.param == "heap" else MappedArena(tmp_path / "arena")


@pytest.mark.parametrize(
    ("before", "after", "fresh"),
    [
        ((10, 30), (10, 20, 30), [1]),
        ((10, 20, 30), (20,), []),
        ((10,), (20, 30), [0, 1]),
        ((10, 30), (5, 30, 60), [0, 2]),
    ],
    ids=["one more", "fewer", "all others", "some others"],
)
def test_states_go_with_their_windows(
    arena: Arena, before: tuple[int, ...], after: tuple[int, ...], fresh: list[int]
) -> None:
    slots = 4
    states = arena.open("sums", np.int64, slots * len(before) * 3).reshape(slots, len(before), 3)
    for slot in range(slots):
        for index, window in enumerate(before):
            states[slot, index] = slot, window, 7
    array, new = relayout(arena, "sums", before, after, EMPTY)
    assert new.tolist() == fresh
    laid_out = array.reshape(slots, len(after), 3)
    for slot in range(slots):
        for index, window in enumerate(after):
            expected = EMPTY.tolist() if index in fresh else [slot, window, 7]
            assert laid_out[slot, index].tolist() == expected
