"""The rules as one shard holds them: events in position order go in, versions in force come out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

import msgspec

from tripline_contracts import decimals, rule_definition
from tripline_contracts.canonical import canonical_json, sha256_hex
from tripline_contracts.errors import ContractError
from tripline_contracts.event_type import EventType
from tripline_contracts.names import read_list, read_name, read_parameter
from tripline_engine.domain.rules.commands import (
    ClearGroup,
    ClearRule,
    TraceRule,
    is_integer,
    read_command,
    read_integer,
    read_text,
)
from tripline_engine.domain.rules.exclusions import Group
from tripline_engine.domain.rules.judged_spans import JudgedSpans, Span
from tripline_engine.domain.rules.named_values import NamedValues
from tripline_engine.domain.rules.rule_events import (
    CatchUp,
    ControlApplied,
    NamedValueChanged,
    RuleApplied,
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
    rule_of_json,
    rule_to_json,
    version_of,
)
from tripline_engine.domain.rules.tolerances import Tolerances

_STATES: Final = ("ACTIVE", "PAUSED", "DELETED")


AppliedEvent = RuleApplied | TolerancesChanged | ControlApplied | NamedValueChanged


class RuleBook:
    """All rules, the settings, and the position of the last event taken.

    :ivar traced: by rule id, until which record time (ms, exclusive) its evaluations are told
    :ivar judged: what the versions that judge again (`lateEvents: reevaluate`) have judged
    :ivar named: the named lists and parameters
    :ivar backfills: the names of those that stand
    :ivar accepted: by anchor, how many transactions have been accepted; to be told before events are taken
    """

    def __init__(self, event_type: EventType) -> None:
        self._event_type = event_type
        self.rules: dict[int, Rule] = {}
        self.deleted: set[int] = set()
        self.traced: dict[int, int] = {}
        self.judged = JudgedSpans()
        self.named = NamedValues()
        self.backfills: set[str] = set()
        self.accepted = dict.fromkeys(event_type.anchors, 0)
        self.settings = Tolerances()
        self.position = -1

    def apply(self, data: bytes) -> AppliedEvent | None:
        """Take an event of rules.v1.

        :returns: None if there was nothing to take: an older position, or a rule that is deleted
        :raises UnreadableRuleEvent: its position, if any, is taken all the same
        """
        try:
            event = _decode(data)
        except UnreadableRuleEvent as unreadable:
            self.position = max(self.position, -1 if unreadable.position is None else unreadable.position)
            raise
        position = event["position"]
        if position <= self.position:
            return None
        self.position = position
        try:
            return self._apply_event(event, position)
        except (LookupError, TypeError, AttributeError, ValueError, RecursionError, ContractError) as error:
            raise UnreadableRuleEvent(f"{type(error).__name__}: {error}", position) from error

    def expire(self, clock: int) -> bool:
        """Let go of superseded versions that can judge nothing any more; whether there were any."""
        changed = False
        for rule in list(self.rules.values()):
            kept = tuple(version for version in rule.versions if version.counts_at(clock, self.settings))
            if len(kept) < len(rule.versions):
                self.rules[rule.rule_id] = replace(rule, versions=kept)
                changed = True
        return changed

    def judging(self, anchor: str | None = None, oldest: int = BEGINNING_OF_TIME) -> Iterator[JudgingVersion]:
        """Every version in force, on that anchor or anywhere, with the event times (ms) it judges.

        :param oldest: only those that judge anything from this event time (ms) on
        """
        for rule in self.rules.values():
            if not rule.paused:
                for judging in rule.in_force(oldest):
                    if anchor is None or judging[0].anchor == anchor:
                        yield judging

    def versions(self) -> Iterator[RuleVersion]:
        """Every definition version still held, paused rules' too."""
        for rule in self.rules.values():
            yield from rule.versions

    def record_judged(self, work: CatchUp) -> None:
        """A version has caught up."""
        version = work.version
        if version.definition.late_events == "reevaluate":
            accepted = self.accepted[version.anchor]
            self.judged.add(version.key, Span(0, accepted, version.effective_from, work.until))

    def record_judging(self, retained: Mapping[str, int]) -> None:
        """All events up to the next transactions are taken: what they will be judged by.

        :param retained: by anchor, the sequence number of the oldest transaction that is retained
        """
        self.named.compact(retained)
        self.rules = {rule_id: rule.of_retained(retained) for rule_id, rule in self.rules.items()}
        times = {version.key: (since, until) for version, since, until in self.judging()}
        again = [each for each in self.versions() if each.definition.late_events == "reevaluate"]
        self.judged.keep(version.key for version in again)
        for version in again:
            anchor, listening = version.anchor, times.get(version.key)
            self.judged.follow(version.key, listening, self.accepted[anchor], retained[anchor])

    def _apply_event(self, event: Mapping[str, Any], position: int) -> AppliedEvent | None:
        kind = event["type"]
        if kind == "SettingsChanged":
            self.settings = Tolerances.of(event["settings"])
            return TolerancesChanged(position)
        if kind == "ControlCommand":
            return self._control(event, position)
        if kind == "ListChanged":
            self.named.set_list(read_name(event["name"]), read_list(event["values"]), self.accepted)
            return NamedValueChanged(position)
        if kind == "ParameterChanged":
            value = decimals.to_scaled(read_parameter(event["value"]))
            self.named.set_parameter(read_name(event["name"]), value, self.accepted)
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
                pass  # none of the rules' business
        return ControlApplied(position, command_id, command)

    def _check(self, group: Group) -> None:
        """LookupError or ContractError if it is no group by fields of the event type."""
        for name, value in group:
            if self._event_type.field(name).kind == "decimal":
                decimals.parse(value)

    def _apply_to_rule(self, kind: str, event: Mapping[str, Any], position: int) -> RuleApplied | None:
        rule_id, version = read_integer(event, "ruleId"), read_integer(event, "version")
        if event["state"] not in _STATES:
            raise ValueError(f"unknown state {event['state']!r}")
        if rule_id in self.deleted:
            return None
        if kind == "RulePublished":
            return self._publish(event, position, rule_id, version)
        known = self.rules.get(rule_id)
        if kind == "RuleDeleted":
            self.rules.pop(rule_id, None)
            self.traced.pop(rule_id, None)
            self.deleted.add(rule_id)
        elif kind not in ("RulePaused", "RuleResumed"):
            raise ValueError(f"unknown type {kind!r}")
        elif known is not None:
            self.rules[rule_id] = replace(known, version=version, paused=kind == "RulePaused")
        return None if known is None else RuleApplied(position, rule_id, version, known.versions[-1])

    def _publish(self, event: Mapping[str, Any], position: int, rule_id: int, version: int) -> RuleApplied:
        newest = self._version(event, rule_id, version)
        known = self.rules.get(rule_id)
        if known is not None and known.cleared is not None:
            newest = newest.excluding(known.cleared.exclusions(rule_id, newest.anchor))
        if known is None:
            paused, earliest = event["state"] == "PAUSED", END_OF_TIME
            self.rules[rule_id] = Rule(rule_id, version, paused, (newest,), newest.effective_from)
            return RuleApplied(position, rule_id, version, newest, _catch_up(newest, paused, earliest))
        if version <= known.versions[-1].version:
            raise ValueError(f"version {version} of rule {rule_id} is not above {known.versions[-1].version}")
        older = replace(known.versions[-1], superseded_from=newest.effective_from)
        versions = (*known.versions[:-1], older, newest)
        earliest = min(known.earliest, newest.effective_from)
        self.rules[rule_id] = replace(known, version=version, versions=versions, earliest=earliest)
        catch_up = _catch_up(newest, known.paused, known.earliest)
        return RuleApplied(position, rule_id, version, newest, catch_up)

    def _version(self, event: Mapping[str, Any], rule_id: int, version: int) -> RuleVersion:
        definition = rule_definition.parse(event["definition"], self._event_type)
        name, digest = event["name"], event["definitionHash"]
        if not isinstance(name, str) or digest != sha256_hex(canonical_json(event["definition"])):
            raise ValueError("name must be a text, and definitionHash the hash of the definition")
        since = read_integer(event, "effectiveFrom")
        return version_of(rule_id, version, name, definition, digest, since, None, self._event_type)

    def to_bytes(self) -> bytes:
        """The book as it is stored."""
        return msgspec.json.encode(
            {
                "position": self.position,
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
    def of_bytes(data: bytes, event_type: EventType) -> RuleBook:
        """A book as ``to_bytes`` wrote it."""
        stored = msgspec.json.decode(data)
        book = RuleBook(event_type)
        book.position = stored["position"]
        book.settings = Tolerances.of(stored["settings"])
        book.deleted = set(stored["deleted"])
        # books that were written before there were such things have none
        book.traced = dict(stored.get("traced", []))
        book.judged = JudgedSpans.of_json(stored.get("judged", []))
        book.named = NamedValues.of_json(stored.get("named", {}))
        book.backfills = set(stored.get("backfills", []))
        for rule in stored["rules"]:
            book.rules[rule["ruleId"]] = rule_of_json(rule, event_type)
        return book


def _decode(data: bytes) -> dict[str, Any]:
    try:
        event = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UnreadableRuleEvent(str(error), position_of(data)) from error
    if not isinstance(event, dict) or not is_integer(event.get("position")):
        raise UnreadableRuleEvent("expected an object with an integer position", None)
    return event


def position_of(data: bytes) -> int | None:
    """The event's position, even of one that cannot be read otherwise: a number may be beyond 64 bits, say."""
    try:
        position = msgspec.json.decode(data, type=_Positioned).position
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return position if is_integer(position) else None


class _Positioned(msgspec.Struct):
    position: int


def _catch_up(version: RuleVersion, paused: bool, until: int) -> CatchUp | None:
    """None for a definition taken while paused: what it reaches counts as skipped."""
    return CatchUp(version, until) if not paused and version.effective_from < until else None
