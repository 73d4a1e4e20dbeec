"""An event as the log holds it: the value of a record of rules.v1."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rules_registry.domain.engine_settings import EngineSettings
from rules_registry.domain.events import (
    ControlCommand,
    Event,
    ListChanged,
    ListEntriesChanged,
    ParameterChanged,
    RuleEvent,
    RuleShadowRolledOut,
    SettingsChanged,
)
from rules_registry.domain.named_value import value_json
from rules_registry.domain.rule import Rule, Shadow
from tripline_contracts.control_commands import payload_json
from tripline_contracts.rules.widest_windows import Needing, widest_windows


@dataclass(frozen=True, slots=True)
class EventRecord:
    """An event with its place in the log. `position` has no gaps and grows in the order of commits;
    `occurred_at` is in ms; `widest` is what the engine must keep after this event."""

    position: int
    event_id: str
    occurred_at: int
    actor: str
    event: Event
    widest: tuple[Mapping[str, object], ...]

    @property
    def type(self) -> str:
        """The event's name."""
        return type(self.event).__name__


def widest_after(others: Iterable[Needing], rule: Rule | None) -> tuple[Mapping[str, object], ...]:
    """The widest windows once `rule` stands as it does beside the others (`None`: no rule changed)."""
    needing = list(others)
    if rule is not None:
        needing = [entry for entry in needing if entry[0] != rule.rule_id]
        changed = needing_of(rule)
        if changed is not None:
            needing.append(changed)
    return tuple(widest_windows(needing))


def needing_of(rule: Rule) -> Needing | None:
    """What a rule needs history for; None where it needs none any more."""
    return None if rule.state == "DELETED" else (rule.rule_id, rule.definition_version, rule.definition)


def to_json(recorded: EventRecord) -> dict[str, Any]:
    """The value of the record in rules.v1."""
    head: dict[str, Any] = {
        "eventId": recorded.event_id,
        "type": recorded.type,
        "position": recorded.position,
        "occurredAt": recorded.occurred_at,
        "actor": recorded.actor,
        "widestWindows": [dict(entry) for entry in recorded.widest],
    }
    if isinstance(recorded.event, SettingsChanged):
        return head | {"settings": settings_json(recorded.event.settings)}
    if isinstance(recorded.event, ControlCommand):
        return head | _command_json(recorded.event)
    if isinstance(recorded.event, ListChanged | ListEntriesChanged | ParameterChanged):
        return head | _named_json(recorded.event)
    return head | {"ruleId": recorded.event.rule_id, **event_members(recorded.event)}


def settings_json(settings: EngineSettings) -> dict[str, int]:
    """The four settings under their JSON names."""
    return {
        "allowedLatenessSeconds": settings.allowed_lateness_seconds,
        "maxFutureSkewSeconds": settings.max_future_skew_seconds,
        "maxDisorderSeconds": settings.max_disorder_seconds,
        "idlePartitionSeconds": settings.idle_partition_seconds,
    }


def settings_from_json(data: Mapping[str, int]) -> EngineSettings:
    """The inverse of `settings_json`."""
    return EngineSettings(
        allowed_lateness_seconds=data["allowedLatenessSeconds"],
        max_future_skew_seconds=data["maxFutureSkewSeconds"],
        max_disorder_seconds=data["maxDisorderSeconds"],
        idle_partition_seconds=data["idlePartitionSeconds"],
    )


def _command_json(event: ControlCommand) -> dict[str, Any]:
    return {"command": event.command, "commandId": event.command_id, **payload_json(event.payload)}


def _named_json(event: ListChanged | ListEntriesChanged | ParameterChanged) -> dict[str, Any]:
    changed = {"name": event.name, "version": event.version}
    if isinstance(event, ListEntriesChanged):
        return changed | event.change.to_json()
    if isinstance(event, ListChanged):
        return changed | {"values": value_json(event.values)}
    return changed | {"value": value_json(event.value)}


def rule_members(rule: Rule | RuleEvent) -> dict[str, Any]:
    """A rule as it stands, without its id."""
    return {
        "version": rule.version,
        "definitionVersion": rule.definition_version,
        "state": rule.state,
        "name": rule.name,
        "definition": rule.definition.to_json(),
        "definitionHash": rule.definition.hash,
        "effectiveFrom": rule.effective_from,
        # left out, as in events of before there were ends: these are compared byte by byte
        **({} if rule.effective_until is None else {"effectiveUntil": rule.effective_until}),
    }


def event_members(event: RuleEvent) -> dict[str, Any]:
    """What an event says of a rule, or of its shadow."""
    percent = {"percent": event.percent} if isinstance(event, RuleShadowRolledOut) else {}
    return {**rule_members(event), **percent}


def shadow_members(shadow: Shadow | None) -> dict[str, Any] | None:
    """A rule's shadow; None where it has none."""
    if shadow is None:
        return None
    return {
        "version": shadow.version,
        "name": shadow.name,
        "definition": shadow.definition.to_json(),
        "definitionHash": shadow.definition.hash,
        "effectiveFrom": shadow.effective_from,
        "effectiveUntil": shadow.effective_until,
        "percent": shadow.percent,
    }
