"""Mapped arrays come and go, whatever their size."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from tripline_engine.domain import arena as arenas
from tripline_engine.domain.arena import MappedArena


@pytest.mark.parametrize("size", [10, 2 * arenas._LARGE // 8], ids=["small", "large"])
def test_a_removed_array_leaves_nothing_and_its_name_is_free_at_once(tmp_path: Path, size: int) -> None:
    arena = MappedArena(tmp_path)
    arena.open("numbers", np.int64, size)[:] = 7
    other = MappedArena(tmp_path)
    seen = other.open("numbers", np.int64, size)
    arena.remove("numbers")
    again = arena.open("numbers", np.int64, 5)
    assert again.tolist() == [0] * 5
    assert other.stale
    assert seen[size - 1] == 7
    wait_for_threads()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["header", "numbers"]


def test_what_an_ended_process_was_about_to_free_goes_with_the_next(tmp_path: Path) -> None:
    MappedArena(tmp_path)
    (tmp_path / "12-0.going").write_bytes(b"left")
    MappedArena(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["header"]


def wait_for_threads() -> None:
    for thread in threading.enumerate():
        if thread.name == "let-go":
            thread.join(10)
