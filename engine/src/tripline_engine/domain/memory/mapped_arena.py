"""Named arrays in memory-mapped files: every worker of the machine attaches to the same ones."""

from __future__ import annotations

import mmap
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tripline_engine.domain.memory.arena import Array, page_start, whole_pages

_HEADER: Final = "header"
_HEADER_ITEMS: Final = 8
# Files of removed arrays, until a thread has unmapped them.
_REMOVED_SUFFIX: Final = ".going"
_REMOVED_COUNT: Final = count()
# From Python 3.13 on a mapping need not keep a descriptor of its file; before, each array costs one.
_MAPPING: Final[dict[str, Any]] = {"trackfd": False} if sys.version_info >= (3, 13) else {}
# Where nothing has been written yet Linux reads ahead as if it were a file to be read, eight megabytes of zeros at a
# time where a disk is set so: 2 to 10 ms in the middle of a micro-batch, in each of a hundred arrays that have grown.
_PAGE_BY_PAGE: Final[int | None] = getattr(mmap, "MADV_RANDOM", None)
_READ_AHEAD: Final[int | None] = getattr(mmap, "MADV_NORMAL", None)
# An array's address space is also at least this many times its size.
_SPACE_FACTOR: Final = 16
# Bytes of one write call.
_WRITE_BYTES: Final = 1 << 18


@dataclass(frozen=True, slots=True)
class MappedArenaTuning:
    """Sizes in bytes from which arrays are handled otherwise.

    :ivar unmap_beside: files of this size or more are unmapped in a thread of their own: to free the pages of half a
        gigabyte takes a third of a second
    :ivar space: address space reserved for each array. It grows there without being mapped anew; a new mapping would
        fault in all its pages one by one
    :ivar write_call: this much or more is written to the file with a call: through the mapping each page would fault
        by itself, and Linux would fill it with zeros before
    :ivar hole_advice: the advice that punches a hole. Linux alone has it, and -1 is refused by all
    """

    unmap_beside: int = 1 << 24
    space: int = 1 << 30
    write_call: int = 1 << 16
    hole_advice: int = getattr(mmap, "MADV_REMOVE", -1)


_DEFAULT: Final = MappedArenaTuning()


