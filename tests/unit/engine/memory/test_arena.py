"""Arenas: mapped arrays are created, grown, shared between processes and removed; both kinds are written alike."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from tripline_engine.domain.memory.arena import Arena, Array, HeapArena
from tripline_engine.domain.memory.mapped_arena import MappedArena, MappedArenaTuning


@pytest.mark.parametrize("size", [10, 2 * MappedArenaTuning().unmap_beside // 8], ids=["small", "large"])
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


def test_files_that_an_ended_process_left_are_removed_by_the_next(tmp_path: Path) -> None:
    MappedArena(tmp_path)
    (tmp_path / "12-0.going").write_bytes(b"left")
    MappedArena(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["header"]


def test_arrays_stay_mapped_while_their_files_are_the_same(tmp_path: Path) -> None:
    """The pages of a new mapping fault one by one: a new rule must not cost that."""
    mine, other = MappedArena(tmp_path), MappedArena(tmp_path)
    names = ("same", "grown", "made anew", "removed")
    before = {name: mine.open(name, np.int64, 4) for name in names}
    for name in names:
        other.open(name, np.int64, 4)[:] = 7
    other.resize("grown", 100_000, -1)[-1] = 8
    other.remove("made anew")
    other.open("made anew", np.int64, 4)[:] = 9
    other.remove("removed")
    assert mine.stale
    again = MappedArena(tmp_path, mine)
    now = {name: again.open(name, np.int64, 4) for name in names}
    again.release_previous()
    assert not again.stale
    assert [name for name in names if address(now[name]) == address(before[name])] == ["same", "grown"]
    assert now["same"].tolist() == [7] * 4
    assert now["grown"].tolist() == [7] * 4 + [-1] * 99_995 + [8]
    assert now["made anew"].tolist() == [9] * 4
    assert now["removed"].tolist() == [0] * 4
    now["same"][0] = 1
    assert other.open("same", np.int64, 4)[0] == 1


def test_an_array_with_a_previous_mapping_can_grow_and_be_removed(tmp_path: Path) -> None:
    mine, other = MappedArena(tmp_path), MappedArena(tmp_path)
    mine.open("numbers", np.int64, 4)[:] = 3
    other.open("more", np.int64, 4)
    again = MappedArena(tmp_path, mine)
    again.open("numbers", np.int64, 4)
    again.release_previous()
    assert again.resize("numbers", 6).tolist() == [3] * 4 + [0, 0]
    again.remove("numbers")
    assert again.open("numbers", np.int64, 2).tolist() == [0, 0]


@pytest.mark.parametrize("space", [1 << 30, 1 << 12], ids=["where it is", "mapped anew"])
def test_an_array_grows_and_keeps_its_items(tmp_path: Path, space: int) -> None:
    arena = MappedArena(tmp_path, tuning=MappedArenaTuning(space=space))
    numbers = arena.open("numbers", np.int64, 600)
    numbers[:] = np.arange(600)
    grown = arena.resize("numbers", 90_000, -1)
    assert grown.tolist() == [*range(600), *[-1] * 89_400]
    assert (address(grown) == address(numbers)) == (space == 1 << 30)
    assert (tmp_path / "numbers").stat().st_size == 90_000 * 8
    less = arena.resize("numbers", 5)
    more = arena.resize("numbers", 7)
    assert (less.tolist(), more.tolist()) == ([0, 1, 2, 3, 4], [0, 1, 2, 3, 4, 0, 0])
    assert MappedArena(tmp_path).open("numbers", np.int64, 1).tolist() == more.tolist()


def address(array: Array) -> int:
    """The array's address in memory."""
    return int(array.__array_interface__["data"][0])


def wait_for_threads() -> None:
    for thread in threading.enumerate():
        if thread.name == "unmap":
            thread.join(10)


@pytest.fixture(params=["heap", "mapped"])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Arena:
    return HeapArena() if request.param == "heap" else MappedArena(tmp_path)


@pytest.mark.parametrize("fill", [0, -1])
def test_an_array_of_any_size_keeps_its_items_and_has_new_ones_beyond(either: Arena, fill: int) -> None:
    array, items = either.open("numbers", np.int64, 3, fill), [fill] * 3
    for size in (3, 4, 20, 21, 200, 7, 8, 1_000, 1, 9_000):
        array[:] = items = [len(items) + number for number in range(len(items))]
        array = either.resize("numbers", size, fill)
        items = items[:size] + [fill] * (size - len(items))
        assert array.tolist() == items
    assert either.bytes() == 8 * 9_000


@pytest.mark.parametrize("count", [0, 1, 1_000, 40_000])
@pytest.mark.parametrize("first", [0, 1, 1_023, 5_000])
def test_put_writes_these_items_and_no_others(either: Arena, first: int, count: int) -> None:
    array = either.open("numbers", np.int32, 50_000, -1)
    expected = array.copy()
    values = np.arange(2 * count, dtype=np.int64)[::2]
    either.put("numbers", first, values)
    expected[first : first + count] = values
    assert np.array_equal(array, expected)


@pytest.mark.parametrize("count", [0, 1, 1_000, 40_000])
@pytest.mark.parametrize("first", [0, 1, 1_023, 5_000])
def test_prepare_changes_no_other_items(either: Arena, first: int, count: int) -> None:
    array = either.open("numbers", np.int32, 50_000, -1)
    either.prepare("numbers", first, first + count)
    assert (array[:first] == -1).all()
    assert (array[first + count :] == -1).all()
    array[first : first + count] = 7
    assert int((array == 7).sum()) == count


def test_put_writes_beyond_the_array_s_first_capacity(tmp_path: Path) -> None:
    arena, values = MappedArena(tmp_path), np.arange(40_000)
    arena.open("numbers", np.int64, 10)[:] = 3
    grown = arena.resize("numbers", 100_000)
    arena.put("numbers", 60_000, values)
    assert grown[:10].tolist() == [3] * 10
    assert np.array_equal(grown[60_000:], values)
    assert np.array_equal(MappedArena(tmp_path).open("numbers", np.int64, 1)[60_000:], values)


@pytest.mark.parametrize("count", [2, 40_000])
def test_put_beyond_the_end_is_refused(either: Arena, count: int) -> None:
    array = either.open("numbers", np.int32, count)
    with pytest.raises((IndexError, ValueError)):
        either.put("numbers", 1, np.ones(count, np.int32))
    assert (array == 0).all()
