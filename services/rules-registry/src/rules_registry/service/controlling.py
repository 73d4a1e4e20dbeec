"""Control commands: into the log, with what the registry itself has to do about them."""

from __future__ import annotations

from rules_registry.domain.commanded import Commanded
from rules_registry.domain.commands import DeleteRule
from rules_registry.domain.events import ControlCommand
from rules_registry.service.writing import Writer
from tripline_contracts.legacy import ControlType


def issue(writer: Writer, control: ControlType, command_id: str) -> Commanded:
    """Appends the command; DELETE_RULES_ALL retires every rule behind it, by id."""
    recorded = writer.append(ControlCommand(control, command_id), None)
    last = recorded.position
    if control == "DELETE_RULES_ALL":
        for rule in writer.log.rules():
            last = writer.apply(rule, DeleteRule(rule.rule_id, None)).position
    done = Commanded(command_id, control, recorded.position, last, recorded.occurred_at, writer.actor)
    writer.log.note_command(done)
    return done
