"""The rule book of a shard: it applies events position by position, and knows the versions in force."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

import msgspec

from tripline_contracts import decimals, log_digest
from tripline_contracts.control_commands import ClearGroup, ClearRule, Group, TraceRule, read_command
from tripline_contracts.errors import ContractError
from tripline_contracts.event_members import read_integer, read_text
from tripline_contracts.event_type import EventType
from tripline_engine.domain.rules.event_decoder import decode, shadow_moved, version_of_event
from tripline_engine.domain.rules.exclusions import Exclusions
from tripline_engine.domain.rules.judged_spans import JudgedSpans, Span
from tripline_engine.domain.rules.list_history import ListHistory
from tripline_engine.domain.rules.log_position import LogPosition
from tripline_engine.domain.rules.named_value_events import NAMED_EVENTS, apply_named
from tripline_engine.domain.rules.named_values import NamedValues
from tripline_engine.domain.rules.rule_events import (
    CatchUp,
    ControlApplied,
    NamedValueChanged,
    RuleApplied,
    RuleEventGap,
    TolerancesChanged,
    UnreadableRuleEvent,
)
from tripline_engine.domain.rules.rule_version import (
    BEGINNING_OF_TIME,
    END_OF_TIME,
    Cleared,
    JudgingVersion,
    Rule,
    RuleVersion,
)
from tripline_engine.domain.rules.stored_rules import rule_of_json, rule_to_json
from tripline_engine.domain.rules.tolerances import Tolerances

_STATES: Final = ("ACTIVE", "PAUSED", "DELETED")
_SHADOW_EVENTS: Final = ("RuleShadowStarted", "RuleShadowRolledOut", "RuleShadowEnded", "RuleShadowPromoted")

AppliedEvent = RuleApplied | TolerancesChanged | ControlApplied | NamedValueChanged
ReadLists = Callable[[Mapping[str, Any]], Mapping[str, ListHistory]]


class RuleBook:
    """All rules, the tolerances, and the position of the last event applied.

    :ivar digest: the digest of the events applied after position `digest_from`, by `tripline_contracts.log_digest`
    :ivar is_waiting: whether an event was refused since the last one that was applied: it waits for the next position
    :ivar traced: by rule id, the record time (ms) before which its evaluations are traced
    :ivar judged: the spans that versions with `lateEvents: reevaluate` have judged
    :ivar named: the named lists and parameters
    :ivar backfills: the names of the open backfills
    :ivar accepted: by anchor, the transactions accepted so far; to be set before events are applied
    """

    def __init__(self, event_type: EventType) -> None:
        self._event_type = event_type
        self.rules: dict[int, Rule] = {}
        self.deleted: set[int] = set()
        self.traced: dict[int, int] = {}
        self.judged = JudgedSpans()
        self.named = NamedValues()
        self.backfills: set[str] = set()
        self.accepted = dict.fromkeys(event_type.all_anchors, 0)
        self.settings = Tolerances()
        self.position = 0
        self.digest, self.digest_from = log_digest.START, 0
        self.is_waiting = False

    def apply(self, data: bytes) -> AppliedEvent | None:
        """Apply an event of rules.v1, if it is the next one.

        :returns: None if there was nothing to apply: an older position, or a rule that is deleted
        :raises UnreadableRuleEvent: the book does not move, and waits for a readable event at its next position
        :raises RuleEventGap: the same for an event that is readable, but further ahead
        """
        try:
            event = decode(data)
            position = event["position"]
            if position <= self.position:
                return None
            if position > self.position + 1:
                raise RuleEventGap(position, self.position + 1)
            applied = self._apply_readable(event, position)
        except UnreadableRuleEvent as refused:
            self.is_waiting |= refused.position is None or refused.position > self.position
            raise
        except RuleEventGap:
            self.is_waiting = True
            raise
        self.position, self.is_waiting = position, False
        self.digest = log_digest.extend(self.digest, data)
        return applied

    def _apply_readable(self, event: Mapping[str, Any], position: int) -> AppliedEvent | None:
        try:
            return self._apply_event(event, position)
        except (LookupError, TypeError, AttributeError, ValueError, RecursionError, ContractError) as error:
            raise UnreadableRuleEvent(f"{type(error).__name__}: {error}", position) from error

    @property
    def log_position(self) -> LogPosition:
        """Where the book stands in rules.v1."""
        return LogPosition(self.position, self.digest, self.digest_from, self.is_waiting)

    def expire(self, clock: int) -> bool:
        """Drop superseded versions that can judge nothing any more; whether there were any."""
        changed = False
        for rule in list(self.rules.values()):
            kept = tuple(version for version in rule.versions if version.counts_at(clock, self.settings))
            if len(kept) < len(rule.versions):
                self.rules[rule.rule_id] = replace(rule, versions=kept)
                changed = True
        return changed

    def judging(self, anchor: str | None = None, oldest: int = BEGINNING_OF_TIME) -> Iterator[JudgingVersion]:
        """Every version in force and every shadow, on that anchor or anywhere, with the event times (ms) it judges.

        :param oldest: only those that judge anything from this event time (ms) on
        """
        for rule in self.rules.values():
            if not rule.paused:
                for judging in rule.judging(oldest):
                    if anchor is None or judging[0].anchor == anchor:
                        yield judging

    def versions(self) -> Iterator[RuleVersion]:
        """Every definition version still held, paused rules' and shadows too."""
        for rule in self.rules.values():
            yield from rule.held

    def live_versions(self) -> Iterator[RuleVersion]:
        """Every version held but the shadows."""
        for rule in self.rules.values():
            yield from rule.versions

    def hide(self, rule_ids: Iterable[int], hidden: Callable[[RuleVersion], Exclusions]) -> None:
        """Have the versions of these rules exclude what is hidden from them."""
        for rule_id in rule_ids:
            self.rules[rule_id] = self.rules[rule_id].excluding(hidden)

    def record_judged(self, work: CatchUp) -> None:
        """Record that a version has caught up."""
        version = work.version
        if version.definition.late_events == "reevaluate":
            accepted = self.accepted[version.anchor]
            self.judged.add(version.key, Span(0, accepted, version.effective_from, work.until))

    def record_judging(self, retained: Mapping[str, int]) -> None:
        """Record the versions in force for the next transactions, once all events before them are applied.

        :param retained: by anchor, the sequence number of the oldest transaction that is retained
        """
        self.named.compact(retained)
        self.rules = {rule_id: rule.of_retained(retained) for rule_id, rule in self.rules.items()}
        times = {version.key: (since, until) for version, since, until in self.judging()}
        reevaluating = [
            version for version in self.versions() if version.definition.late_events == "reevaluate"
        ]
        self.judged.keep(version.key for version in reevaluating)
        for version in reevaluating:
            anchor, judging = version.anchor, times.get(version.key)
            self.judged.record(version.key, judging, self.accepted[anchor], retained[anchor])

    def _apply_event(self, event: Mapping[str, Any], position: int) -> AppliedEvent | None:
        kind = event["type"]
        if kind == "SettingsChanged":
            self.settings = Tolerances.of(event["settings"])
            return TolerancesChanged(position)
        if kind == "ControlCommand":
            return self._control(event, position)
        if kind in NAMED_EVENTS:
            apply_named(self.named, event, self.accepted)
            return NamedValueChanged(position)
        return self._apply_to_rule(kind, event, position)

    def _control(self, event: Mapping[str, Any], position: int) -> ControlApplied:
        command, command_id = read_command(event), read_text(event, "commandId")
        match command:
            case TraceRule(rule_id, until) if rule_id in self.rules:
                self.traced[rule_id] = until
            case ClearRule(rule_id) if rule_id in self.rules:
                cleared = Cleared(position, dict(self.accepted))
                self.rules[rule_id] = self.rules[rule_id].clear(cleared)
            case ClearGroup(rule_id, group) if rule_id in self.rules:
                self._check(group)
                self.rules[rule_id] = self.rules[rule_id].clear_group(group, self.accepted)
            case _:
                pass  # of no effect on rules
        return ControlApplied(position, command_id, command)

    def _check(self, group: Group) -> None:
        """Raises LookupError or ContractError if it is no group by fields and parties of the event type."""
        for name, value in group:
            if self._event_type.party(name) is None and self._event_type.field(name).kind == "decimal":
                decimals.parse(value)

    def _apply_to_rule(self, kind: str, event: Mapping[str, Any], position: int) -> RuleApplied | None:
        rule_id, version = read_integer(event, "ruleId"), read_integer(event, "version")
        if event["state"] not in _STATES:
            raise ValueError(f"unknown state {event['state']!r}")
        if rule_id in self.deleted:
            return None
        if kind == "RulePublished":
            return self._publish(event, position, rule_id, version)
        rule = self.rules.get(rule_id)
        if kind in _SHADOW_EVENTS:
            return None if rule is None else self._move_shadow(rule, event, position, version)
        if kind == "RuleDeleted":
            self.rules.pop(rule_id, None)
            self.traced.pop(rule_id, None)
            self.deleted.add(rule_id)
        elif kind not in ("RulePaused", "RuleResumed"):
            raise ValueError(f"unknown type {kind!r}")
        elif rule is not None:
            self.rules[rule_id] = replace(rule, version=version, paused=kind == "RulePaused")
        return None if rule is None else RuleApplied(position, rule_id, version, rule.versions[-1])

    def _move_shadow(self, rule: Rule, event: Mapping[str, Any], position: int, version: int) -> RuleApplied:
        rule = replace(shadow_moved(rule, event, position, version, self._event_type), version=version)
        self.rules[rule.rule_id] = rule
        return RuleApplied(position, rule.rule_id, version, rule.shadow or rule.versions[-1])

    def _publish(self, event: Mapping[str, Any], position: int, rule_id: int, version: int) -> RuleApplied:
        newest = version_of_event(event, rule_id, version, self._event_type)
        rule = self.rules.get(rule_id)
        if rule is not None and rule.cleared is not None:
            newest = newest.excluding(rule.cleared.exclusions(rule_id, newest.anchor))
        if rule is None:
            paused, earliest = event["state"] == "PAUSED", END_OF_TIME
            self.rules[rule_id] = Rule(rule_id, version, paused, (newest,), newest.effective_from)
            return RuleApplied(position, rule_id, version, newest, CatchUp.of(newest, paused, earliest))
        rule.require_above(version)
        older = replace(rule.versions[-1], superseded_from=newest.effective_from)
        versions = (*rule.versions[:-1], older, newest)
        earliest = min(rule.earliest, newest.effective_from)
        # a new definition ends the shadow, which was to be compared with the old one
        changed = replace(rule, version=version, versions=versions, earliest=earliest, shadow=None)
        self.rules[rule_id], catch_up = changed, CatchUp.of(newest, rule.paused, rule.earliest)
        return RuleApplied(position, rule_id, version, newest, catch_up)

    def to_bytes(self) -> bytes:
        """The JSON that is stored in the state log."""
        return msgspec.json.encode(
            {
                "position": self.position,
                "digest": self.digest,
                "digestFrom": self.digest_from,
                "waiting": self.is_waiting,
                "settings": self.settings.to_json(),
                "deleted": sorted(self.deleted),
                "traced": sorted(self.traced.items()),
                "judged": self.judged.to_json(),
                "named": self.named.to_json(),
                "backfills": sorted(self.backfills),
                "rules": [rule_to_json(rule) for rule in self.rules.values()],
            }
        )

    @staticmethod
    def of_bytes(data: bytes, event_type: EventType, read_lists: ReadLists = dict) -> RuleBook:
        """The book of stored JSON; `read_lists` reads the lists that it names."""
        stored = msgspec.json.decode(data)
        book = RuleBook(event_type)
        # books from before had −1 before any event
        book.position = max(stored["position"], 0)
        # books from before these existed: the digest begins where they stand
        book.digest = stored.get("digest", log_digest.START)
        book.digest_from = stored.get("digestFrom", book.position)
        book.is_waiting = stored.get("waiting", False)
        book.settings = Tolerances.of(stored["settings"])
        book.deleted = set(stored["deleted"])
        # books from before these existed have none
        book.traced = dict(stored.get("traced", []))
        book.judged = JudgedSpans.of_json(stored.get("judged", []))
        named = stored.get("named", {})
        book.named = NamedValues.of_json(named, read_lists(named.get("lists", {})))
        book.backfills = set(stored.get("backfills", []))
        for rule in stored["rules"]:
            book.rules[rule["ruleId"]] = rule_of_json(rule, event_type)
        return book
