"""Results of evaluations over buckets: the only place where others read the columns that `bucket_kernels` writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tripline_contracts.rules.rule_definition import Function
from tripline_engine.domain.buckets.bucket_layout import (
    O_COUNT,
    O_EDGE,
    O_GREATEST,
    O_LEAST,
    O_NEGATIVE,
    O_POSITIVE,
    O_REST,
    O_REST_GREATEST,
    O_REST_LEAST,
    O_SUM,
)
from tripline_engine.domain.memory.array_types import Int64Array
from tripline_engine.domain.memory.int128 import join
from tripline_engine.domain.transactions.columns import Amounts

_VALUE: Final[dict[Function, int]] = {
    "SUM": O_SUM,
    "AVG": O_SUM,
    "COUNT": O_SUM,
    "MIN": O_LEAST,
    "MAX": O_GREATEST,
}


@dataclass(frozen=True, slots=True)
class BucketReading:
    """One window: its count, and numbers scaled by 10⁶.

    The *edge* is its first bucket, if part of that may be before the exact window; the *rest* is all but the edge.
    """

    columns: Int64Array

    @property
    def count(self) -> int:
        """Number of transactions."""
        return int(self.columns[O_COUNT])

    def value(self, function: Function) -> int:
        """The sum or the extreme value that the function asks for."""
        return self._number(_VALUE[function])

    @property
    def edge_count(self) -> int:
        """Number of transactions in the edge; 0 where there is no edge."""
        return int(self.columns[O_EDGE])

    @property
    def edge_positive(self) -> int:
        """Sum of the edge's positive amounts."""
        return self._number(O_POSITIVE)

    @property
    def edge_negative(self) -> int:
        """Sum of the edge's negative amounts."""
        return self._number(O_NEGATIVE)

    @property
    def has_rest(self) -> int:
        """1 if there are buckets besides the edge, otherwise 0."""
        return int(self.columns[O_REST])

    @property
    def rest_least(self) -> int:
        """The least amount of the rest."""
        return self._number(O_REST_LEAST)

    @property
    def rest_greatest(self) -> int:
        """The greatest amount of the rest."""
        return self._number(O_REST_GREATEST)

    def _number(self, column: int) -> int:
        return join(int(self.columns[column]) & (2**64 - 1), self.columns[column + 1])


@dataclass(frozen=True, slots=True)
class BucketReadings:
    """The windows of n transactions, all of one length: int64, n × OUT."""

    table: Int64Array

    @property
    def counts(self) -> Int64Array:
        """Number of transactions in each (n)."""
        return self.table[:, O_COUNT]

    def values(self, function: Function) -> Amounts:
        """The sums or extreme values that the function asks for (n)."""
        column = _VALUE[function]
        return Amounts(np.ascontiguousarray(self.table[:, column]).view(np.uint64), self.table[:, column + 1])

    def __getitem__(self, i: int) -> BucketReading:
        return BucketReading(self.table[i])
