"""A named list or a parameter as it stands, and the texts in which its value is kept."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from tripline_contracts import decimals
from tripline_contracts.filters import named_values
from tripline_contracts.filters.named_values import Kind

NamedValue = tuple[str, ...] | Decimal
"""Of a list its texts, ascending and each once; of a parameter its number."""


@dataclass(frozen=True, slots=True)
class NamedEntry:
    """After its last change; `version` counts the changes of this name, `changed_at` is in ms.

    `value` is None of a list that is too long to be read as a whole, or where nobody asked for it: then `long` says how
    many values it has. `has_ends`: some of them are to be removed at a time.
    """

    kind: Kind
    name: str
    version: int
    value: NamedValue | None
    position: int
    changed_at: int
    changed_by: str
    long: int = 0
    has_ends: bool = False

    @property
    def size(self) -> int:
        """How many values a list has."""
        return len(self.value) if isinstance(self.value, tuple) else self.long


def value_json(value: NamedValue) -> list[str] | str:
    """A list of texts, or a decimal's text."""
    return decimals.plain(value) if isinstance(value, Decimal) else list(value)


def value_from_json(kind: Kind, data: object) -> NamedValue:
    """The inverse of `value_json`."""
    return named_values.read_list(data) if kind == "list" else named_values.read_parameter(data)