class MappedArena:
    """Arrays as memory-mapped files in one directory.

    ``header`` (int64) outlives everything else in the directory. Its first item, the layout, counts the
    changes of any file's size: a worker that has seen another count has stale arrays and attaches anew. A process that
    creates or grows arrays holds the directory's lock meanwhile.

    :param previous: the arena of this process before others changed the layout; its mappings are used again
    """

    page_bytes = mmap.PAGESIZE

    def __init__(
        self, directory: Path, previous: MappedArena | None = None, tuning: MappedArenaTuning = _DEFAULT
    ) -> None:
        self._directory, self._path, self._previous = directory, os.fspath(directory), previous
        self._tuning = tuning
        directory.mkdir(parents=True, exist_ok=True)
        for leftover in directory.glob(f"*{_REMOVED_SUFFIX}"):
            # of a process that ended before its thread did
            leftover.unlink(missing_ok=True)
        self._arrays: dict[str, Array] = {}
        self._mappings: dict[str, mmap.mmap] = {}
        self._inodes: dict[str, int] = {}
        self._advice: int | None = previous._advice if previous is not None else _PAGE_BY_PAGE  # noqa: SLF001  # its own kind
        self.header = self._map(_HEADER, np.dtype(np.int64), _HEADER_ITEMS, 0, None)
        self._seen_layout = self.layout
        self._punches_holes = True
        self._layout_lock = threading.Lock()

    @property
    def layout(self) -> int:
        """The number of changes: arrays created, resized or removed."""
        return int(self.header[0])

    @property
    def stale(self) -> bool:
        """Whether another process has changed the layout since these arrays were mapped."""
        return self.layout != self._seen_layout

    @property
    def sparse(self) -> bool:
        return self._punches_holes

    def open(self, name: str, dtype: npt.DTypeLike, capacity: int, fill: int = 0) -> Array:
        if name not in self._arrays:
            self._arrays[name] = self._map(name, np.dtype(dtype), capacity, fill, self._previous)
        return self._arrays[name]

    def resize(self, name: str, capacity: int, fill: int = 0) -> Array:
        old = self._arrays.pop(name)
        old_capacity = len(old)
        os.truncate(self._directory / name, capacity * old.itemsize)
        self._count_change()
        if fill and capacity > old_capacity:
            with self._opened(name) as descriptor:
                _fill(descriptor, np.full(1, fill, old.dtype), old_capacity, capacity)
        new = self._map(name, old.dtype, capacity, fill, self)
        self._arrays[name] = new
        return new

    def put(self, name: str, first: int, values: Array) -> None:
        array = self._arrays[name]
        _check(array, first, first + len(values))
        if len(values) * array.itemsize < self._tuning.write_call:
            array[first : first + len(values)] = values
        else:
            items = np.ascontiguousarray(values, array.dtype)
            with self._opened(name) as descriptor:
                _write(descriptor, items.view(np.uint8).data, first * array.itemsize)

    def prepare(self, name: str, first: int, until: int) -> None:
        _check(self._arrays[name], first, until)
        size = self._arrays[name].itemsize
        if (until - first) * size >= self._tuning.write_call:
            # pages that other items share are left alone
            start, end = page_start(first, size), whole_pages(until * size) // size
            with self._opened(name) as descriptor:
                _fill(descriptor, np.zeros(1, self._arrays[name].dtype), start, end)

    def remove(self, name: str) -> None:
        array, path = self._arrays.pop(name, None), self._directory / name
        references = [self._mappings.pop(name, None), array]
        if array is not None and array.nbytes >= self._tuning.unmap_beside:
            del array
            # the next array may have the same name
            going = path.with_name(f"{os.getpid()}-{next(_REMOVED_COUNT)}{_REMOVED_SUFFIX}")
            with suppress(FileNotFoundError):
                path.rename(going)
            threading.Thread(target=_unmap, args=(references, going), name="unmap").start()
        else:
            path.unlink(missing_ok=True)
        self._count_change()

    def punch_hole(self, name: str, first: int, until: int) -> bool:
        array = self._arrays[name]
        start, end = whole_pages(first * array.itemsize), whole_pages(until * array.itemsize)
        if self._punches_holes and end > start:
            try:
                self._mappings[name].madvise(self._tuning.hole_advice, start, end - start)
            except OSError:
                # not every file system can punch holes
                self._punches_holes = False
        return self._punches_holes

    def mapping(self, name: str, inode: int) -> mmap.mmap | None:
        """The mapping of the array of that name, if it is of the file with that inode number."""
        return self._mappings.get(name) if self._inodes.get(name) == inode else None

    def release_previous(self) -> None:
        """Release the previous arena: all arrays that are needed have been opened."""
        self._previous = None

    def wipe(self) -> None:
        """Remove every array but the header."""
        self._arrays.clear()
        self._mappings.clear()
        for path in list(self._directory.iterdir()):
            if path.name != _HEADER:
                path.unlink(missing_ok=True)
        self._count_change()

    def read_ahead(self, *, on: bool) -> None:
        """Turn on read-ahead while this process writes arrays from end to end; it is off at first."""
        advice = _READ_AHEAD if on else _PAGE_BY_PAGE
        if advice != self._advice:
            self._advice = advice
            for mapping in self._mappings.values():
                _advise(mapping, advice)

    def bytes(self) -> int:
        return sum(array.nbytes for array in self._arrays.values())

    @contextmanager
    def _opened(self, name: str, flags: int = 0) -> Iterator[int]:
        """A descriptor of that file. Paths are text here: a `Path` for each of some thousand writes costs too much."""
        descriptor = os.open(f"{self._path}/{name}", os.O_RDWR | flags, 0o600)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def _count_change(self) -> None:
        # a shard is rebuilt by several threads
        with self._layout_lock:
            self.header[0] += 1
            self._seen_layout = self.layout

    def _map(
        self, name: str, dtype: np.dtype[Any], capacity: int, fill: int, previous: MappedArena | None
    ) -> Array:
        """The array of that name, in the mapping that `previous` has of the same file if that is long enough."""
        # np.memmap resolves the path and flushes too, at five times the cost; there are hundreds of arrays
        with self._opened(name, os.O_CREAT) as descriptor:
            status = os.fstat(descriptor)
            new, size = status.st_size == 0, status.st_size or capacity * dtype.itemsize
            # a mapped file keeps its inode, so no file that was created since has the same number
            old = previous.mapping(name, status.st_ino) if previous is not None else None
            fits = old is not None and len(old) >= size
            if old is not None and fits:
                self._mappings[name] = old
            else:
                self._mappings[name] = _map_file(descriptor, size, self._tuning.space)
                _advise(self._mappings[name], self._advice)
            self._inodes[name] = status.st_ino
            if new and fill:
                _fill(descriptor, np.full(1, fill, dtype), 0, capacity)
        array: Array = np.frombuffer(self._mappings[name], dtype, size // dtype.itemsize)
        if new and name != _HEADER:
            self._count_change()
        return array


def _map_file(descriptor: int, size: int, least_space: int) -> mmap.mmap:
    """Map a file of that size (bytes) with address space to grow; nothing behind its end is touched until it does."""
    space = whole_pages(max(least_space, _SPACE_FACTOR * size))
    # Python maps no more than a file has, so the file has that size for a moment
    os.ftruncate(descriptor, space)
    try:
        return mmap.mmap(descriptor, space, **_MAPPING)
    finally:
        os.ftruncate(descriptor, size)


def _fill(descriptor: int, item: Array, first: int, until: int) -> None:
    """Write the item to the file, once for each number from ``first`` to ``until``."""
    size = item.itemsize
    piece_items, end = _WRITE_BYTES // size, until * size
    piece = np.tile(item, min(until - first, piece_items)).tobytes()
    for offset in range(first * size, end, piece_items * size):
        _write(descriptor, memoryview(piece)[: end - offset], offset)


def _write(descriptor: int, data: memoryview, offset: int) -> None:
    while data:
        # on a full disk a part may be written, and the next attempt says why
        written = os.pwrite(descriptor, data, offset)
        data, offset = data[written:], offset + written


def _check(array: Array, first: int, until: int) -> None:
    """Refuse items beyond the array: a write call there would silently make the file longer."""
    if first < 0 or until > len(array):
        raise IndexError(f"items {first} to {until} of an array with {len(array)}")


def _advise(mapping: mmap.mmap, advice: int | None) -> None:
    if advice is not None:
        mapping.madvise(advice)


def _unmap(references: list[object], path: Path) -> None:
    """Release the last references to a mapping, and remove its file."""
    references.clear()
    path.unlink(missing_ok=True)
