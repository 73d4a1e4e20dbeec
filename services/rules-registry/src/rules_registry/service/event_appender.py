"""Appending to the log within one transaction: each decided event gets its position."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rules_registry.domain.active_rules import ActiveRules
from rules_registry.domain.actor import Actor
from rules_registry.domain.audit.recorded_event import Before, happening_of
from rules_registry.domain.commands import ChangeOfRule, PublishRule
from rules_registry.domain.decisions import decide
from rules_registry.domain.event_record import EventRecord, needing_of, widest_after
from rules_registry.domain.events import Event, RulePublished, RuleShadowRolledOut, RuleShadowStarted
from rules_registry.domain.history_quota import HistoryQuota
from rules_registry.domain.named.named_value_decisions import references
from rules_registry.domain.purposes.rule_purpose import Purpose
from rules_registry.domain.rule import Rule, evolve
from rules_registry.errors import NameTaken, UnfitDefinition, UnknownNames, WrongState
from rules_registry.service.audit_writer import tell
from rules_registry.service.ports import Clock, Log, NewId
from tripline_contracts.errors import Problem
from tripline_contracts.filters.named_values import Kind
from tripline_contracts.rules.anchors import anchor_of
from tripline_contracts.rules.rule_definition import RuleDefinition
from tripline_contracts.rules.widest_windows import widest_windows_after


@dataclass(frozen=True, slots=True)
class RuleChange:
    """A rule after its last event, with when (ms) and by whom it was changed, and what it is for, which no event
    changes."""

    rule: Rule
    position: int
    changed_at: int
    changed_by: str
    purpose: Purpose = field(default_factory=Purpose)


@dataclass(frozen=True, slots=True)
class EventAppender:
    """Appends for one caller, to the log and to the audit trail. With `standing`, which then has to hold every rule
    that is not deleted, many changes cost the database no more than their own rows. With `shared_names` a rule may be
    called as another one is."""

    log: Log
    actor: Actor
    clock: Clock
    new_event_id: NewId
    standing: ActiveRules | None = None
    room: HistoryQuota | None = None
    shared_names: bool = False

    def apply(self, rule: Rule | None, command: PublishRule | ChangeOfRule) -> RuleChange:
        """The rule after the command. Raises what `decide` and `require_fit` raise, and `NameTaken`, before anything is
        written."""
        event = decide(rule, command, self.clock())
        if isinstance(event, RulePublished | RuleShadowStarted):
            self.require_fit(event.definition)
            self._require_name(event, rule)
        if isinstance(event, RuleShadowStarted):
            self._require_history(event)
        if isinstance(event, RuleShadowRolledOut):
            self._require_anchor(event, rule)
        changed = evolve(rule, event)
        recorded = self.append(event, changed, rule)
        return RuleChange(changed, recorded.position, recorded.occurred_at, self.actor.name)

    def require_fit(self, definition: RuleDefinition) -> None:
        """Raises `UnfitDefinition` where the definition cannot be published here."""
        self._require_names(definition)
        if self.room is not None:
            self.room.require(definition)

    def _require_history(self, event: RuleShadowStarted) -> None:
        """Raises `UnfitDefinition`: history of an anchor begins with a rule, and a shadow must not be seen by rules."""
        event_type = self.log.event_type
        anchor = anchor_of(event.definition, event_type)
        kept = {anchor_of(rule.definition, event_type) for rule in self.log.rules()}
        if anchor not in kept.union(event_type.kept_anchors):
            problem = Problem(
                "groupingKeyNames", f"expected a grouping whose history rules keep: by {anchor} none does"
            )
            raise UnfitDefinition("A shadow sees the history that is there for rules.", [problem])

    def _require_anchor(self, event: RuleShadowRolledOut, rule: Rule | None) -> None:
        """Raises `WrongState`: of an anchor of its own the history may go, and its groups would have no alerts."""
        event_type = self.log.event_type
        if rule is not None and anchor_of(event.definition, event_type) != anchor_of(
            rule.definition, event_type
        ):
            raise WrongState(
                f"Version {event.definition_version} reads the history by another field than rule {rule.rule_id}."
            )

    def _require_name(self, event: RulePublished | RuleShadowStarted, rule: Rule | None) -> None:
        """Raises `NameTaken`; a rule keeps the name that it has."""
        if self.shared_names or (rule is not None and rule.name == event.name):
            return
        other = self.log.named_alike(event.name, event.rule_id)
        if other is not None:
            raise NameTaken(event.name, other)

    def _require_names(self, definition: RuleDefinition) -> None:
        """Raises `UnknownNames` unless every list and parameter that the definition names exists. Nobody deletes one,
        so a rule that was published stays valid."""
        named = references(definition)
        existing: dict[Kind, frozenset[str]] = {
            kind: self.log.known_names(
                kind, {reference.name for reference in named if reference.kind == kind}
            )
            for kind in {reference.kind for reference in named}
        }
        missing = [reference for reference in named if reference.name not in existing[reference.kind]]
        if missing:
            raise UnknownNames(
                [
                    Problem(reference.field, f"there is no {reference.kind} {reference.name!r} yet")
                    for reference in missing
                ]
            )

    def append(
        self, event: Event, rule: Rule | None, before: Before = None, now_ms: int | None = None
    ) -> EventRecord:
        """The event at the end of the log; `rule` is what it makes, `None` where it changes none, and `before` is how
        its subject stood. It happens now, unless it was decided for a time of its own."""
        recorded = EventRecord(
            position=self.log.next_position(),
            event_id=self.new_event_id(),
            occurred_at=self.clock() if now_ms is None else now_ms,
            actor=self.actor.name,
            event=event,
            widest=self._widest(rule),
        )
        self.log.append(recorded, rule)
        tell(self.log, happening_of(recorded, before, self.actor))
        return recorded

    def _widest(self, rule: Rule | None) -> tuple[Mapping[str, object], ...]:
        if self.standing is not None:
            if rule is not None:
                self.standing.take(rule)
            return self.standing.widest()
        last = self.log.last_widest()
        if rule is None:
            return last
        # Ten thousand rules are looked at only where this one was the widest somewhere and is it no longer.
        told = widest_windows_after(last, rule.rule_id, needing_of(rule))
        return widest_after(self.log.needing(rule.rule_id), rule) if told is None else tuple(told)
