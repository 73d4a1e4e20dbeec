"""Payloads of control commands, decided from the current state, or the reason for refusal."""

from __future__ import annotations

from rules_registry.domain.backfills import Backfill
from rules_registry.domain.commands import ClearGroup, ClearRule, EndBackfill, TraceRule
from rules_registry.domain.rule import Rule
from rules_registry.errors import (
    BackfillHasEnded,
    BackfillNotFound,
    GroupNotCleared,
    RuleIsDeleted,
    RuleNotFound,
)
from tripline_contracts import control_commands
from tripline_contracts.rules.grouping_keys import step_of


def decide_of_rule(
    rule: Rule | None, command: TraceRule | ClearRule | ClearGroup, now_ms: int
) -> control_commands.TraceRule | control_commands.ClearRule | control_commands.ClearGroup:
    """The payload of the command issued at `now_ms`; `rule` is the one that it names.

    Raises `RuleNotFound`, `RuleIsDeleted` and `GroupNotCleared`, in this order.
    """
    if rule is None:
        raise RuleNotFound(command.rule_id)
    if rule.state == "DELETED":
        raise RuleIsDeleted(command.rule_id)
    match command:
        case TraceRule():
            return control_commands.TraceRule(rule.rule_id, now_ms + command.seconds * 1000)
        case ClearRule():
            return control_commands.ClearRule(rule.rule_id)
        case ClearGroup():
            return _cleared_group(rule, command)


def decide_end(backfill: Backfill | None, command: EndBackfill) -> control_commands.EndBackfill:
    """The payload of END_BACKFILL; `backfill` is the one that it names. Raises `BackfillNotFound` and
    `BackfillHasEnded`."""
    if backfill is None:
        raise BackfillNotFound(command.backfill_id)
    if backfill.end is not None:
        raise BackfillHasEnded(command.backfill_id)
    return control_commands.EndBackfill(backfill.backfill_id, command.complete_from)


def _cleared_group(rule: Rule, command: ClearGroup) -> control_commands.ClearGroup:
    definition, fields = rule.definition, tuple(sorted(command.group))
    hint = "CLEAR_RULE clears it whole."
    if definition.conditions is not None:
        raise GroupNotCleared(
            "ruleId", f"Rule {rule.rule_id} has several conditions, whose groups share windows. {hint}"
        )
    if definition.bucket_seconds is not None:
        raise GroupNotCleared(
            "ruleId", f"Rule {rule.rule_id} is bucketed, and other rules may share its buckets. {hint}"
        )
    if any(step_of(key) is not None for key in definition.grouping_key_names):
        raise GroupNotCleared("ruleId", f"Rule {rule.rule_id} groups by amounts in steps. {hint}")
    if fields != definition.grouping_key_names:
        expected = ", ".join(definition.grouping_key_names) or "no field"
        raise GroupNotCleared(
            "group", f"Rule {rule.rule_id} groups by {expected}, not by {', '.join(fields) or 'no field'}."
        )
    return control_commands.ClearGroup(rule.rule_id, tuple(sorted(command.group.items())))
