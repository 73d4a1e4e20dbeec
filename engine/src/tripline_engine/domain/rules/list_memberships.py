"""Which values a named list has had, and when: identities of texts, each with a span of moments.

A column of 24 bytes for each span, in memory alone; sorted by identity, so that a look-up costs the logarithm of the
list's size for each text asked for, whatever the list has gone through.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from tripline_engine.domain.memory.array_types import BoolArray, Int32Array, Int64Array, Uint64Array

OPEN: Final = 2**31 - 1
"""Where a span ends that has not ended."""
_NONE: Final = -1


class ListMemberships:
    """Spans of moments, [since, until), by identity; `low` and `high` are the identities' words."""

    def __init__(self) -> None:
        self._low: Uint64Array = np.empty(0, np.uint64)
        self._high: Uint64Array = np.empty(0, np.uint64)
        self._since: Int32Array = np.empty(0, np.int32)
        self._until: Int32Array = np.empty(0, np.int32)

    def __len__(self) -> int:
        return len(self._low)

    @property
    def bytes(self) -> int:
        """What the spans take in memory."""
        return sum(part.nbytes for part in (self._low, self._high, self._since, self._until))

    def hold(self, low: Uint64Array, high: Uint64Array, moments: Int64Array | int) -> BoolArray:
        """Whether the list had each of these at its moment; one moment for all, or one for each."""
        of_each = np.broadcast_to(np.asarray(moments, np.int64), len(low))

        def counts(spans: Int64Array, asked: Int64Array) -> BoolArray:
            moment = of_each[asked]
            result: BoolArray = (self._since[spans] <= moment) & (moment < self._until[spans])
            return result

        result: BoolArray = self._search(low, high, counts) != _NONE
        return result

    def add(self, low: Uint64Array, high: Uint64Array, moment: int) -> None:
        """Have the list hold these, each once, from the moment on."""
        new = self._open(low, high) == _NONE
        low, high = low[new], high[new]
        order = np.argsort(low)
        low, high = low[order], high[order]
        places = np.searchsorted(self._low, low)
        self._low, self._high = np.insert(self._low, places, low), np.insert(self._high, places, high)
        self._since = np.insert(self._since, places, moment)
        self._until = np.insert(self._until, places, OPEN)

    def remove(self, low: Uint64Array, high: Uint64Array, moment: int) -> None:
        """Have the list hold these no more from the moment on."""
        spans = self._open(low, high)
        self._until[spans[spans != _NONE]] = moment

    def replace(self, low: Uint64Array, high: Uint64Array, moment: int) -> None:
        """Have the list hold just these from the moment on."""
        spans = self._open(low, high)
        gone = self._until == OPEN
        gone[spans[spans != _NONE]] = False
        self._until[gone] = moment
        self.add(low, high, moment)

    def drop(self, settled: int) -> None:
        """Drop the spans that have ended at that moment, once they are as many as the others."""
        dead = (self._until <= settled) | (self._since == self._until)
        if 2 * int(dead.sum()) >= max(len(dead), 1):
            alive = ~dead
            self._low, self._high = self._low[alive], self._high[alive]
            self._since, self._until = self._since[alive], self._until[alive]

    def _open(self, low: Uint64Array, high: Uint64Array) -> Int64Array:
        return self._search(low, high, lambda spans, _: self._until[spans] == OPEN)

    def _search(
        self, low: Uint64Array, high: Uint64Array, counts: Callable[[Int64Array, Int64Array], BoolArray]
    ) -> Int64Array:
        """The span of each identity that counts, by `counts(spans, indices of what is asked for)`; _NONE if none."""
        result = np.full(len(low), _NONE, np.int64)
        next_span = np.searchsorted(self._low, low).astype(np.int64)
        asked = np.arange(len(low), dtype=np.int64)
        # a value that came and went has several spans side by side
        while len(asked):
            asked = asked[next_span[asked] < len(self._low)]
            asked = asked[self._low[next_span[asked]] == low[asked]]
            spans = next_span[asked]
            hit = (self._high[spans] == high[asked]) & counts(spans, asked)
            result[asked[hit]] = spans[hit]
            asked = asked[~hit]
            next_span[asked] += 1
        return result
