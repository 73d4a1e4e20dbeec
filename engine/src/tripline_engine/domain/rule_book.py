"""The rules as one shard holds them: events in position order go in, versions in force come out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, get_args

import msgspec

from tripline_contracts import decimals, rule_definition
from tripline_contracts.anchors import anchor_of
from tripline_contracts.canonical import canonical_json, sha256_hex
from tripline_contracts.errors import ContractError
from tripline_contracts.event_type import EventType
from tripline_contracts.names import read_list, read_name, read_parameter
from tripline_contracts.rule_definition import RuleDefinition
from tripline_engine.domain.judged import JudgedSpans, Span
from tripline_engine.domain.named import Named
from tripline_engine.domain.part import Part, Population, parts_of, population_of
from tripline_engine.domain.settings import Settings

_STATES: Final = ("ACTIVE", "PAUSED", "DELETED")
Command = Literal[
    "CLEAR_STATE_ALL", "CLEAR_STATE_ALL_STOP", "EXPORT_RULES_CURRENT", "DELETE_RULES_ALL", "TRACE_RULE"
]
_END_OF_TIME: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class RuleVersion:
    """One definition version of a rule.

    :ivar effective_from: event time in ms from which it judges
    :ivar superseded_from: ``effective_from`` of the next definition version; None for the newest
    :ivar fields: names of the fields it uses, the event time among them
    :ivar population: the transactions that trigger it, by its groups
    :ivar parts: its conditions
    """

    rule_id: int
    version: int
    name: str
    definition: RuleDefinition
    definition_hash: str
    effective_from: int
    superseded_from: int | None
    anchor: str
    fields: frozenset[str]
    population: Population
    parts: tuple[Part, ...]

    @property
    def chained(self) -> bool:
        """Whether it has conditions in a tree."""
        return self.definition.conditions is not None

    @property
    def key(self) -> tuple[int, int]:
        """Rule id and version."""
        return self.rule_id, self.version

    @property
    def window_ms(self) -> int:
        """Length of the window, of several the widest."""
        return self.definition.window_seconds * 1000

    def counts_at(self, clock: int | None, settings: Settings) -> bool:
        """Whether history must still be kept for it: a superseded version's transactions may yet come late."""
        if self.superseded_from is None or clock is None:
            return True
        return clock <= self.superseded_from + settings.allowed_lateness_ms + settings.max_disorder_ms


JudgingVersion = tuple[RuleVersion, int, int]
"""A version and the event times (ms) that it judges: from the first, before the second."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that is not deleted.

    :ivar versions: ascending, the newest always among them
    :ivar earliest: the least ``effective_from`` that any version has had, those let go of included
    """

    rule_id: int
    version: int
    paused: bool
    versions: tuple[RuleVersion, ...]
    earliest: int

    def in_force(self) -> Iterator[JudgingVersion]:
        """Each version with the event times (ms) it judges: from the first, before the second."""
        until = _END_OF_TIME
        for version in reversed(self.versions):
            if version.effective_from < until:
                yield version, version.effective_from, until
                until = version.effective_from


@dataclass(frozen=True, slots=True)
class CatchUp:
    """A version just taken that reaches back: it judges what was accepted before and no version was in force for.

    :ivar until: event times (ms) from ``version.effective_from`` to before this
    """

    version: RuleVersion
    until: int


@dataclass(frozen=True, slots=True)
class RuleTaken:
    """An event of a rule was taken.

    :ivar version: the event's number
    :ivar newest: the newest definition version
    """

    position: int
    rule_id: int
    version: int
    newest: RuleVersion
    catch_up: CatchUp | None = None


@dataclass(frozen=True, slots=True)
class SettingsTaken:
    """The settings have changed."""

    position: int


@dataclass(frozen=True, slots=True)
class ControlTaken:
    """A command of an operator was taken."""

    position: int
    command: Command
    command_id: str


@dataclass(frozen=True, slots=True)
class NamesTaken:
    """A named list or parameter has changed."""

    position: int


Taken = RuleTaken | SettingsTaken | ControlTaken | NamesTaken


class UnreadableRuleEvent(Exception):
    """A rule event that this engine cannot read; ``position`` if that much could be told."""

    def __init__(self, reason: str, position: int | None) -> None:
        super().__init__(reason)
        self.position = position


