"""Firing state of a version with `lateEvents: reevaluate`: the transactions that it has alerted for."""

from __future__ import annotations

import numpy as np

from tripline_engine.domain.firing.firing_states import FiringRecords
from tripline_engine.domain.memory.arena import Arena
from tripline_engine.domain.memory.array_types import BoolArray, Int64Array
from tripline_engine.domain.memory.row_arrays import RowArrays
from tripline_engine.domain.memory.row_compaction import shift_down
from tripline_engine.domain.transactions.columns import MIN_TIME

_FIRST_CAPACITY = 1024


class Alerted:
    """Retained transactions that a version has alerted for, or never will as they are backfilled: uint8 by row.

    In the firing state each alert is a record of its own, named by its sequence number.
    """

    def __init__(self, arena: Arena, name: str) -> None:
        self._arena, self._name = arena, f"{name}.alerted"
        self.rows = arena.open(self._name, np.uint8, _FIRST_CAPACITY)

    def build(
        self,
        records: FiringRecords | None,
        offset: int,
        base: int,
        end: int,
        backfilled: BoolArray | None = None,
    ) -> None:
        """Hold exactly this; ``offset`` is the sequence number of row 0, ``base`` to ``end`` the retained rows.

        :param backfilled: of these rows
        """
        self.reserve(end)
        self.rows[base:end] = 0 if backfilled is None else backfilled
        if records is not None:
            rows = records.reset - offset
            self.rows[rows[(rows >= base) & (rows < end)]] = 1

    def reserve(self, rows: int) -> None:
        """Make room for that number of rows."""
        if rows > len(self.rows):
            self.rows = self._arena.resize(self._name, 1 << rows.bit_length())

    @property
    def by_row(self) -> RowArrays:
        """The array that has an item for each row."""
        return {self._name: self.rows}

    def shift(self, delta: int, end: int) -> None:
        """Follow the history when its row numbers shrink by ``delta`` (``end``: the number after the newest, new)."""
        self.reserve(delta + end)
        shift_down(self.rows, delta, end)
        self.rows[end : delta + end] = 0

    def remove(self) -> None:
        """Remove the array."""
        self._arena.remove(self._name)


def alerted_records(sequences: Int64Array) -> FiringRecords:
    """The durable form of n alerts, by the sequence numbers of the transactions."""
    n = len(sequences)
    never = np.full(n, MIN_TIME, np.int64)
    return FiringRecords(
        low=sequences.astype(np.uint64),
        high=np.zeros(n, np.uint64),
        time=never,
        held=np.ones(n, np.bool_),
        reset=sequences,
        alerted=never,
    )
