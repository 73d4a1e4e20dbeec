"""The JSON of rules, versions and status."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rules_registry.service.registry import RuleChange

Json = dict[str, Any]
_VERSION_FIELDS = (
    "ruleId",
    "version",
    "definitionVersion",
    "type",
    "state",
    "name",
    "definition",
    "definitionHash",
    "effectiveFrom",
    "position",
    "occurredAt",
    "actor",
)


def changed_rule_json(change: RuleChange) -> Json:
    """A rule right after a change."""
    rule = change.rule
    return {
        "ruleId": rule.rule_id,
        "version": rule.version,
        "definitionVersion": rule.definition_version,
        "state": rule.state,
        "name": rule.name,
        "definition": rule.definition.to_json(),
        "definitionHash": rule.definition.hash,
        "effectiveFrom": rule.effective_from,
        "position": change.position,
        "changedAt": change.changed_at,
        "changedBy": change.changed_by,
    }


def rule_json(row: Mapping[str, Any]) -> Json:
    """A row of the rules."""
    return {
        "ruleId": row["rule_id"],
        "version": row["version"],
        "definitionVersion": row["definition_version"],
        "state": row["state"],
        "name": row["name"],
        "definition": row["definition"],
        "definitionHash": row["definition_hash"],
        "effectiveFrom": row["effective_from"],
        "position": row["position"],
        "changedAt": row["changed_at"],
        "changedBy": row["changed_by"],
    }


def version_json(body: Mapping[str, Any]) -> Json:
    """An event of a rule as one of its versions."""
    return {name: body[name] for name in _VERSION_FIELDS}


def status_json(row: Mapping[str, Any]) -> Json:
    """Published beside applied."""
    return {
        "ruleId": row["rule_id"],
        "name": row["name"],
        "state": row["state"],
        "publishedVersion": row["published_version"],
        "publishedPosition": row["published_position"],
        "appliedVersion": row["applied_version"],
        "appliedPosition": row["applied_position"],
        "appliedAt": row["applied_at"],
        "warmFrom": row["warm_from"],
    }