class RuleBook:
    """All rules, the settings, and the position of the last event taken.

    :ivar traced: by rule id, until which record time (ms, exclusive) its evaluations are told
    :ivar judged: what the versions that judge again (`lateEvents: reevaluate`) have judged
    :ivar named: the named lists and parameters
    :ivar accepted: by anchor, how many transactions have been accepted; to be told before events are taken
    """

    def __init__(self, event_type: EventType) -> None:
        self._event_type = event_type
        self.rules: dict[int, Rule] = {}
        self.deleted: set[int] = set()
        self.traced: dict[int, int] = {}
        self.judged = JudgedSpans()
        self.named = Named()
        self.accepted = dict.fromkeys(event_type.anchors, 0)
        self.settings = Settings()
        self.position = -1

    def take(self, data: bytes) -> Taken | None:
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
            return self._apply(event, position)
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

    def judging(self, anchor: str | None = None) -> Iterator[JudgingVersion]:
        """Every version in force, on that anchor or anywhere, with the event times (ms) it judges."""
        for rule in self.rules.values():
            if not rule.paused:
                for judging in rule.in_force():
                    if anchor is None or judging[0].anchor == anchor:
                        yield judging

    def versions(self) -> Iterator[RuleVersion]:
        """Every definition version still held, paused rules' too."""
        for rule in self.rules.values():
            yield from rule.versions

    def note_judged(self, work: CatchUp) -> None:
        """A version has caught up."""
        version = work.version
        if version.definition.late_events == "reevaluate":
            accepted = self.accepted[version.anchor]
            self.judged.add(version.key, Span(0, accepted, version.effective_from, work.until))

    def follow(self, retained: Mapping[str, int]) -> None:
        """All events up to the next transactions are taken: what they will be judged by.

        :param retained: by anchor, the sequence number of the oldest transaction that is retained
        """
        self.named.forget(retained)
        times = {version.key: (since, until) for version, since, until in self.judging()}
        again = [each for each in self.versions() if each.definition.late_events == "reevaluate"]
        self.judged.keep(version.key for version in again)
        for version in again:
            anchor, listening = version.anchor, times.get(version.key)
            self.judged.follow(version.key, listening, self.accepted[anchor], retained[anchor])

    def _apply(self, event: Mapping[str, Any], position: int) -> Taken | None:
        kind = event["type"]
        if kind == "SettingsChanged":
            self.settings = Settings.of(event["settings"])
            return SettingsTaken(position)
        if kind == "ControlCommand":
            return self._control(event, position)
        if kind == "ListChanged":
            self.named.set_list(read_name(event["name"]), read_list(event["values"]), self.accepted)
            return NamesTaken(position)
        if kind == "ParameterChanged":
            value = decimals.to_scaled(read_parameter(event["value"]))
            self.named.set_parameter(read_name(event["name"]), value, self.accepted)
            return NamesTaken(position)
        return self._apply_to_rule(kind, event, position)

    def _control(self, event: Mapping[str, Any], position: int) -> ControlTaken:
        command, command_id = event["command"], event["commandId"]
        if command not in get_args(Command) or not isinstance(command_id, str):
            raise ValueError(f"unknown command {command!r}, or commandId is not a text")
        if command == "TRACE_RULE":
            rule_id, until = _integer(event, "ruleId"), _integer(event, "traceUntil")
            if rule_id in self.rules:
                self.traced[rule_id] = until
        return ControlTaken(position, command, command_id)

    def _apply_to_rule(self, kind: str, event: Mapping[str, Any], position: int) -> RuleTaken | None:
        rule_id, version = _integer(event, "ruleId"), _integer(event, "version")
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
        return None if known is None else RuleTaken(position, rule_id, version, known.versions[-1])

    def _publish(self, event: Mapping[str, Any], position: int, rule_id: int, version: int) -> RuleTaken:
        newest = self._version(event, rule_id, version)
        known = self.rules.get(rule_id)
        if known is None:
            paused, earliest = event["state"] == "PAUSED", _END_OF_TIME
            self.rules[rule_id] = Rule(rule_id, version, paused, (newest,), newest.effective_from)
            return RuleTaken(position, rule_id, version, newest, _catch_up(newest, paused, earliest))
        if version <= known.versions[-1].version:
            raise ValueError(f"version {version} of rule {rule_id} is not above {known.versions[-1].version}")
        older = replace(known.versions[-1], superseded_from=newest.effective_from)
        versions = (*known.versions[:-1], older, newest)
        earliest = min(known.earliest, newest.effective_from)
        self.rules[rule_id] = Rule(rule_id, version, known.paused, versions, earliest)
        catch_up = _catch_up(newest, known.paused, known.earliest)
        return RuleTaken(position, rule_id, version, newest, catch_up)

    def _version(self, event: Mapping[str, Any], rule_id: int, version: int) -> RuleVersion:
        definition = rule_definition.parse(event["definition"], self._event_type)
        name, digest = event["name"], event["definitionHash"]
        if not isinstance(name, str) or digest != sha256_hex(canonical_json(event["definition"])):
            raise ValueError("name must be a text, and definitionHash the hash of the definition")
        since = _integer(event, "effectiveFrom")
        return _version(rule_id, version, name, definition, digest, since, None, self._event_type)

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
                "rules": [_rule_to_json(rule) for rule in self.rules.values()],
            }
        )

    @staticmethod
    def of_bytes(data: bytes, event_type: EventType) -> RuleBook:
        """A book as ``to_bytes`` wrote it."""
        stored = msgspec.json.decode(data)
        book = RuleBook(event_type)
        book.position = stored["position"]
        book.settings = Settings.of(stored["settings"])
        book.deleted = set(stored["deleted"])
        # books that were written before there were such things have none
        book.traced = dict(stored.get("traced", []))
        book.judged = JudgedSpans.of_json(stored.get("judged", []))
        book.named = Named.of_json(stored.get("named", {}))
        for rule in stored["rules"]:
            book.rules[rule["ruleId"]] = _rule_of_json(rule, event_type)
        return book


