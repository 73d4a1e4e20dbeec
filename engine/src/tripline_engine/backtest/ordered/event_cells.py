"""Micro-batches of transactions in the order of their event times, each within a cell of a grid of event times.

    event times  first ·············|·············|·············|        cells, all of one length
    tick         first              first + 1     first + 2              at the beginning of each cell

The record clock at a transaction says when its cell begins, whoever else is in the micro-batch. So what the clock
decides is the same for every transaction in any number of shards, whichever rows each of them has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

CELL: Final = 200_000
"""Transactions in a cell, on average over the history; in a micro-batch at most."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Times in ms.

    :ivar first: event time of the first transaction
    :ivar step: length of a cell
    """

    first: int
    step: int

    @staticmethod
    def over(first: int, last: int, transactions: int, cell: int = CELL) -> Grid:
        """For so many transactions between these event times, both included."""
        cells = max(1, transactions // cell)
        return Grid(first, -(-(last - first + 1) // cells))


def micro_batches(
    tables: Iterable[pa.Table], time_field: str, grid: Grid, most: int = CELL
) -> Iterator[tuple[int, pa.Table]]:
    """Sorted transactions as micro-batches: the clock (ms) before each, and its rows, in one chunk."""
    pending: list[pa.Table] = []
    rows, cell = 0, 0
    for table in tables:
        times = np.asarray(table.column(time_field).chunk(0))
        cells = (times - grid.first) // grid.step
        starts = [0, *(np.flatnonzero(np.diff(cells)) + 1).tolist()]
        for start, end in zip(starts, [*starts[1:], len(cells)], strict=True):
            if int(cells[start]) != cell and pending:
                yield from _cut(pending, grid.first + cell * grid.step, most)
                pending, rows = [], 0
            cell = int(cells[start])
            pending.append(table.slice(start, end - start))
            rows += end - start
            if rows >= most:
                yield from _cut(pending, grid.first + cell * grid.step, most)
                pending, rows = [], 0
    if pending:
        yield from _cut(pending, grid.first + cell * grid.step, most)


def _cut(pending: list[pa.Table], clock: int, most: int) -> Iterator[tuple[int, pa.Table]]:
    table = pa.concat_tables(pending).combine_chunks()
    for first in range(0, table.num_rows, most):
        yield clock, table.slice(first, most)
