"""Bytes of rules.v1 as an event with a position, whatever else can be read of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import msgspec

from tripline_contracts.canonical import canonical_json, sha256_hex
from tripline_contracts.event_members import is_integer, read_integer
from tripline_contracts.event_type import EventType
from tripline_contracts.rules import rule_definition
from tripline_contracts.rules.rollout import read_percent
from tripline_engine.domain.rules.rule_events import UnreadableRuleEvent
from tripline_engine.domain.rules.rule_version import Rule, RuleVersion, version_of

MAX_EVENT_BYTES: Final = 4 << 20
"""A longer event is unreadable, whatever it says: rules.v1 takes a quarter of that, and of a longer one a reader may
have no more than the beginning."""


def decode(data: bytes) -> dict[str, Any]:
    """The event's members, with an integer position. Raises UnreadableRuleEvent."""
    if len(data) > MAX_EVENT_BYTES:
        raise UnreadableRuleEvent(f"more than {MAX_EVENT_BYTES} bytes", None)
    try:
        event = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UnreadableRuleEvent(str(error), position_of(data)) from error
    if not isinstance(event, dict) or not is_integer(event.get("position")):
        raise UnreadableRuleEvent("expected an object with an integer position", None)
    return event


def position_of(data: bytes) -> int | None:
    """The event's position, even if nothing else of it can be read: a number may be beyond 64 bits, say."""
    if len(data) > MAX_EVENT_BYTES:
        return None
    try:
        position = msgspec.json.decode(data, type=_Positioned).position
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return position if is_integer(position) else None


def version_of_event(
    event: Mapping[str, Any], rule_id: int, version: int, event_type: EventType
) -> RuleVersion:
    """The version that an event brings. Raises ValueError, or what the parser of definitions raises."""
    definition = rule_definition.parse(event["definition"], event_type)
    name, digest = event["name"], event["definitionHash"]
    if not isinstance(name, str) or digest != sha256_hex(canonical_json(event["definition"])):
        raise ValueError("name must be a text, and definitionHash the hash of the definition")
    since = read_integer(event, "effectiveFrom")
    until = read_integer(event, "effectiveUntil") if "effectiveUntil" in event else None
    return version_of(rule_id, version, name, definition, digest, since, until, event_type)


def shadow_moved(
    rule: Rule, event: Mapping[str, Any], position: int, version: int, event_type: EventType
) -> Rule:
    """The rule after an event of its shadow. Raises as `version_of_event` does, and ValueError for what cannot be."""
    match event["type"], rule.shadow:
        case "RuleShadowStarted", _:
            started = version_of_event(event, rule.rule_id, version, event_type)
            rule.require_above(version)
            return rule.with_shadow(started, position)
        case "RuleShadowRolledOut", RuleVersion() as shadow if shadow.version == event["definitionVersion"]:
            return replace(rule, shadow=replace(shadow, percent=read_percent(event, shadow.percent)))
        case "RuleShadowPromoted", RuleVersion() as shadow if shadow.version == event["definitionVersion"]:
            return rule.promoting()
        case "RuleShadowEnded", _:
            return replace(rule, shadow=None)
        case _:
            raise ValueError(f"version {event['definitionVersion']} is no shadow of rule {rule.rule_id}")


class _Positioned(msgspec.Struct):
    position: int
