"""Control commands: into the log, with what the registry itself has to do about them."""

from __future__ import annotations

from typing import Final

from rules_registry.domain.command_decisions import decide_end, decide_of_rule
from rules_registry.domain.commands import (
    ClearGroup,
    ClearRule,
    Control,
    DeleteRule,
    EndBackfill,
    TraceRule,
    VoidTransaction,
)
from rules_registry.domain.events import Command, ControlCommand
from rules_registry.domain.issued_command import IssuedCommand
from rules_registry.service.event_appender import EventAppender
from tripline_contracts import control_commands

_OF_RULE: Final[dict[type, Command]] = {
    TraceRule: "TRACE_RULE",
    ClearRule: "CLEAR_RULE",
    ClearGroup: "CLEAR_GROUP",
}


def issue(writer: EventAppender, control: Control, command_id: str) -> IssuedCommand:
    """Appends the command; DELETE_RULES_ALL retires every rule behind it, by id.

    Raises what `decide_of_rule` and `decide_end` raise, before anything is written.
    """
    now_ms = writer.clock()
    event = _event(writer, control, command_id, now_ms)
    recorded = writer.append(event, None, now_ms=now_ms)
    last = recorded.position
    if control == "DELETE_RULES_ALL":
        for rule in writer.log.rules():
            last = writer.apply(rule, DeleteRule(rule.rule_id, None)).position
    issued = IssuedCommand(
        command_id,
        event.command,
        recorded.position,
        last,
        recorded.occurred_at,
        writer.actor.name,
        event.payload,
    )
    writer.log.note_command(issued)
    return issued


def _event(writer: EventAppender, control: Control, command_id: str, now_ms: int) -> ControlCommand:
    log = writer.log
    match control:
        case TraceRule() | ClearRule() | ClearGroup():
            payload = decide_of_rule(log.rule(control.rule_id), control, now_ms)
            return ControlCommand(_OF_RULE[type(control)], command_id, payload)
        case VoidTransaction():
            voided = control_commands.VoidTransaction(control.transaction_id, control.event_time)
            return ControlCommand("VOID_TRANSACTION", command_id, voided)
        case EndBackfill():
            return ControlCommand(
                "END_BACKFILL", command_id, decide_end(log.backfill(control.backfill_id), control)
            )
        case _:
            return ControlCommand(control, command_id)
