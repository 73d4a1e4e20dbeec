"""Rows of the log and its projections as values of the domain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from rules_registry.domain.audit.audit_entry import AuditEntry, ChainHead, Subject
from rules_registry.domain.backfills import Backfill, BackfillEnd
from rules_registry.domain.named_value import NamedEntry, NamedValue, value_from_json
from rules_registry.domain.review.change_request import ChangeRequest, Content
from rules_registry.domain.rule import Rule, Shadow
from tripline_contracts.event_type import EventType
from tripline_contracts.filters.named_values import Kind, Parameter
from tripline_contracts.rules.rule_definition import RuleDefinition, parse


def definition_of(data: Mapping[str, object], event_type: EventType) -> RuleDefinition:
    """A stored definition; what was accepted once is always read again."""
    return parse(data, event_type)


def rule_of(row: Mapping[str, Any], event_type: EventType) -> Rule:
    """A row of registry.rules."""
    return Rule(
        rule_id=row["rule_id"],
        version=row["version"],
        definition_version=row["definition_version"],
        state=row["state"],
        name=row["name"],
        definition=definition_of(row["definition"], event_type),
        effective_from=row["effective_from"],
        effective_until=row["effective_until"],
        shadow=None if row["shadow"] is None else _shadow_of(row["shadow"], event_type),
    )


def _shadow_of(data: Mapping[str, Any], event_type: EventType) -> Shadow:
    definition = definition_of(data["definition"], event_type)
    times = data["effectiveFrom"], data["effectiveUntil"]
    # rows from before there were rollouts have none
    return Shadow(data["version"], data["name"], definition, *times, data.get("percent", 0))


def alike_of(row: Mapping[str, Any], definition: RuleDefinition) -> Rule:
    """A row of a rule that differs from the definition in limit and window at most: to parse two hundred of them would
    take longer than to publish one. Of chained rules even these are the same."""
    alike = definition
    if row["window_seconds"] is not None:
        limit = row["limit_value"]
        alike = replace(
            definition,
            limit=Decimal(limit) if isinstance(limit, str) else Parameter(limit["parameter"]),
            window_seconds=row["window_seconds"],
        )
    return Rule(
        rule_id=row["rule_id"],
        version=row["version"],
        definition_version=row["definition_version"],
        state=row["state"],
        name=row["name"],
        definition=alike,
        effective_from=row["effective_from"],
        effective_until=row["effective_until"],
    )


def backfill_of(row: Mapping[str, Any]) -> Backfill:
    """A row of `backfill_statements`."""
    end = (row["ended_position"], row["ended_at"], row["ended_by"], row["complete_from"])
    return Backfill(
        backfill_id=row["backfill_id"],
        position=row["position"],
        started_at=row["started_at"],
        started_by=row["started_by"],
        end=None if row["ended_position"] is None else BackfillEnd(*end),
    )


def named_of(row: Mapping[str, Any]) -> NamedEntry:
    """A row of registry.named_values."""
    return NamedEntry(
        kind=row["kind"],
        name=row["name"],
        version=row["version"],
        value=_value_of(row["kind"], row["value"]),
        position=row["position"],
        changed_at=row["changed_at"],
        changed_by=row["changed_by"],
        long=row["size"] or 0,
        has_ends=row["has_ends"],
    )


def _value_of(kind: Kind, value: Any) -> NamedValue | None:
    """What was accepted once is not checked again; a list that is too long comes without."""
    if kind == "list":
        return None if value is None else tuple(value)
    return value_from_json(kind, value)


def entry_of(row: Mapping[str, Any]) -> AuditEntry:
    """A row of the audit trail."""
    return AuditEntry(row["sequence"], row["body"], row["hash"])


def head_of(row: Mapping[str, Any] | None) -> ChainHead:
    """The last row of the audit trail; None where there is none."""
    return ChainHead() if row is None else ChainHead(row["sequence"], row["hash"])


def change_of(row: Mapping[str, Any]) -> ChangeRequest:
    """A row of `change_statements`."""
    return ChangeRequest(
        change_id=row["change_id"],
        revision=row["revision"],
        content=Content(row["kind"], Subject(row["subject_kind"], row["subject_id"]), row["content"]),
        state=row["state"],
        editors=tuple(row["editors"]),
        created_at=row["created_at"],
        changed_at=row["changed_at"],
        break_glass=row["break_glass"],
        decided_by=row["decided_by"],
        decided_at=row["decided_at"],
        position=row["position"],
        reason=row["reason"],
    )
