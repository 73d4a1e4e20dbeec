"""What a rule version does not look at, because an operator has cleared the rule or one of its groups.

CLEAR_RULE             x1      x2   |    x3      e
                  -----|-------|----|----|-------|-----> order of acceptance
                       0       1         2       3        before = 2: x1 and x2 are in no list of the rule
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from tripline_contracts.canonical import canonical_json, sha256_hex

Group = tuple[tuple[str, str], ...]
"""The fields of a grouping, ascending, each with its value as text."""


@dataclass(frozen=True, slots=True)
class ExcludedGroup:
    """A group whose transactions with a sequence number below ``before`` are forgotten."""

    before: int
    group: Group


@dataclass(frozen=True, slots=True)
class Exclusions:
    """Transactions of an anchor that are for a version as if they had never been.

    :ivar before: sequence numbers of acceptance; all transactions below it
    :ivar groups: besides, those of single groups
    :ivar cleared_by: the rule and the position of the command that cleared it, by which all shards name its bucket sets
    """

    before: int = 0
    groups: tuple[ExcludedGroup, ...] = ()
    cleared_by: tuple[int, int] | None = None

    @property
    def suffix(self) -> str:
        """For the names of what is kept of the others; empty where nothing is forgotten."""
        since = f".since.{self.before}" if self.before else ""
        if not self.groups:
            return since
        return f"{since}.without.{sha256_hex(canonical_json(self.to_json()))[:32]}"

    def and_group(self, group: Group, before: int) -> Exclusions:
        """A group too."""
        others = (each for each in self.groups if each.group != group)
        return replace(self, groups=(*others, ExcludedGroup(before, group)))

    def of_retained(self, first: int) -> Exclusions:
        """What of it counts while nothing is retained below the sequence number ``first``."""
        groups = tuple(each for each in self.groups if each.before > first)
        return replace(self, before=self.before if self.before > first else 0, groups=groups)

    def to_json(self) -> dict[str, Any]:
        """As stored with the rules."""
        groups = [[each.before, [list(pair) for pair in each.group]] for each in self.groups]
        return {"before": self.before, "groups": groups, "apart": self.cleared_by and list(self.cleared_by)}

    @staticmethod
    def of_json(stored: Mapping[str, Any] | None) -> Exclusions:
        """As ``to_json`` gave it, or None."""
        if stored is None:
            return NO_EXCLUSIONS
        groups = (
            ExcludedGroup(before, tuple((name, value) for name, value in group))
            for before, group in stored["groups"]
        )
        apart = stored["apart"]
        return Exclusions(stored["before"], tuple(groups), None if apart is None else (apart[0], apart[1]))


NO_EXCLUSIONS: Final = Exclusions()
