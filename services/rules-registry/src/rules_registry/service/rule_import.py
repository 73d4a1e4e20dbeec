"""Importing rule files: a result per line, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rules_registry.domain.advice.rule_warning import RuleWarning, name_taken
from rules_registry.domain.commands import ChangeRule, DeleteRule, PublishRule
from rules_registry.domain.decisions import effective_from
from rules_registry.domain.rule import Rule
from rules_registry.domain.rule_import import (
    ImportedControl,
    ImportedRule,
    ImportRefused,
    LineResult,
    Outcome,
    commands_of,
)
from rules_registry.errors import DomainError, UnfitDefinition
from rules_registry.service.control import issue
from rules_registry.service.event_appender import EventAppender, RuleChange
from rules_registry.service.ports import NewId
from rules_registry.service.rule_file_lines import ReadLine
from tripline_contracts.errors import Problem


@dataclass(frozen=True, slots=True)
class ImportOutcome:
    """The results of all lines, in their order."""

    results: tuple[LineResult, ...]


def import_lines(
    writer: EventAppender, lines: Sequence[ReadLine], new_command_id: NewId, *, atomic: bool
) -> ImportOutcome:
    """Applies the lines in order, each to what those before it made.

    Raises `ImportRefused`, and then nothing may be committed, if a line is refused and `atomic` is set, or if all are.
    """
    results = tuple(_import(writer, line, new_command_id) for line in lines)
    refused = [result for result in results if result.outcome == "refused"]
    if refused and (atomic or len(refused) == len(results)):
        raise ImportRefused(results, len(refused))
    return ImportOutcome(results)


def _import(writer: EventAppender, line: ReadLine, new_command_id: NewId) -> LineResult:
    match line.wanted:
        case None:
            return LineResult(line.number, "refused", problems=line.problems)
        case ImportedControl():
            issued = issue(writer, line.wanted.control, new_command_id())
            return LineResult(
                line.number,
                "commanded",
                command_id=issued.command_id,
                first=issued.position,
                last=issued.last_position,
            )
        case ImportedRule():
            return _import_rule(writer, line.number, line.wanted)


def _import_rule(writer: EventAppender, number: int, imported: ImportedRule) -> LineResult:
    rule = writer.log.rule(imported.rule_id)
    try:
        commands = commands_of(rule, imported)
        # before the first of them: a pause must not happen without the definition that was to follow it
        for command in commands:
            if isinstance(command, PublishRule | ChangeRule):
                writer.require_fit(command.definition)
                effective_from(command, writer.clock())
    except UnfitDefinition as error:
        return LineResult(number, "refused", rule_id=imported.rule_id, problems=error.problems)
    except DomainError as error:
        problem = Problem("ruleId", str(error))
        return LineResult(number, "refused", rule_id=imported.rule_id, problems=(problem,))
    changes: list[RuleChange] = []
    for command in commands:
        changes.append(writer.apply(changes[-1].rule if changes else rule, command))
    if not changes:
        return LineResult(number, "unchanged", imported.rule_id, None if rule is None else rule.version)
    first, last = changes[0], changes[-1]
    return LineResult(
        number,
        _outcome(commands),
        imported.rule_id,
        last.rule.version,
        None,
        first.position,
        last.position,
        warnings=_warnings(writer, rule, last.rule),
    )


def _warnings(writer: EventAppender, before: Rule | None, rule: Rule) -> tuple[RuleWarning, ...]:
    """Files name rules by id, and may call several the same; a rule that keeps its name was told of before."""
    if rule.state == "DELETED" or (before is not None and before.name == rule.name):
        return ()
    other = writer.log.named_alike(rule.name, rule.rule_id)
    return () if other is None else (name_taken(rule.name, other),)


def _outcome(commands: Sequence[object]) -> Outcome:
    if isinstance(commands[0], PublishRule):
        return "published"
    if isinstance(commands[0], DeleteRule):
        return "deleted"
    return "changed" if any(isinstance(command, ChangeRule) for command in commands) else "paused"
