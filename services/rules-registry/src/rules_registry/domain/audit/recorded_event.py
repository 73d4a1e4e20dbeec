"""What an event of the log says in the audit trail: its subject, and how that stood before and after."""

from __future__ import annotations

from typing import Any

from rules_registry.domain.actor import Actor
from rules_registry.domain.audit.audit_entry import Happening, State, Subject
from rules_registry.domain.engine_settings import SettingsState
from rules_registry.domain.event_record import EventRecord, event_members, rule_members, settings_json
from rules_registry.domain.events import (
    ControlCommand,
    ListChanged,
    ListEntriesChanged,
    ParameterChanged,
    RuleShadowRolledOut,
    RuleShadowStarted,
    SettingsChanged,
)
from rules_registry.domain.named_value import NamedEntry, NamedValue, value_json
from rules_registry.domain.rule import Rule, evolve
from tripline_contracts.canonical import canonical_json, sha256_hex
from tripline_contracts.control_commands import payload_json

Before = Rule | SettingsState | NamedEntry | None
"""How the subject of an event stood before it."""


def happening_of(recorded: EventRecord, before: Before, actor: Actor) -> Happening:
    """What the trail says of the event."""
    subject, after = _subject_and_after(recorded, before)
    return Happening(
        recorded.type, recorded.occurred_at, actor, subject, recorded.position, _before(before), after
    )


def _subject_and_after(recorded: EventRecord, before: Before) -> tuple[Subject, State]:
    event = recorded.event
    match event:
        case SettingsChanged():
            return Subject("settings", None), _settings_state(event.version, settings_json(event.settings))
        case ControlCommand():
            command = {"command": event.command, **payload_json(event.payload)}
            return Subject("command", event.command_id), command
        case ListChanged():
            return Subject("list", event.name), _named_state(event.version, event.values)
        case ListEntriesChanged():
            return Subject("list", event.name), _entries_state(event)
        case ParameterChanged():
            return Subject("parameter", event.name), _named_state(event.version, event.value)
        case RuleShadowStarted() | RuleShadowRolledOut():
            # the rule stands as it did: told is what runs beside it
            return Subject("rule", str(event.rule_id)), event_members(event)
    rule = evolve(before if isinstance(before, Rule) else None, event)
    return Subject("rule", str(rule.rule_id)), rule_members(rule)


def _before(before: Before) -> State | None:
    match before:
        case None:
            return None
        case Rule():
            return rule_members(before)
        case SettingsState():
            return _settings_state(before.version, settings_json(before.settings))
        case NamedEntry():
            if before.value is None:
                return {"version": before.version, "entries": before.size}
            return _named_state(before.version, before.value)


def _settings_state(version: int, settings: dict[str, int]) -> dict[str, Any]:
    return {"version": version, **settings}


def _entries_state(event: ListEntriesChanged) -> dict[str, Any]:
    """How many entries came and went, and the hash of these: they themselves stand in the event."""
    change = event.change
    digest = sha256_hex(canonical_json(change.to_json()))
    counts = {"added": len(change.added), "removed": len(change.removed)}
    return {"version": event.version, **counts, "sha256": digest}


def _named_state(version: int, value: NamedValue) -> dict[str, Any]:
    """Of a list its size and hash: the texts themselves stand in the event."""
    shown = value_json(value)
    if isinstance(shown, str):
        return {"version": version, "value": shown}
    digest = sha256_hex(canonical_json(shown))
    return {"version": version, "entries": len(shown), "sha256": digest}
