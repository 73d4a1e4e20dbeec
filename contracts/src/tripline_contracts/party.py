"""Parties: one party of an event, whichever side of it that is on.

An account pays in one event and is paid in the next. By field these are two groups; by a party they are one: each event
is one *entry* for each side whose field is not null, in the order in which the sides are declared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

SIDE: Final = "side"
"""The member of filters and alerts that says on which side of an entry its party is."""


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a party, and the field that has the party's value there."""

    name: str
    field: str


@dataclass(frozen=True, slots=True)
class Party:
    """A name that rules may group by, and its sides in their order."""

    name: str
    sides: tuple[Side, ...]

    @property
    def side_names(self) -> tuple[str, ...]:
        """The names of its sides, in their order."""
        return tuple(side.name for side in self.sides)

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of its sides, in their order."""
        return tuple(side.field for side in self.sides)
