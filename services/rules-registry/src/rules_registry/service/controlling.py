"""Control commands: into the log, with what the registry itself has to do about them."""

from __future__ import annotations

from rules_registry.domain.commanded import Commanded
from rules_registry.domain.commands import Control, DeleteRule, TraceRule
from rules_registry.domain.deciding import decide_trace
from rules_registry.domain.events import ControlCommand
from rules_registry.service.writing import Writer


def issue(writer: Writer, control: Control, command_id: str) -> Commanded:
    """Appends the command; DELETE_RULES_ALL retires every rule behind it, by id.

    Raises `RuleNotFound` and `RuleIsDeleted` for a trace, before anything is written.
    """
    now_ms = writer.clock()
    event = _event(writer, control, command_id, now_ms)
    recorded = writer.append(event, None, now_ms)
    last = recorded.position
    if control == "DELETE_RULES_ALL":
        for rule in writer.log.rules():
            last = writer.apply(rule, DeleteRule(rule.rule_id, None)).position
    done = Commanded(
        command_id, event.command, recorded.position, last, recorded.occurred_at, writer.actor, event.trace
    )
    writer.log.note_command(done)
    return done


def _event(writer: Writer, control: Control, command_id: str, now_ms: int) -> ControlCommand:
    if isinstance(control, TraceRule):
        trace = decide_trace(writer.log.rule(control.rule_id), control, now_ms)
        return ControlCommand("TRACE_RULE", command_id, trace)
    return ControlCommand(control, command_id)
