"""Window plans: the windows to maintain over an anchor's history, shared between rules and versions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from tripline_engine.domain.rules.measures import (
    BucketKey,
    ChainKey,
    DistinctKey,
    Measure,
    Population,
    SquareKey,
    TotalsKey,
)
from tripline_engine.domain.rules.rule_book import RuleBook
from tripline_engine.domain.rules.rule_version import RuleVersion, RuleVersionKey

_Key = TypeVar("_Key")


class BucketDemand(NamedTuple):
    """The demands of versions on a bucket set.

    :ivar windows: window lengths (ms)
    :ivar seeks: whether there is a MIN or MAX
    """

    windows: tuple[int, ...]
    seeks: bool


@dataclass(frozen=True, slots=True)
class WindowPlan:
    """Everything that the rules on one anchor read.

    :ivar used: the fields that they use
    :ivar totals: with the lengths of their windows (ms), ascending; chains, distincts and squares too
    """

    used: frozenset[str]
    populations: frozenset[Population]
    totals: dict[TotalsKey, tuple[int, ...]]
    chains: dict[ChainKey, tuple[int, ...]]
    distincts: dict[DistinctKey, tuple[int, ...]]
    squares: dict[SquareKey, tuple[int, ...]]
    buckets: dict[BucketKey, BucketDemand]
    stateful: dict[RuleVersionKey, RuleVersion]

    @staticmethod
    def empty() -> WindowPlan:
        """The plan of an anchor without rules."""
        return WindowPlan(frozenset(), frozenset(), {}, {}, {}, {}, {}, {})

    @staticmethod
    def of(book: RuleBook, anchor: str) -> WindowPlan:
        """The plan for the versions of a book, paused rules' too: they resume warm."""
        return WindowPlan.of_versions(version for version in book.versions() if version.anchor == anchor)

    @staticmethod
    def of_versions(versions: Iterable[RuleVersion]) -> WindowPlan:
        """The plan for these versions, all on one anchor."""
        used: frozenset[str] = frozenset()
        populations, stateful = set(), {}
        totals: dict[TotalsKey, set[int]] = {}
        distincts: dict[DistinctKey, set[int]] = {}
        squares: dict[SquareKey, set[int]] = {}
        chains: dict[ChainKey, set[int]] = {}
        bucketed: dict[BucketKey, list[Measure]] = {}
        for version in versions:
            used |= version.fields
            populations.add(version.population)
            if remembers(version):
                stateful[version.key] = version
            for measure in version.all_measures:
                populations |= {measure.population, measure.members}
                if version.definition.reset_on_alert:
                    continue  # it shares no windows
                if measure.totals is not None:
                    totals.setdefault(measure.totals, set()).update(measure.lengths_ms)
                if measure.distinct is not None:
                    distincts.setdefault(measure.distinct, set()).add(measure.window_ms)
                if measure.squares is not None:
                    squares.setdefault(measure.squares, set()).update(measure.lengths_ms)
                if measure.buckets is not None:
                    bucketed.setdefault(measure.buckets, []).append(measure)
                if measure.chain is not None:
                    chains.setdefault(measure.chain, set()).add(measure.window_ms)
        demands = {key: _demand(measures) for key, measures in bucketed.items()}
        return WindowPlan(
            used=used,
            populations=frozenset(populations),
            totals=_ascending(totals),
            chains=_ascending(chains),
            distincts=_ascending(distincts),
            squares=_ascending(squares),
            buckets=demands,
            stateful=stateful,
        )


def _ascending(windows: Mapping[_Key, set[int]]) -> dict[_Key, tuple[int, ...]]:
    return {key: tuple(sorted(lengths)) for key, lengths in windows.items()}


def _demand(measures: Iterable[Measure]) -> BucketDemand:
    windows = tuple(sorted({measure.window_ms for measure in measures}))
    return BucketDemand(windows, any(measure.function in ("MIN", "MAX") for measure in measures))


def remembers(version: RuleVersion) -> bool:
    """Whether alerts of the version depend on its earlier ones, so that it has a firing state."""
    definition = version.definition
    by_alerts = definition.reset_on_alert or definition.cooldown_seconds is not None
    return by_alerts or definition.firing == "crossing" or definition.late_events == "reevaluate"


def widest_needs(versions: Iterable[RuleVersion]) -> dict[tuple[str, str], int]:
    """By anchor and field, for how long (ms) some version needs rows."""
    widest: dict[tuple[str, str], int] = {}
    for version in versions:
        for name in version.fields:
            key = (version.anchor, name)
            widest[key] = max(widest.get(key, 0), version.needs_ms)
    return widest


def bucket_sets(versions: Iterable[RuleVersion]) -> dict[str, tuple[BucketKey, int]]:
    """By path, the bucket sets of the versions, each with the widest window (ms) of those versions."""
    demanded: dict[str, tuple[BucketKey, int]] = {}
    for version in versions:
        for measure in version.measures:
            if measure.buckets is not None:
                path = measure.buckets.path(version.anchor)
                _, widest = demanded.get(path, (measure.buckets, 0))
                demanded[path] = measure.buckets, max(widest, version.window_ms)
    return demanded
