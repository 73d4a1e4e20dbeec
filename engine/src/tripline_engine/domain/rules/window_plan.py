"""What an anchor's history has to maintain for the rules of a book: shared between rules and versions."""

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
    TotalsKey,
)
from tripline_engine.domain.rules.rule_book import RuleBook
from tripline_engine.domain.rules.rule_version import RuleVersion, RuleVersionKey

_Key = TypeVar("_Key")


class BucketDemand(NamedTuple):
    """What the versions on one bucket set ask of it: window lengths (ms), and whether MIN or MAX."""

    windows: tuple[int, ...]
    seeks: bool


@dataclass(frozen=True, slots=True)
class WindowPlan:
    """Everything that the rules on one anchor read.

    :ivar used: the fields that they use
    :ivar totals: with the lengths of their windows (ms), ascending; chains and distincts too
    """

    used: frozenset[str]
    populations: frozenset[Population]
    totals: dict[TotalsKey, tuple[int, ...]]
    chains: dict[ChainKey, tuple[int, ...]]
    distincts: dict[DistinctKey, tuple[int, ...]]
    buckets: dict[BucketKey, BucketDemand]
    stateful: dict[RuleVersionKey, RuleVersion]

    @staticmethod
    def empty() -> WindowPlan:
        """What an anchor without rules needs."""
        return WindowPlan(frozenset(), frozenset(), {}, {}, {}, {}, {})

    @staticmethod
    def of(book: RuleBook, anchor: str) -> WindowPlan:
        """What the versions still held need, paused rules' too: they resume warm."""
        return WindowPlan.of_versions(version for version in book.versions() if version.anchor == anchor)

    @staticmethod
    def of_versions(versions: Iterable[RuleVersion]) -> WindowPlan:
        """What these versions, all on one anchor, need."""
        used: frozenset[str] = frozenset()
        populations, stateful = set(), {}
        totals: dict[TotalsKey, set[int]] = {}
        distincts: dict[DistinctKey, set[int]] = {}
        chains: dict[ChainKey, set[int]] = {}
        bucketed: dict[BucketKey, list[Measure]] = {}
        for version in versions:
            used |= version.fields
            populations.add(version.population)
            if remembers(version):
                stateful[version.key] = version
            for part in version.measures:
                populations |= {part.population, part.members}
                if version.definition.reset_on_alert:
                    continue  # its windows are its own
                if part.totals is not None:
                    totals.setdefault(part.totals, set()).add(part.window_ms)
                if part.distinct is not None:
                    distincts.setdefault(part.distinct, set()).add(part.window_ms)
                if part.buckets is not None:
                    bucketed.setdefault(part.buckets, []).append(part)
                if part.chain is not None:
                    chains.setdefault(part.chain, set()).add(part.window_ms)
        layouts = {key: _layout(parts) for key, parts in bucketed.items()}
        return WindowPlan(
            used=used,
            populations=frozenset(populations),
            totals=_ascending(totals),
            chains=_ascending(chains),
            distincts=_ascending(distincts),
            buckets=layouts,
            stateful=stateful,
        )


def _ascending(windows: Mapping[_Key, set[int]]) -> dict[_Key, tuple[int, ...]]:
    return {key: tuple(sorted(own)) for key, own in windows.items()}


def _layout(parts: Iterable[Measure]) -> BucketDemand:
    windows = tuple(sorted({part.window_ms for part in parts}))
    return BucketDemand(windows, any(part.function in ("MIN", "MAX") for part in parts))


def remembers(version: RuleVersion) -> bool:
    """Whether alerts of the version depend on its earlier ones: it has a firing state."""
    definition = version.definition
    by_alerts = definition.reset_on_alert or definition.cooldown_seconds is not None
    return by_alerts or definition.firing == "crossing" or definition.late_events == "reevaluate"
