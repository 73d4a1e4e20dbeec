"""A control command that was taken."""

from __future__ import annotations

from dataclasses import dataclass

from tripline_contracts.legacy import ControlType


@dataclass(frozen=True, slots=True)
class Commanded:
    """What followed from the command stands in the log from `position` + 1 to `last_position`; time in ms."""

    command_id: str
    control: ControlType
    position: int
    last_position: int
    occurred_at: int
    actor: str

    @property
    def deleted_rules(self) -> int:
        """How many rules it retired, one event each."""
        return self.last_position - self.position
