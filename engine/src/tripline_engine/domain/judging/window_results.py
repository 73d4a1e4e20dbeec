"""What the windows of an anchor came to: worked out when the first rule reads it, let go of after the last one.

A thousand rules have hundreds of windows, and what they all came to for a large micro-batch would not fit into the
processor's cache, nor would the system leave so much memory with us from one micro-batch to the next.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tripline_engine.domain.groups.group_lists import LinkResult
from tripline_engine.domain.judging.window_set import WindowSet
from tripline_engine.domain.rules.measures import (
    BucketKey,
    ChainKey,
    DistinctKey,
    Measure,
    Population,
    TotalsKey,
)
from tripline_engine.domain.rules.rule_version import RuleVersion
from tripline_engine.domain.rules.watermarks import Watermarks
from tripline_engine.domain.transactions.columns import Totals

Key = TotalsKey | ChainKey | DistinctKey | BucketKey


class Entered(NamedTuple):
    """The history's rows from ``start`` on, which the lists have taken in, and what was found then."""

    start: int
    linked: Mapping[Population, LinkResult]


class WindowResults:
    """Each window takes the rows in once: when it is read, or when everything is finished.

    :param readers: the versions that are going to read
    """

    def __init__(
        self, windows: WindowSet, entered: Entered, visibility: Watermarks, readers: Iterable[RuleVersion]
    ) -> None:
        self._windows, self._entered, self._visibility = windows, entered, visibility
        # keys of different kinds may be equal as tuples
        self._left = Counter((type(key), key) for version in readers for key in read_by(version))
        self._taken: set[tuple[type, Key]] = set()
        self._held: dict[tuple[type, Key], Any] = {}

    def totals(self, key: TotalsKey | DistinctKey) -> Totals:
        """Counts and sums, or numbers of values, of the key's windows (arrays (windows, n))."""
        found: Totals = self._read(key)
        return found

    def extremes(self, key: ChainKey) -> npt.NDArray[np.int64]:
        """The rows with the extreme values, int64, (n, windows)."""
        found: npt.NDArray[np.int64] = self._read(key)
        return found

    def buckets(self, key: BucketKey) -> npt.NDArray[np.int64]:
        """What the windows with whole buckets came to, as `bucket_pool.evaluate` has it."""
        found: npt.NDArray[np.int64] = self._read(key)
        return found

    def let_go(self, version: RuleVersion) -> None:
        """The version has read what it reads."""
        for key in read_by(version):
            kind = type(key), key
            self._left[kind] -= 1
            if not self._left[kind]:
                self._held.pop(kind, None)

    def finish(self) -> None:
        """Have the windows take the rows in that nobody has read: those of paused rules."""
        windows = self._windows
        for part in (windows.totals, windows.chains, windows.distincts, windows.buckets):
            for key in part:
                if (type(key), key) not in self._taken:
                    self._take(key)

    def _read(self, key: Key) -> Any:
        kind = type(key), key
        if kind not in self._held:
            self._held[kind] = self._take(key)
        return self._held[kind]

    def _take(self, key: Key) -> Any:
        # a window that took the same rows in twice would count them twice
        assert (type(key), key) not in self._taken
        self._taken.add((type(key), key))
        windows, (start, every) = self._windows, self._entered
        linked, base = every[key.population], windows.history.base
        match key:
            case TotalsKey():
                floor, amounts = windows.floor(self._visibility, key), windows.amounts(key.field)
                return windows.totals[key].evaluate(start, linked, floor, base, amounts)
            case ChainKey():
                floor, amounts = windows.floor(self._visibility, key), windows.amounts(key.field)
                return windows.chains[key].evaluate(start, linked, floor, base, amounts)
            case DistinctKey():
                floor = windows.floor(self._visibility, key)
                return windows.distincts[key].evaluate(start, linked, floor, base)
            case BucketKey():
                span, amounts = windows.span(self._visibility, key), windows.amounts(key.field)
                return windows.buckets[key].evaluate(start, linked.newest, span, base, amounts)


def read_by(version: RuleVersion) -> Iterator[Key]:
    """What the version reads of the windows that it shares with others."""
    # one that starts anew at each alert has its own
    if not version.definition.reset_on_alert:
        for part in version.measures:
            yield from _read_for(part)


def _read_for(part: Measure) -> Iterator[Key]:
    for key in (part.totals, part.chain, part.distinct, part.buckets):
        if key is not None:
            yield key
