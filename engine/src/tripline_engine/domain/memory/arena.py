"""Named arrays that grow: the storage of a shard's history.

Spark serves a shard from any of its Python workers, so the arrays are files that every worker of the machine
can map; a worker that dies takes nothing with it. Tests, and a worker that cannot lock the files, use memory
of their own.
"""

from __future__ import annotations

import mmap
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def whole_pages(size: int) -> int:
    """The bytes of ``size`` that fill whole pages."""
    return size // mmap.PAGESIZE * mmap.PAGESIZE


def page_start(first: int, size: int, page_bytes: int = mmap.PAGESIZE) -> int:
    """The number of the first item from ``first`` on that begins a page; items have ``size`` bytes."""
    return -(-first * size // page_bytes) * page_bytes // size


class Arena(Protocol):
    """Named one-dimensional arrays. A name keeps its dtype for ever.

    :ivar page_bytes: a hole begins and ends at multiples of this
    """

    page_bytes: int

    def open(self, name: str, dtype: npt.DTypeLike, capacity: int, fill: int = 0) -> Array:
        """The array of that name as it is, or a new one of ``capacity`` items set to ``fill``."""

    def resize(self, name: str, capacity: int, fill: int = 0) -> Array:
        """The array with another capacity; items beyond the old one are set to ``fill``."""

    def put(self, name: str, first: int, values: Array) -> None:
        """Set the items from ``first`` on. Raises IndexError or ValueError beyond the array's end."""

    def prepare(self, name: str, first: int, until: int) -> None:
        """Back the items from ``first`` to ``until`` with memory: they hold nothing, and are about to be set."""

    def remove(self, name: str) -> None:
        """Remove the array; its name is free again."""

    @property
    def sparse(self) -> bool:
        """Whether there is memory only for items that have been set and not been released."""

    def punch_hole(self, name: str, first: int, until: int) -> bool:
        """Release the memory of the items from ``first`` to ``until``, as far as that is whole pages.

        Reads there give 0 afterwards, or what was there before. Items before the first one in its page go too.

        :returns: whether the system could do it
        """

    def bytes(self) -> int:
        """Size of all arrays that are open here, released items included."""


ROOM: Final = 8
"""An array that has grown can grow so many times as large where it lies."""


class HeapArena:
    """Arrays in this process's memory.

    One that grows is given room for more, of which the system backs nothing before it is touched: to copy an array each
    time that it doubles would be to touch all of it once more, in pages that are new.
    """

    page_bytes = 1
    sparse = False

    def __init__(self) -> None:
        self._arrays: dict[str, Array] = {}

    def open(self, name: str, dtype: npt.DTypeLike, capacity: int, fill: int = 0) -> Array:
        if name not in self._arrays:
            # zeros are the system's own: they cost nothing before they are touched
            self._arrays[name] = np.full(capacity, fill, dtype) if fill else np.zeros(capacity, dtype)
        return self._arrays[name]

    def resize(self, name: str, capacity: int, fill: int = 0) -> Array:
        old = self._arrays[name]
        # what has grown is the beginning of its room
        room = old if old.base is None else old.base
        if capacity > len(room):
            room = _zeros(ROOM * capacity, capacity, old.dtype)
            room[: len(old)] = old
        elif capacity < len(old):
            # what is behind the end is not to come back, and its memory is given back
            room = old[:capacity].copy()
        if fill:
            room[len(old) : capacity] = fill
        self._arrays[name] = room[:capacity]
        return self._arrays[name]

    def put(self, name: str, first: int, values: Array) -> None:
        self._arrays[name][first : first + len(values)] = values

    def prepare(self, name: str, first: int, until: int) -> None:
        pass

    def remove(self, name: str) -> None:
        self._arrays.pop(name, None)

    def punch_hole(self, name: str, first: int, until: int) -> bool:  # noqa: ARG002
        return False

    def bytes(self) -> int:
        return sum(array.nbytes for array in self._arrays.values())


def _zeros(wished: int, needed: int, dtype: npt.DTypeLike) -> Array:
    """So many zeros as are wished for, or as are needed where the system promises no more memory than it has."""
    try:
        return np.zeros(wished, dtype)
    except MemoryError:
        return np.zeros(needed, dtype)
