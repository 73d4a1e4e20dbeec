"""A control command that was taken."""

from __future__ import annotations

from dataclasses import dataclass

from rules_registry.domain.events import Command
from tripline_contracts.control_commands import Payload


@dataclass(frozen=True, slots=True)
class IssuedCommand:
    """What followed from the command stands in the log from `position` + 1 to `last_position`; time in ms."""

    command_id: str
    control: Command
    position: int
    last_position: int
    occurred_at: int
    actor: str
    payload: Payload | None = None

    @property
    def deleted_rules(self) -> int:
        """How many rules it retired, one event each."""
        return self.last_position - self.position
