"""The engine's order of transactions, against a plain sort by its three keys, however the slices lie."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from tripline_engine.domain.transactions.engine_order import engine_order

KINDS = (np.int64, np.int32, np.int64)


class Row(NamedTuple):
    """A transaction's place in the order; running maximum in ms."""

    running_max: int
    partition: int
    offset: int


def ordered(rows: list[Row]) -> list[Row]:
    columns = (np.array(column, kind) for column, kind in zip(zip(*rows, strict=True), KINDS, strict=True))
    order = engine_order(*columns)
    return rows if order is None else [rows[index] for index in order]


def slices(seed: int) -> list[list[Row]]:
    """Slices of some partitions, one after the other by partition and offset."""
    random = np.random.default_rng(seed)
    made = []
    for partition in range(int(random.integers(1, 5))):
        time = offset = 0
        for _ in range(int(random.integers(1, 4))):
            rows = []
            for _ in range(int(random.integers(1, 30))):
                time, offset = time + int(random.integers(0, 3)), offset + int(random.integers(1, 3))
                rows.append(Row(time, partition, offset))
            made.append(rows)
    return made


@pytest.mark.parametrize("seed", range(20))
def test_slices_by_partition_and_offset(seed: int) -> None:
    rows = [row for one in slices(seed) for row in one]
    assert ordered(rows) == sorted(rows)


@pytest.mark.parametrize("seed", range(20))
def test_slices_that_lie_anyhow(seed: int) -> None:
    whole = slices(seed)
    rows = [row for index in np.random.default_rng(seed).permutation(len(whole)) for row in whole[index]]
    assert ordered(rows) == sorted(rows)


@pytest.mark.parametrize("seed", range(20))
def test_rows_that_lie_anyhow(seed: int) -> None:
    rows = [row for one in slices(seed) for row in one]
    mixed = [rows[index] for index in np.random.default_rng(seed).permutation(len(rows))]
    assert ordered(mixed) == sorted(rows)


def test_one_partition_lies_in_order_already() -> None:
    assert engine_order(np.array([5, 5, 7]), np.zeros(3, np.int32), np.array([1, 2, 9])) is None
    assert engine_order(np.array([], np.int64), np.array([], np.int32), np.array([], np.int64)) is None
