"""Named arrays in memory-mapped files: every worker of the machine attaches to the same ones."""

from __future__ import annotations

import mmap
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tripline_engine.domain.memory.arena import Array, from_a_page, whole_pages

_HEADER = "header"


# From Python 3.13 on a mapping need not keep a descriptor of its file; before, each array costs one.
_MAPPING: Final[dict[str, Any]] = {"trackfd": False} if sys.version_info >= (3, 13) else {}


_HEADER_ITEMS = 8


# To free the pages of half a gigabyte takes a third of a second: files of this size (bytes) or more go in a thread of
# their own, under names of their own, for the next array may have the same.
_LARGE: Final = 1 << 24


_GOING: Final = ".going"


_NUMBERS: Final = count()


# Pages of a shared mapping go, and the file has a hole there. Linux alone has that, and -1 is refused by all.
_REMOVE: Final[int] = getattr(mmap, "MADV_REMOVE", -1)


# Where nothing has been written yet Linux reads ahead as if it were a file to be read, eight megabytes of noughts at a
# time where a disk is set so: 2 to 10 ms in the middle of a micro-batch, in each of a hundred arrays that have grown.
_PAGE_BY_PAGE: Final[int | None] = getattr(mmap, "MADV_RANDOM", None)


_AHEAD: Final[int | None] = getattr(mmap, "MADV_NORMAL", None)


# So much of the address space (bytes) an array has, or so many times what it needs: it grows there without being mapped
# anew, for of a new mapping all pages are entered once more, one by one.
_SPACE: Final = 1 << 30


_SPACES: Final = 16


# So many bytes, or more, are written to the file: through the mapping each page of it is entered by itself, and Linux
# writes noughts into it before it is written.
_MUCH: Final = 1 << 16


# So many bytes are written at a time.
_WRITTEN: Final = 1 << 18


