"""Transactions in the order of their event times, however many there are: sorted runs in files, merged.

add ──▶ a run in memory ──full──▶ sorted, into a file          all runs ──merge──▶ one order
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

_RUN: Final = 200_000
_PIECE: Final = 1_000
_LENGTH_BYTES: Final = 8


class Happened(NamedTuple):
    """A transaction that is to be sorted; times in ms. Of equal event times, that which came first is first.

    :ivar partition: with `offset`, where it comes from: no two have both in common
    """

    event_time: int
    record_time: int
    partition: int
    offset: int
    value: bytes


class EventOrder:
    """Takes transactions, and gives them sorted. Files go into the folder, which whoever made it deletes.

    :param run: how many are sorted in memory
    """

    def __init__(self, folder: Path, run: int = _RUN) -> None:
        self._folder, self._run = folder, run
        self._pending: list[Happened] = []
        self._files: list[Path] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, transactions: Iterable[Happened]) -> None:
        """Adds some, in any order."""
        for transaction in transactions:
            self._pending.append(transaction)
            self._count += 1
            if len(self._pending) >= self._run:
                self._spill()

    def __iter__(self) -> Iterator[Happened]:
        """All that were added."""
        return heapq.merge(*map(_read, self._files), sorted(self._pending))

    def _spill(self) -> None:
        self._pending.sort()
        file = self._folder / f"run-{len(self._files)}"
        with file.open("wb") as written:
            for first in range(0, len(self._pending), _PIECE):
                piece = msgspec.msgpack.encode(self._pending[first : first + _PIECE])
                written.write(len(piece).to_bytes(_LENGTH_BYTES, "big") + piece)
        self._files.append(file)
        self._pending = []


def _read(file: Path) -> Iterator[Happened]:
    with file.open("rb") as written:
        while length := written.read(_LENGTH_BYTES):
            piece = written.read(int.from_bytes(length, "big"))
            yield from msgspec.msgpack.decode(piece, type=list[Happened])
