"""A rule in a shard: its definition versions that still count, and the event times that each judges."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from tripline_contracts.control_commands import Group
from tripline_contracts.event_type import SIDE, EventType
from tripline_contracts.rules.anchors import anchor_of, party_of
from tripline_contracts.rules.grouping_keys import field_of
from tripline_contracts.rules.rule_definition import RuleDefinition
from tripline_engine.domain.rules.exclusions import NO_EXCLUSIONS, Exclusions
from tripline_engine.domain.rules.measures import (
    Measure,
    Population,
    measures_of,
    population_of,
    window_start,
)
from tripline_engine.domain.rules.tolerances import Tolerances

END_OF_TIME: Final = 2**63 - 1
"""Milliseconds; after all event times."""
BEGINNING_OF_TIME: Final = -(2**63)
"""Milliseconds; before all event times."""

RuleVersionKey = tuple[int, int]
"""Rule id and definition version."""
Stage = Literal["live", "shadow", "promoted"]
"""`shadow`: it judges beside its rule's versions, and its alerts are told apart; `promoted`: it has done so before."""


@dataclass(frozen=True, slots=True)
class RuleVersion:
    """One definition version of a rule.

    :ivar effective_from: event time in ms from which it judges
    :ivar effective_until: event time in ms from which it judges nothing; None for as long as it is in force
    :ivar superseded_from: ``effective_from`` of the next definition version; None for the newest
    :ivar fields: names of the fields it uses, the event time among them
    :ivar population: the transactions that trigger it, by its groups
    :ivar measures: its conditions
    :ivar exclusions: what operators have cleared of it; population and measures leave it out
    :ivar stage: one that is or was a shadow sees the history that is kept for shadows
    :ivar percent: of groups for which it counts while it is a shadow, in place of the rule's own versions
    """

    rule_id: int
    version: int
    name: str
    definition: RuleDefinition
    definition_hash: str
    effective_from: int
    effective_until: int | None
    superseded_from: int | None
    anchor: str
    fields: frozenset[str]
    population: Population
    measures: tuple[Measure, ...]
    exclusions: Exclusions = NO_EXCLUSIONS
    stage: Stage = "live"
    percent: int = 0

    @property
    def is_shadow(self) -> bool:
        """Whether nothing but its own alerts comes of what it judges, and these are told apart."""
        return self.stage == "shadow"

    @property
    def chained(self) -> bool:
        """Whether the version has a tree of conditions."""
        return self.definition.conditions is not None

    @property
    def all_measures(self) -> tuple[Measure, ...]:
        """Its conditions, each before the measure behind its limit."""
        return tuple(measure for condition in self.measures for measure in condition.with_baseline)

    @property
    def key(self) -> RuleVersionKey:
        """Rule id and version."""
        return self.rule_id, self.version

    @property
    def window_ms(self) -> int:
        """Length of the widest window."""
        return self.definition.window_seconds * 1000

    @property
    def bucket_ms(self) -> int | None:
        """Length of the buckets of which its windows consist; None for exact windows."""
        seconds = self.definition.bucket_seconds
        return None if seconds is None else seconds * 1000

    @property
    def needs_ms(self) -> int:
        """The time for which it needs rows: its window, or a bucket."""
        return self.window_ms if self.bucket_ms is None else self.bucket_ms

    def window_start(self, time: int) -> int:
        """The start of its widest window that ends at that event time (both ms)."""
        return window_start(time, self.window_ms, self.bucket_ms)

    def excluding(self, exclusions: Exclusions) -> RuleVersion:
        """The version with these exclusions."""
        if exclusions == self.exclusions:
            return self
        return replace(
            self,
            population=population_of(self.definition, exclusions),
            measures=measures_of(self.definition, self.fields, exclusions),
            exclusions=exclusions,
        )

    def judges_before(self, successor_from: int) -> int:
        """The event time (ms) from which it judges nothing, its successor being in force from that one on."""
        return successor_from if self.effective_until is None else min(self.effective_until, successor_from)

    def counts_at(self, clock: int | None, settings: Tolerances) -> bool:
        """Whether history must still be retained for it: a superseded version's transactions may come late."""
        if self.superseded_from is None or clock is None:
            return True
        return clock <= self.superseded_from + settings.allowed_lateness_ms + settings.max_disorder_ms


JudgingVersion = tuple[RuleVersion, int, int]
"""A version and the event times (ms) that it judges: from the first, before the second."""