class MappedArena:
    """Arrays as memory-mapped files in one directory.

    ``header`` (int64) outlives everything else in the directory. Its first item, the layout, counts the
    changes of any file's size: a worker that has seen another count has old arrays and attaches anew. Who makes or
    grows arrays has the directory for himself meanwhile.

    :param before: the arrays as this process had them before others changed the layout: their mappings are taken over
    """

    def __init__(self, directory: Path, before: MappedArena | None = None) -> None:
        self._directory, self._place, self._before = directory, os.fspath(directory), before
        directory.mkdir(parents=True, exist_ok=True)
        for left in directory.glob(f"*{_GOING}"):
            # by a process that ended before its thread did
            left.unlink(missing_ok=True)
        self._arrays: dict[str, Array] = {}
        self._mappings: dict[str, mmap.mmap] = {}
        self._numbers: dict[str, int] = {}
        self._advice: int | None = before._advice if before is not None else _PAGE_BY_PAGE  # noqa: SLF001  # its own kind
        self.header = self._map(_HEADER, np.dtype(np.int64), _HEADER_ITEMS, 0, None)
        self._seen = self.layout
        self._gives_back = True
        self._counting = threading.Lock()

    @property
    def layout(self) -> int:
        """How often an array has been made, resized or removed."""
        return int(self.header[0])

    @property
    def stale(self) -> bool:
        """Whether another process has changed the layout since these arrays were mapped."""
        return self.layout != self._seen

    @property
    def sparse(self) -> bool:
        return self._gives_back

    def open(self, name: str, dtype: npt.DTypeLike, capacity: int, fill: int = 0) -> Array:
        if name not in self._arrays:
            self._arrays[name] = self._map(name, np.dtype(dtype), capacity, fill, self._before)
        return self._arrays[name]

    def resize(self, name: str, capacity: int, fill: int = 0) -> Array:
        old = self._arrays.pop(name)
        kept = len(old)
        os.truncate(self._directory / name, capacity * old.itemsize)
        self._changed()
        if fill and capacity > kept:
            with self._opened(name) as descriptor:
                _fill(descriptor, np.full(1, fill, old.dtype), kept, capacity)
        new = self._map(name, old.dtype, capacity, fill, self)
        self._arrays[name] = new
        return new

    def put(self, name: str, first: int, values: Array) -> None:
        array = self._arrays[name]
        _check(array, first, first + len(values))
        if len(values) * array.itemsize < _MUCH:
            array[first : first + len(values)] = values
        else:
            whole = np.ascontiguousarray(values, array.dtype)
            with self._opened(name) as descriptor:
                _write(descriptor, whole.view(np.uint8).data, first * array.itemsize)

    def prepare(self, name: str, first: int, until: int) -> None:
        _check(self._arrays[name], first, until)
        size = self._arrays[name].itemsize
        if (until - first) * size >= _MUCH:
            # what shares a page with others is left alone
            start, end = from_a_page(first, size), whole_pages(until * size) // size
            with self._opened(name) as descriptor:
                _fill(descriptor, np.zeros(1, self._arrays[name].dtype), start, end)

    def remove(self, name: str) -> None:
        array, path = self._arrays.pop(name, None), self._directory / name
        held = [self._mappings.pop(name, None), array]
        if array is not None and array.nbytes >= _LARGE:
            del array
            going = path.with_name(f"{os.getpid()}-{next(_NUMBERS)}{_GOING}")
            with suppress(FileNotFoundError):
                path.rename(going)
            threading.Thread(target=_let_go, args=(held, going), name="let-go").start()
        else:
            path.unlink(missing_ok=True)
        self._changed()

    def punch_hole(self, name: str, first: int, until: int) -> bool:
        array = self._arrays[name]
        start, end = whole_pages(first * array.itemsize), whole_pages(until * array.itemsize)
        if self._gives_back and end > start:
            try:
                self._mappings[name].madvise(_REMOVE, start, end - start)
            except OSError:
                # not every file system can make holes
                self._gives_back = False
        return self._gives_back

    def mapping(self, name: str, number: int) -> mmap.mmap | None:
        """What is mapped under that name, if it is the file with that number."""
        return self._mappings.get(name) if self._numbers.get(name) == number else None

    def release_previous(self) -> None:
        """All arrays that are wanted have been opened: nothing more is taken over."""
        self._before = None

    def wipe(self) -> None:
        """Remove every array but the header."""
        self._arrays.clear()
        self._mappings.clear()
        for path in list(self._directory.iterdir()):
            if path.name != _HEADER:
                path.unlink(missing_ok=True)
        self._changed()

    def read_ahead(self, *, on: bool) -> None:
        """Whether much is to be written at once, from end to end, by this process: it is off until it is said."""
        advice = _AHEAD if on else _PAGE_BY_PAGE
        if advice != self._advice:
            self._advice = advice
            for mapping in self._mappings.values():
                _advise(mapping, advice)

    def bytes(self) -> int:
        return sum(array.nbytes for array in self._arrays.values())

    @contextmanager
    def _opened(self, name: str, more: int = 0) -> Iterator[int]:
        """A descriptor of that file. Paths are text here: a `Path` for each of some thousand writes would be felt."""
        descriptor = os.open(f"{self._place}/{name}", os.O_RDWR | more, 0o600)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def _changed(self) -> None:
        # shards are built again by several threads
        with self._counting:
            self.header[0] += 1
            self._seen = self.layout

    def _map(
        self, name: str, dtype: np.dtype[Any], capacity: int, fill: int, before: MappedArena | None
    ) -> Array:
        """The array of that name, in the mapping that `before` has of the same file if there is room for it."""
        # numpy's own memmap resolves and flushes besides, at five times the cost; there are hundreds of arrays
        with self._opened(name, os.O_CREAT) as descriptor:
            status = os.fstat(descriptor)
            new, size = status.st_size == 0, status.st_size or capacity * dtype.itemsize
            # a file that is mapped keeps its number: none that is made meanwhile has it
            old = before.mapping(name, status.st_ino) if before is not None else None
            roomy = old is not None and len(old) >= size
            self._mappings[name] = old if old is not None and roomy else _mapped(descriptor, size)
            if not roomy:
                _advise(self._mappings[name], self._advice)
            self._numbers[name] = status.st_ino
            if new and fill:
                _fill(descriptor, np.full(1, fill, dtype), 0, capacity)
        array: Array = np.frombuffer(self._mappings[name], dtype, size // dtype.itemsize)
        if new and name != _HEADER:
            self._changed()
        return array


def _mapped(descriptor: int, size: int) -> mmap.mmap:
    """A file of that size (bytes), mapped with room to grow: what lies behind its end is nobody's until it does."""
    space = whole_pages(max(_SPACE, _SPACES * size))
    # Python maps no more than a file has, so it has as much for a moment
    os.ftruncate(descriptor, space)
    try:
        return mmap.mmap(descriptor, space, **_MAPPING)
    finally:
        os.ftruncate(descriptor, size)


def _fill(descriptor: int, item: Array, first: int, until: int) -> None:
    """Write the item to places of a file: through a mapping each page would be entered by itself."""
    size = item.itemsize
    most, end = _WRITTEN // size, until * size
    piece = np.tile(item, min(until - first, most)).tobytes()
    for at in range(first * size, end, most * size):
        _write(descriptor, memoryview(piece)[: end - at], at)


def _write(descriptor: int, data: memoryview, at: int) -> None:
    while data:
        # on a full disk a part may be written, and the next attempt says why
        written = os.pwrite(descriptor, data, at)
        data, at = data[written:], at + written


def _check(array: Array, first: int, until: int) -> None:
    """A write behind its end would make the file longer, and nobody would see it."""
    if first < 0 or until > len(array):
        raise IndexError(f"items {first} to {until} of an array with {len(array)}")


def _advise(mapping: mmap.mmap, advice: int | None) -> None:
    if advice is not None:
        mapping.madvise(advice)


def _let_go(held: list[object], path: Path) -> None:
    """Give up a file and the last references to its mapping."""
    held.clear()
    path.unlink(missing_ok=True)