def _decode(data: bytes) -> dict[str, Any]:
    try:
        event = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UnreadableRuleEvent(str(error), _position_of(data)) from error
    if not isinstance(event, dict) or not _is_integer(event.get("position")):
        raise UnreadableRuleEvent("expected an object with an integer position", None)
    return event


def _position_of(data: bytes) -> int | None:
    """The position of an event that cannot be read otherwise: a number may be beyond 64 bits, say."""
    try:
        position = msgspec.json.decode(data, type=_Positioned).position
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return position if _is_integer(position) else None


class _Positioned(msgspec.Struct):
    position: int


def _catch_up(version: RuleVersion, paused: bool, until: int) -> CatchUp | None:
    """None for a definition taken while paused: what it reaches counts as skipped."""
    return CatchUp(version, until) if not paused and version.effective_from < until else None


def _integer(event: Mapping[str, Any], name: str) -> int:
    value = event[name]
    if not _is_integer(value):
        raise ValueError(f"{name} must be an integer that JSON can carry")
    return int(value)


def _is_integer(value: object) -> bool:
    # beyond 2**53 canonical JSON, and so an alert's id, knows no integers
    return isinstance(value, int) and not isinstance(value, bool) and -(2**53) < value < 2**53


def _version(
    rule_id: int,
    version: int,
    name: str,
    definition: RuleDefinition,
    definition_hash: str,
    effective_from: int,
    superseded_from: int | None,
    event_type: EventType,
) -> RuleVersion:
    fields = _used(definition, event_type)
    return RuleVersion(
        rule_id=rule_id,
        version=version,
        name=name,
        definition=definition,
        definition_hash=definition_hash,
        effective_from=effective_from,
        superseded_from=superseded_from,
        anchor=anchor_of(definition, event_type),
        fields=fields,
        population=population_of(definition),
        parts=parts_of(definition, fields),
    )


def _used(definition: RuleDefinition, event_type: EventType) -> frozenset[str]:
    fields = {event_type.time_field.name}
    for condition in definition.measured:
        fields |= {*condition.grouping_key_names}
        if condition.aggregate_field is not None:
            fields.add(condition.aggregate_field)
        if condition.filter is not None:
            fields |= condition.filter.fields()
    if definition.filter is not None:
        fields |= definition.filter.fields()
    return frozenset(fields)


def _rule_to_json(rule: Rule) -> dict[str, Any]:
    versions = [
        {
            "version": version.version,
            "name": version.name,
            "definition": version.definition.to_json(),
            "definitionHash": version.definition_hash,
            "effectiveFrom": version.effective_from,
            "supersededFrom": version.superseded_from,
        }
        for version in rule.versions
    ]
    return {
        "ruleId": rule.rule_id,
        "version": rule.version,
        "paused": rule.paused,
        "earliest": rule.earliest,
        "versions": versions,
    }


def _rule_of_json(stored: Mapping[str, Any], event_type: EventType) -> Rule:
    versions = [
        _version(
            stored["ruleId"],
            item["version"],
            item["name"],
            rule_definition.parse(item["definition"], event_type),
            item["definitionHash"],
            item["effectiveFrom"],
            item["supersededFrom"],
            event_type,
        )
        for item in stored["versions"]
    ]
    return Rule(stored["ruleId"], stored["version"], stored["paused"], tuple(versions), stored["earliest"])
