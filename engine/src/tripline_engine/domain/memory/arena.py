"""Named arrays that grow: where a shard's history lives.

Spark serves a shard from any of its Python workers, so the arrays are files that every worker of the machine
can map; a worker that dies takes nothing with it. Tests, and a worker that cannot have the files, use memory
of their own.
"""

from __future__ import annotations

import mmap
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def whole_pages(size: int) -> int:
    """How many bytes of so many are whole pages."""
    return size // mmap.PAGESIZE * mmap.PAGESIZE


def from_a_page(first: int, size: int) -> int:
    """The first of items of so many bytes, from the one with that number on, that begins a page."""
    return -(-first * size // mmap.PAGESIZE) * mmap.PAGESIZE // size


class Arena(Protocol):
    """Named one-dimensional arrays. A name keeps its dtype for ever."""

    def open(self, name: str, dtype: npt.DTypeLike, capacity: int, fill: int = 0) -> Array:
        """The array of that name as it stands, or a new one of ``capacity`` items set to ``fill``."""

    def resize(self, name: str, capacity: int, fill: int = 0) -> Array:
        """The array with another capacity; items beyond the old one are set to ``fill``."""

    def put(self, name: str, first: int, values: Array) -> None:
        """Set the items from ``first`` on. Raises IndexError or ValueError where there is no room for them."""

    def prepare(self, name: str, first: int, until: int) -> None:
        """The items from ``first`` to ``until`` hold nothing, and are about to be set."""

    def remove(self, name: str) -> None:
        """Forget the array."""

    @property
    def sparse(self) -> bool:
        """Whether there is memory only for items that have been set and not been given back."""

    def punch_hole(self, name: str, first: int, until: int) -> bool:
        """Let the system have the memory of the items from ``first`` to ``until``, as far as that is whole pages.

        What is read there afterwards is 0, or what was there before. Items of the first one's page go with it.

        :returns: whether it could be done
        """

    def bytes(self) -> int:
        """Size of all arrays that are open here, with what has been given back."""


class HeapArena:
    """Arrays in this process's memory."""

    sparse = False

    def __init__(self) -> None:
        self._arrays: dict[str, Array] = {}

    def open(self, name: str, dtype: npt.DTypeLike, capacity: int, fill: int = 0) -> Array:
        if name not in self._arrays:
            self._arrays[name] = np.full(capacity, fill, dtype)
        return self._arrays[name]

    def resize(self, name: str, capacity: int, fill: int = 0) -> Array:
        old = self._arrays[name]
        new = np.full(capacity, fill, old.dtype) if fill else np.zeros(capacity, old.dtype)
        kept = min(len(old), capacity)
        new[:kept] = old[:kept]
        self._arrays[name] = new
        return new

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