@dataclass(frozen=True, slots=True)
class Cleared:
    """The last clear of a rule; it holds for later versions too, on whatever anchor.

    :ivar position: of the command, the same in all shards
    :ivar accepted: by anchor, the transactions that the shard had accepted by then
    """

    position: int
    accepted: Mapping[str, int]

    def exclusions(self, rule_id: int, anchor: str) -> Exclusions:
        """The exclusions of the rule's versions on that anchor; one that was declared since had accepted nothing."""
        return Exclusions(self.accepted.get(anchor, 0), cleared_by=(rule_id, self.position))


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that is not deleted.

    :ivar versions: ascending, the newest always among them
    :ivar earliest: the least ``effective_from`` of all versions so far, dropped ones included
    :ivar shadow: the version that runs beside them
    """

    rule_id: int
    version: int
    paused: bool
    versions: tuple[RuleVersion, ...]
    earliest: int
    cleared: Cleared | None = None
    shadow: RuleVersion | None = None

    @property
    def held(self) -> tuple[RuleVersion, ...]:
        """Its versions, and its shadow."""
        return self.versions if self.shadow is None else (*self.versions, self.shadow)

    def judging(self, oldest: int) -> Iterator[JudgingVersion]:
        """The versions in force, and the shadow, which judges all event times that it is for."""
        yield from self.in_force(oldest)
        if self.shadow is not None:
            before = self.shadow.judges_before(END_OF_TIME)
            if before > max(self.shadow.effective_from, oldest):
                yield self.shadow, self.shadow.effective_from, before

    def with_shadow(self, shadow: RuleVersion, position: int) -> Rule:
        """The rule beside which this version runs, started at that position; nobody else reads its bucket sets."""
        cleared = self.cleared and self.cleared.exclusions(self.rule_id, shadow.anchor)
        exclusions = cleared or shadow.exclusions
        if shadow.bucket_ms is not None:
            exclusions = replace(exclusions, cleared_by=(self.rule_id, -position))
        return replace(self, shadow=replace(shadow.excluding(exclusions), stage="shadow"))

    def require_above(self, version: int) -> None:
        """Raises ValueError unless that number is above those of all versions and of the shadow."""
        highest = self.held[-1].version
        if version <= highest:
            raise ValueError(f"version {version} of rule {self.rule_id} is not above {highest}")

    def promoting(self) -> Rule:
        """The rule whose shadow is in force from its ``effective_from`` on, with all that it knows."""
        assert self.shadow is not None
        older = replace(self.versions[-1], superseded_from=self.shadow.effective_from)
        versions = (*self.versions[:-1], older, replace(self.shadow, stage="promoted", percent=0))
        earliest = min(self.earliest, self.shadow.effective_from)
        return replace(self, versions=versions, earliest=earliest, shadow=None)

    def in_force(self, oldest: int) -> Iterator[JudgingVersion]:
        """Each version with the event times (ms) it judges: from the first, before the second.

        :param oldest: versions that judge nothing from this event time on are left out: a rule that changes each second
            has hundreds, which wait for late transactions
        """
        until = END_OF_TIME
        for version in reversed(self.versions):
            if until <= oldest:
                return
            if version.effective_from < until:
                before = version.judges_before(until)
                if before > max(version.effective_from, oldest):
                    yield version, version.effective_from, before
                # one whose time is over is in force all the same: no older one comes back
                until = version.effective_from

    def clear(self, cleared: Cleared) -> Rule:
        """The rule that excludes everything accepted before."""
        rule = self.excluding(lambda version: cleared.exclusions(self.rule_id, version.anchor))
        rule = replace(rule, cleared=cleared)
        return rule if rule.shadow is None else rule.with_shadow(rule.shadow, cleared.position)

    def excluding(self, exclusions: Callable[[RuleVersion], Exclusions]) -> Rule:
        """The rule whose versions, its shadow too, have these exclusions."""
        held = tuple(version.excluding(exclusions(version)) for version in self.held)
        if held == self.held:
            return self
        count = len(self.versions)
        return replace(self, versions=held[:count], shadow=held[count] if self.shadow else None)

    def grouped_by(self, fields: tuple[str, ...]) -> Iterator[RuleVersion]:
        """The versions with groups of their own by just these fields; chained and bucketed ones share theirs."""
        for version in self.held:
            has_groups = not version.chained and version.definition.precision == "exact"
            if has_groups and version.definition.grouping_key_names == fields:
                yield version

    def clear_group(self, group: Group, accepted: Mapping[str, int]) -> Rule:
        """The rule that excludes what was accepted of one group; ``accepted``: by anchor, the transactions so far."""
        cleared = {
            version.key: version.exclusions.and_group(group, accepted[version.anchor])
            for version in self.grouped_by(tuple(name for name, _ in group))
        }
        return self.excluding(lambda version: cleared.get(version.key, version.exclusions))

    def of_retained(self, retained: Mapping[str, int]) -> Rule:
        """The rule whose versions exclude only retained transactions, so that they share lists with others again.

        :param retained: by anchor, the sequence number of the oldest transaction that is retained
        """

        def retaining(version: RuleVersion) -> Exclusions:
            # buckets hold excluded transactions long after these have left the history
            if version.bucket_ms is not None:
                return version.exclusions
            return version.exclusions.of_retained(retained[version.anchor])

        return self.excluding(retaining)


def version_of(
    rule_id: int,
    version: int,
    name: str,
    definition: RuleDefinition,
    definition_hash: str,
    effective_from: int,
    effective_until: int | None,
    event_type: EventType,
) -> RuleVersion:
    """The newest version of its rule, with all that follows from its definition; times in ms."""
    fields = _used(definition, event_type)
    if party_of(definition, event_type) is not None:
        fields |= {SIDE}  # which alerts say
    return RuleVersion(
        rule_id=rule_id,
        version=version,
        name=name,
        definition=definition,
        definition_hash=definition_hash,
        effective_from=effective_from,
        effective_until=effective_until,
        superseded_from=None,
        anchor=anchor_of(definition, event_type),
        fields=fields,
        population=population_of(definition, NO_EXCLUSIONS),
        measures=measures_of(definition, fields, NO_EXCLUSIONS),
    )


def _used(definition: RuleDefinition, event_type: EventType) -> frozenset[str]:
    fields = {event_type.time_field.name}
    for measure in definition.measures:
        fields |= {field_of(key) for key in measure.grouping_key_names}
        if measure.aggregate_field is not None:
            fields.add(measure.aggregate_field)
    for rows in (definition.filter, *(measure.filter for measure in definition.measures)):
        if rows is not None:
            fields |= rows.fields()
    return frozenset(fields)
