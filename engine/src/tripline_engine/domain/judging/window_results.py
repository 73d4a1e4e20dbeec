"""The results of an anchor's windows for a batch: computed when the first rule reads them, released after the last one.

A thousand rules have hundreds of windows. Their results for a large micro-batch, all at once, would not fit into the
processor's cache, nor would the system leave that much memory with the process from one micro-batch to the next.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tripline_engine.domain.groups.group_lists import LinkResult
from tripline_engine.domain.judging.window_set import WindowSet
from tripline_engine.domain.rules.deviations import Squares
from tripline_engine.domain.rules.measures import (
    BucketKey,
    ChainKey,
    DistinctKey,
    Measure,
    Population,
    SquareKey,
    TotalsKey,
)
from tripline_engine.domain.rules.rule_version import RuleVersion
from tripline_engine.domain.rules.watermarks import Watermarks
from tripline_engine.domain.transactions.columns import Totals

Key = TotalsKey | ChainKey | DistinctKey | SquareKey | BucketKey


class EnteredRows(NamedTuple):
    """The history's rows from ``start`` on, which the lists hold, and the result of linking them."""

    start: int
    linked: Mapping[Population, LinkResult]


class WindowResults:
    """Each window takes the rows once: when it is read, or when everything is finished.

    :param readers: the versions that are going to read
    """

    def __init__(
        self, windows: WindowSet, entered: EnteredRows, watermarks: Watermarks, readers: Iterable[RuleVersion]
    ) -> None:
        self._windows, self._entered, self._watermarks = windows, entered, watermarks
        # keys of different kinds may be equal as tuples
        self._readers_left = Counter((type(key), key) for version in readers for key in read_by(version))
        self._computed: set[tuple[type, Key]] = set()
        self._results: dict[tuple[type, Key], Any] = {}

    def totals(self, key: TotalsKey | DistinctKey) -> Totals:
        """Counts and sums, or numbers of values, of the key's windows (arrays (windows, n))."""
        totals: Totals = self._read(key)
        return totals

    def extremes(self, key: ChainKey) -> npt.NDArray[np.int64]:
        """The rows with the extreme values, int64, (n, windows)."""
        rows: npt.NDArray[np.int64] = self._read(key)
        return rows

    def squares(self, key: SquareKey) -> Squares:
        """Sums of squares of the key's windows (arrays (windows, n))."""
        squares: Squares = self._read(key)
        return squares

    def buckets(self, key: BucketKey) -> npt.NDArray[np.int64]:
        """The windows of whole buckets, as `bucket_kernels.evaluate` writes them."""
        windows: npt.NDArray[np.int64] = self._read(key)
        return windows

    def release(self, version: RuleVersion) -> None:
        """Release the results that nobody but this version was still to read."""
        for key in read_by(version):
            kind = type(key), key
            self._readers_left[kind] -= 1
            if not self._readers_left[kind]:
                self._results.pop(kind, None)

    def finish(self) -> None:
        """Have windows that nobody has read take the rows too: those of paused rules."""
        windows = self._windows
        for keys in (windows.totals, windows.chains, windows.distincts, windows.squares, windows.buckets):
            for key in keys:
                if (type(key), key) not in self._computed:
                    self._compute(key)

    def _read(self, key: Key) -> Any:
        kind = type(key), key
        if kind not in self._results:
            self._results[kind] = self._compute(key)
        return self._results[kind]

    def _compute(self, key: Key) -> Any:
        # a window that took the same rows in twice would count them twice
        assert (type(key), key) not in self._computed
        self._computed.add((type(key), key))
        windows, (start, every) = self._windows, self._entered
        linked, base = every[key.population], windows.history.base
        match key:
            case TotalsKey():
                floor, amounts = windows.floor(self._watermarks, key), windows.amounts(key.field)
                return windows.totals[key].evaluate(start, linked, floor, base, amounts)
            case ChainKey():
                floor, amounts = windows.floor(self._watermarks, key), windows.amounts(key.field)
                return windows.chains[key].evaluate(start, linked, floor, base, amounts)
            case DistinctKey():
                floor = windows.floor(self._watermarks, key)
                return windows.distincts[key].evaluate(start, linked, floor, base)
            case SquareKey():
                floor, amounts = windows.floor(self._watermarks, key), windows.amounts(key.field)
                return windows.squares[key].evaluate(start, linked, floor, base, amounts)
            case BucketKey():
                span, amounts = windows.span(self._watermarks, key), windows.amounts(key.field)
                return windows.buckets[key].evaluate(start, linked.newest, span, base, amounts)


def read_by(version: RuleVersion) -> Iterator[Key]:
    """The windows that the version shares with others and reads."""
    # a version that starts anew at each alert has windows of its own
    if not version.definition.reset_on_alert:
        for measure in version.all_measures:
            yield from _read_for(measure)


def _read_for(part: Measure) -> Iterator[Key]:
    for key in (part.totals, part.chain, part.distinct, part.squares, part.buckets):
        if key is not None:
            yield key
