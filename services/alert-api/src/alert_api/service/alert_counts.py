"""Counts of alerts by rule, by state, by hour."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

HOUR_MS: Final = 3_600_000


@dataclass(frozen=True, slots=True)
class Span:
    """Event times in ms since the epoch, both ends included."""

    earliest: int
    latest: int


@dataclass(frozen=True, slots=True)
class Cell:
    """The number of alerts of a rule in an hour (of the epoch), open or acknowledged."""

    rule_id: int
    hour: int
    acknowledged: bool
    count: int


@dataclass(frozen=True, slots=True)
class Counted:
    """Cells, and the newest name of each rule in them."""

    cells: Sequence[Cell]
    names: Mapping[int, str]


class AlertCounter(Protocol):
    """The stored alerts, to count. Raises StoreUnavailable when the database is away."""

    def count(self, span: Span, rule_ids: Collection[int], rule_version: int | None = None) -> Counted:
        """Of these rules, of none of them all; of one version of them where one is named."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Open and acknowledged alerts."""

    open: int
    acknowledged: int


def last_day(now: int) -> Span:
    """The current hour and the 23 before it: whole hours, so that each is counted in full."""
    end = (now // HOUR_MS + 1) * HOUR_MS
    return Span(max(0, end - 24 * HOUR_MS), end - 1)


def tallies(cells: Iterable[Cell], key: Callable[[Cell], int]) -> dict[int, Tally]:
    """Cells added up by `key`, which comes out in rising order."""
    sums: Counter[tuple[int, bool]] = Counter()
    for cell in cells:
        sums[key(cell), cell.acknowledged] += cell.count
    return {group: Tally(sums[group, False], sums[group, True]) for group in sorted({key for key, _ in sums})}
