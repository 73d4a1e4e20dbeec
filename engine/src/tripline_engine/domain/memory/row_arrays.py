"""Arrays with an item for each row of a history, and the memory of rows that have gone or are still to come.

    row     0        given       base                    end              capacity
    array   .........|xxxxxxxxxxx|1 7 7 3 1 …            |................|

Where the arena's arrays are sparse there is memory only from ``given`` to ``end``: it goes back in larger pieces than
rows go (x), and is there from when a row comes.
"""

from __future__ import annotations

from collections.abc import Mapping

from tripline_engine.domain.memory.arena import Arena, Array, from_a_page, whole_pages

RowArrays = dict[str, Array]
"""Such arrays by the names that they have in their arena."""


def release_rows(arena: Arena, arrays: Mapping[str, Array], first: int, until: int) -> bool:
    """Whether the system could have the memory of these rows, which have gone."""
    done = [arena.punch_hole(name, first, until) for name in arrays]
    return all(done)


def release_rows_behind(arena: Arena, arrays: Mapping[str, Array], end: int, until: int) -> None:
    """The system may have what was left behind the newest row by rows that have moved down, up to that row."""
    for name, array in arrays.items():
        arena.punch_hole(name, min(from_a_page(end, array.itemsize), len(array)), min(until, len(array)))


def unbacked_bytes(arrays: Mapping[str, Array], given: int, end: int) -> int:
    """Bytes of sparse arrays for which there is no memory."""
    held = (_held(array.itemsize, given, min(end, len(array))) for array in arrays.values())
    return sum(array.nbytes for array in arrays.values()) - sum(held)


def _held(size: int, given: int, end: int) -> int:
    return max(end * size - whole_pages(given * size), 0)
