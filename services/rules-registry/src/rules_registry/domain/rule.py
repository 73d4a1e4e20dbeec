"""A rule as it stands, and how events make it so."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from rules_registry.domain.events import (
    RuleDeleted,
    RuleEvent,
    RulePublished,
    RuleShadowEnded,
    RuleShadowPromoted,
    RuleShadowRolledOut,
    RuleShadowStarted,
)
from tripline_contracts.rules.rule_definition import RuleDefinition

MAX_NAME: Final = 200
"""Code points of a rule's name."""
NO_RULE: Final = 0
"""No rule has this id."""
RuleState = Literal["ACTIVE", "PAUSED", "DELETED"]


@dataclass(frozen=True, slots=True)
class Shadow:
    """A version that runs beside a rule's own, and counts for that percent of groups; times in ms."""

    version: int
    name: str
    definition: RuleDefinition
    effective_from: int
    effective_until: int | None
    percent: int = 0


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule after some event. `effective_from` and `effective_until` (None: no end) are event times in ms;
    `version` grows with every event,
    `definition_version` is the version that brought the definition."""

    rule_id: int
    version: int
    definition_version: int
    state: RuleState
    name: str
    definition: RuleDefinition
    effective_from: int
    effective_until: int | None
    shadow: Shadow | None = None


def evolve(rule: Rule | None, event: RuleEvent) -> Rule:
    """The rule after the event. Events of a rule come in the order of their versions; only the first has no
    rule.
    """
    if isinstance(event, RulePublished) or (rule is not None and isinstance(event, RuleShadowPromoted)):
        return Rule(
            rule_id=event.rule_id,
            version=event.version,
            definition_version=event.definition_version,
            state=event.state,
            name=event.name,
            definition=event.definition,
            effective_from=event.effective_from,
            effective_until=event.effective_until,
        )
    if rule is None:
        raise ValueError(f"rule {event.rule_id} begins with {type(event).__name__}, not with RulePublished")
    shadow = rule.shadow
    if isinstance(event, RuleShadowStarted):
        times = event.effective_from, event.effective_until
        shadow = Shadow(event.version, event.name, event.definition, *times)
    elif isinstance(event, RuleShadowRolledOut):
        shadow = shadow and dataclasses.replace(shadow, percent=event.percent)
    elif isinstance(event, RuleShadowEnded | RuleDeleted):
        shadow = None
    return dataclasses.replace(rule, version=event.version, state=event.state, shadow=shadow)


def fold(events: Iterable[RuleEvent]) -> Rule | None:
    """The rule after all of its events; `None` after none."""
    rule: Rule | None = None
    for event in events:
        rule = evolve(rule, event)
    return rule
