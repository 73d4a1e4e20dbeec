"""What an anchor's history has to maintain for the rules of a book: shared between rules and versions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from tripline_contracts.canonical import canonical_json, sha256_hex
from tripline_contracts.filters import Filter
from tripline_engine.domain.rule_book import RuleBook, RuleVersion


class Population(NamedTuple):
    """Whose transactions form a rule's groups: grouped by ``fields``, those that pass ``filter``."""

    fields: tuple[str, ...]
    filter: Filter | None

    @property
    def used(self) -> frozenset[str]:
        """The fields it looks at."""
        return frozenset(self.fields) | (self.filter.fields() if self.filter else frozenset())

    @property
    def name(self) -> str:
        """For the names of its arrays."""
        plain = "+".join(self.fields)
        if self.filter is None:
            return plain
        return f"{plain}.if.{sha256_hex(canonical_json(self.filter.to_json()))[:32]}"


RuleVersionKey = tuple[int, int]
"""Rule id and definition version."""


class TotalsKey(NamedTuple):
    """Count and sum over one window; ``field`` None for a count that looks at no field."""

    population: Population
    field: str | None
    window_ms: int


class ChainKey(NamedTuple):
    """Least (sign 1) or greatest (sign -1) value of a field."""

    population: Population
    field: str
    sign: int


class DistinctKey(NamedTuple):
    """How many different values a field has over one window."""

    population: Population
    field: str
    window_ms: int

    @property
    def equal(self) -> Population:
        """The population whose groups are the group and the value together."""
        fields = {*self.population.fields, self.field}
        return Population(tuple(sorted(fields)), self.population.filter)


@dataclass(frozen=True, slots=True)
class Structure:
    """Everything that the rules on one anchor read."""

    populations: frozenset[Population]
    totals: frozenset[TotalsKey]
    chains: dict[ChainKey, tuple[int, ...]]
    distincts: frozenset[DistinctKey]
    stateful: dict[RuleVersionKey, RuleVersion]

    @staticmethod
    def empty() -> Structure:
        """What an anchor without rules needs."""
        return Structure(frozenset(), frozenset(), {}, frozenset(), {})

    @staticmethod
    def of(book: RuleBook, anchor: str) -> Structure:
        """What the versions still held need, paused rules' too: they resume warm."""
        return Structure.of_versions(version for version in book.versions() if version.anchor == anchor)

    @staticmethod
    def of_versions(versions: Iterable[RuleVersion]) -> Structure:
        """What these versions, all on one anchor, need."""
        populations, totals, distincts, stateful = set(), set(), set(), {}
        chains: dict[ChainKey, set[int]] = {}
        for version in versions:
            populations.add(population_of(version))
            distinct, chain = distinct_key(version), chain_key(version)
            if distinct is not None:
                populations.add(distinct.equal)
            if remembers(version):
                stateful[version.key] = version
            if version.definition.reset_on_alert:
                continue  # its windows are its own
            if distinct is not None:
                distincts.add(distinct)
            else:
                totals.add(totals_key(version))
            if chain is not None:
                chains.setdefault(chain, set()).add(version.window_ms)
        widths = {key: tuple(sorted(windows)) for key, windows in chains.items()}
        return Structure(frozenset(populations), frozenset(totals), widths, frozenset(distincts), stateful)


def population_of(version: RuleVersion) -> Population:
    """The transactions that the version looks at."""
    return Population(version.definition.grouping_key_names, version.definition.filter)


def remembers(version: RuleVersion) -> bool:
    """Whether alerts of the version depend on its earlier ones: it has a firing state."""
    definition = version.definition
    by_alerts = definition.reset_on_alert or definition.cooldown_seconds is not None
    return by_alerts or definition.firing == "crossing" or definition.late_events == "reevaluate"


def distinct_key(version: RuleVersion) -> DistinctKey | None:
    """What a COUNT_DISTINCT version reads."""
    definition = version.definition
    if definition.function != "COUNT_DISTINCT":
        return None
    assert definition.aggregate_field is not None
    return DistinctKey(population_of(version), definition.aggregate_field, version.window_ms)


def totals_key(version: RuleVersion) -> TotalsKey:
    """The totals that a version reads; one for MIN and MAX reads only their count."""
    return TotalsKey(population_of(version), version.definition.aggregate_field, version.window_ms)


def chain_key(version: RuleVersion) -> ChainKey | None:
    """The chain that a MIN or MAX version reads."""
    definition = version.definition
    if definition.function not in ("MIN", "MAX"):
        return None
    assert definition.aggregate_field is not None
    sign = 1 if definition.function == "MIN" else -1
    return ChainKey(population_of(version), definition.aggregate_field, sign)
