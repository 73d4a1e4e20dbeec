"""The JSON of rules, versions and status."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rules_registry.domain.advice.rule_warning import RuleWarning
from rules_registry.domain.backfills import Backfill
from rules_registry.domain.event_record import rule_members, shadow_members
from rules_registry.domain.events import Command
from rules_registry.domain.issued_command import IssuedCommand
from rules_registry.domain.purposes.rule_purpose import purpose_json
from rules_registry.domain.reports.shard_reports import Exported, HeldRule, compare, held_json
from rules_registry.domain.rule_import import LineResult
from rules_registry.service.event_appender import RuleChange
from tripline_contracts.control_commands import payload_json

Json = dict[str, Any]
_EFFECTS: Mapping[Command, str] = {
    "CLEAR_STATE_ALL": "The engine forgets history and firing state once, at this position; rules stay.",
    "CLEAR_STATE_ALL_STOP": "Nothing changes: a clear happens once, at its position; none is standing.",
    "DELETE_RULES_ALL": "Every rule is retired for good, with one RuleDeleted event each, behind this position.",
    "EXPORT_RULES_CURRENT": "Every shard of the engine says which rules it holds; nothing changes.",
    "TRACE_RULE": "Each evaluation of the rule is told in rule-traces.v1, of transactions that are recorded before "
    "traceUntil; nothing changes.",
    "CLEAR_RULE": "The engine forgets what this rule knows, once, at this position: windows, firing states and "
    "cooldowns; other rules stay.",
    "CLEAR_GROUP": "The engine forgets what this rule knows of this group, once, at this position; its other groups "
    "and other rules stay.",
    "VOID_TRANSACTION": "From this position on the transaction is as if it had not been, but for what came of it: "
    "alerts stay and are marked. An alert with more contributors than it lists may rest on it without a mark.",
    "START_BACKFILL": "Records of transactions.v1 whose header backfill has this commandId are let in whatever their "
    "age. They count, and trigger nothing.",
    "END_BACKFILL": "Records of this backfill are rejected from this position on. With completeFrom history counts as "
    "whole from then on, as far as it is kept.",
}
_NOTHING: Mapping[str, None] = dict.fromkeys(
    ("ruleId", "traceUntil", "group", "transactionId", "eventTime", "backfillId", "completeFrom")
)
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
    "effectiveUntil",
    "percent",
    "position",
    "occurredAt",
    "actor",
)


def changed_rule_json(change: RuleChange) -> Json:
    """A rule right after a change."""
    rule = change.rule
    return {
        "ruleId": rule.rule_id,
        **rule_members(rule),
        "effectiveUntil": rule.effective_until,
        "shadow": shadow_members(rule.shadow),
        "position": change.position,
        "changedAt": change.changed_at,
        "changedBy": change.changed_by,
        "purpose": change.purpose.to_json(),
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
        "effectiveUntil": row["effective_until"],
        # rows from before there were rollouts have no share
        "shadow": row["shadow"] and {"percent": 0, **row["shadow"]},
        "position": row["position"],
        "changedAt": row["changed_at"],
        "changedBy": row["changed_by"],
        "purpose": purpose_json(row["purpose"]),
    }


def warnings_json(warnings: Iterable[RuleWarning]) -> list[Json]:
    """Warnings in their order."""
    return [
        {
            "code": warning.code,
            "field": warning.field,
            "message": warning.message,
            "ruleId": warning.rule_id,
        }
        for warning in warnings
    ]


def version_json(row: Mapping[str, Any]) -> Json:
    """An event of a rule as one of its versions, with the reason that was given for it."""
    return {**{name: row["body"].get(name) for name in _VERSION_FIELDS}, "reason": row["reason"]}


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


def command_json(command: IssuedCommand) -> Json:
    """A control command without what the shards answered."""
    return {
        "commandId": command.command_id,
        "command": command.control,
        "position": command.position,
        "lastPosition": command.last_position,
        "occurredAt": command.occurred_at,
        "actor": command.actor,
        "effect": _EFFECTS[command.control],
        "deletedRules": command.deleted_rules,
        **_NOTHING,
        **payload_json(command.payload),
    }


def backfill_json(backfill: Backfill) -> Json:
    """A backfill, ended or not."""
    end = backfill.end
    return {
        "backfillId": backfill.backfill_id,
        "position": backfill.position,
        "startedAt": backfill.started_at,
        "startedBy": backfill.started_by,
        "endedPosition": end and end.position,
        "endedAt": end and end.ended_at,
        "endedBy": end and end.ended_by,
        "completeFrom": end and end.complete_from,
    }


def export_json(exports: Sequence[Exported], published: Sequence[HeldRule]) -> Json:
    """The shards' answers to an export, each beside what was published."""
    answers = [_shard_json(export, published) for export in exports]
    shards = exports[0].shards if exports else None
    complete = len(answers) == shards
    return {
        "shards": shards,
        "complete": complete,
        "equal": all(answer["equal"] for answer in answers) if complete else None,
        "answers": answers,
    }


def _shard_json(export: Exported, published: Sequence[HeldRule]) -> Json:
    comparison = compare(published, export.rules)
    return {
        "shard": export.shard,
        "exportedAt": export.exported_at,
        "position": export.position,
        "equal": comparison.is_equal,
        "missing": list(comparison.missing),
        "unexpected": list(comparison.unexpected),
        "different": list(comparison.different),
        "rules": [held_json(rule) for rule in export.rules],
    }


def import_json(results: Sequence[LineResult]) -> Json:
    """The results of an import by record."""
    outcomes = [result.outcome for result in results]
    unchanged, refused = outcomes.count("unchanged"), outcomes.count("refused")
    return {
        "applied": len(outcomes) - unchanged - refused,
        "unchanged": unchanged,
        "refused": refused,
        "results": [_result_json(result) for result in results],
    }


def _result_json(result: LineResult) -> Json:
    return {
        "line": result.number,
        "outcome": result.outcome,
        "ruleId": result.rule_id,
        "version": result.version,
        "commandId": result.command_id,
        "firstPosition": result.first,
        "lastPosition": result.last,
        "errors": [{"field": problem.field, "message": problem.message} for problem in result.problems],
        "warnings": warnings_json(result.warnings),
    }
