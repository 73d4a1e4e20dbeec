"""What an anchor's history has to maintain for the rules of a book: shared between rules and versions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from tripline_engine.domain.rule_book import RuleBook, RuleVersion

Grouping = tuple[str, ...]


class TotalsKey(NamedTuple):
    """Count and sum over one window; ``field`` None for a count that looks at no field."""

    grouping: Grouping
    field: str | None
    window_ms: int


class ChainKey(NamedTuple):
    """Least (sign 1) or greatest (sign -1) value of a field."""

    grouping: Grouping
    field: str
    sign: int


@dataclass(frozen=True, slots=True)
class Structure:
    """Everything that the rules on one anchor read."""

    groupings: frozenset[Grouping]
    totals: frozenset[TotalsKey]
    chains: dict[ChainKey, tuple[int, ...]]

    @staticmethod
    def empty() -> Structure:
        """What an anchor without rules needs."""
        return Structure(frozenset(), frozenset(), {})

    @staticmethod
    def of(book: RuleBook, anchor: str) -> Structure:
        """What the versions still held need, paused rules' too: they resume warm."""
        versions = [version for version in book.versions() if version.anchor == anchor]
        chains: dict[ChainKey, set[int]] = {}
        for version in versions:
            key = chain_key(version)
            if key is not None:
                chains.setdefault(key, set()).add(version.window_ms)
        return Structure(
            groupings=frozenset(version.definition.grouping_key_names for version in versions),
            totals=frozenset(totals_key(version) for version in versions),
            chains={key: tuple(sorted(windows)) for key, windows in chains.items()},
        )


def totals_key(version: RuleVersion) -> TotalsKey:
    """The totals that a version reads; one for MIN and MAX reads only their count."""
    definition = version.definition
    return TotalsKey(definition.grouping_key_names, definition.aggregate_field, version.window_ms)


def chain_key(version: RuleVersion) -> ChainKey | None:
    """The chain that a MIN or MAX version reads."""
    definition = version.definition
    if definition.function not in ("MIN", "MAX"):
        return None
    assert definition.aggregate_field is not None
    sign = 1 if definition.function == "MIN" else -1
    return ChainKey(definition.grouping_key_names, definition.aggregate_field, sign)
