"""Arrays with an item for each row of a history, and the memory of rows that were dropped or are still to come.

    row     0        released    base                    end              capacity
    array   .........|xxxxxxxxxxx|1 7 7 3 1 …            |................|

Where the arena's arrays are sparse there is memory only from ``released`` to ``end``: it is released in larger pieces
than rows are dropped (x), and allocated when a row comes.
"""

from __future__ import annotations

from collections.abc import Mapping

from tripline_engine.domain.memory.arena import Arena, Array, page_start, whole_pages

RowArrays = dict[str, Array]
"""Arrays by row, by their names in the arena."""


def release_rows(arena: Arena, arrays: Mapping[str, Array], first: int, until: int) -> bool:
    """Release the memory of these rows, which were dropped; whether the system could do it."""
    done = [arena.punch_hole(name, first, until) for name in arrays]
    return all(done)


def release_rows_behind(arena: Arena, arrays: Mapping[str, Array], end: int, until: int) -> None:
    """Release what compaction left behind the newest row, from row ``end`` to ``until``."""
    for name, array in arrays.items():
        arena.punch_hole(
            name, min(page_start(end, array.itemsize, arena.page_bytes), len(array)), min(until, len(array))
        )


def unbacked_bytes(arrays: Mapping[str, Array], released: int, end: int) -> int:
    """Bytes of sparse arrays for which there is no memory."""
    backed = (_backed_bytes(array.itemsize, released, min(end, len(array))) for array in arrays.values())
    return sum(array.nbytes for array in arrays.values()) - sum(backed)


def _backed_bytes(size: int, released: int, end: int) -> int:
    return max(end * size - whole_pages(released * size), 0)
