"""A control command that was taken."""

from __future__ import annotations

from dataclasses import dataclass

from rules_registry.domain.events import Command
from tripline_contracts.control_commands import Payload


@dataclass(frozen=True, slots=True)
class IssuedCommand:
    """A command in the log; the events that it caused have positions `position` + 1 to `last_position`; time in ms."""

    command_id: str
    control: Command
    position: int
    last_position: int
    occurred_at: int
    actor: str
    payload: Payload | None = None

    @property
    def deleted_rules(self) -> int:
        """The number of rules that it retired, one event each."""
        return self.last_position - self.position
