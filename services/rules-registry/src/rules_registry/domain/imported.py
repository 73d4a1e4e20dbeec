"""What became of a record of a rule file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rules_registry.errors import DomainError
from tripline_contracts.errors import Problem

Outcome = Literal["published", "changed", "paused", "deleted", "commanded", "unchanged", "refused"]


@dataclass(frozen=True, slots=True)
class LineResult:
    """Its events have the positions `first` to `last`; `problems` say why it was refused."""

    number: int
    outcome: Outcome
    rule_id: int | None = None
    version: int | None = None
    command_id: str | None = None
    first: int | None = None
    last: int | None = None
    problems: tuple[Problem, ...] = ()


class ImportRefused(DomainError):
    """Nothing of the import happened; `results` say of each line what would have become of it."""

    def __init__(self, results: Sequence[LineResult], refused: int) -> None:
        super().__init__(f"Nothing was imported: {refused} of {len(results)} records were refused.")
        self.results = tuple(results)
