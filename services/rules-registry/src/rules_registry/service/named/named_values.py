"""Changing lists and parameters: the value that is wanted, and an event only where it is another one."""

from __future__ import annotations

from dataclasses import dataclass

from rules_registry.domain.commands import ChangeNamed
from rules_registry.domain.named.named_value_decisions import decide_named
from rules_registry.domain.named_value import NamedEntry
from rules_registry.service.event_appender import EventAppender


@dataclass(frozen=True, slots=True)
class NamedChange:
    """The list or parameter as it stands now; `is_new`: it was made just now."""

    named: NamedEntry
    is_new: bool


def change_named(writer: EventAppender, command: ChangeNamed) -> NamedChange:
    """Appends the change, if it is one. Raises `StaleVersion`."""
    current = writer.log.named(command.kind, command.name)
    event = decide_named(current, command)
    if event is None:
        assert current is not None  # only what is there can be so already
        return NamedChange(current, is_new=False)
    recorded = writer.append(event, None, current)
    changed = NamedEntry(
        kind=command.kind,
        name=command.name,
        version=event.version,
        value=command.value,
        position=recorded.position,
        changed_at=recorded.occurred_at,
        changed_by=recorded.actor,
    )
    writer.log.keep_named(changed)
    return NamedChange(changed, is_new=current is None)
