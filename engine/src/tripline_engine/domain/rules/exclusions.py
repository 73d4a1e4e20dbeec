"""Exclusions: the transactions that a rule version ignores, since an operator cleared the rule or one of its groups.

And those that history had let go of, wholly or in part, before it was reopened for a backfill.

CLEAR_RULE             x1      x2   |    x3      e
                  -----|-------|----|----|-------|-----> order of acceptance
                       0       1         2       3        before = 2: x1 and x2 are in no list of the rule
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from tripline_contracts.canonical import canonical_json, sha256_hex
from tripline_contracts.control_commands import Group


@dataclass(frozen=True, slots=True)
class ExcludedGroup:
    """A group whose transactions with a sequence number below ``before`` are excluded."""

    before: int
    group: Group


class LetGo(NamedTuple):
    """Transactions with a sequence number below ``before`` and an event time (ms) before ``until``."""

    before: int
    until: int


@dataclass(frozen=True, slots=True)
class Exclusions:
    """Transactions of an anchor that count for nothing in a version.

    :ivar before: a sequence number of acceptance; all transactions below it are excluded
    :ivar groups: groups of which more are excluded
    :ivar cleared_by: the rule and the position of the command that cleared it, by which all shards name its bucket sets
    :ivar let_go: what had become invisible before history was reopened
    :ivar kept: nothing is excluded by this, but floors are those of what is kept for shadows, which others' are not
    """

    before: int = 0
    groups: tuple[ExcludedGroup, ...] = ()
    cleared_by: tuple[int, int] | None = None
    let_go: tuple[LetGo, ...] = ()
    kept: bool = False

    @property
    def suffix(self) -> str:
        """A suffix for the names of arrays over the other transactions; empty where nothing is excluded."""
        since = f".since.{self.before}" if self.before else ""
        since += "".join(f".reopened.{before}.{until}" for before, until in self.let_go)
        since += ".kept" if self.kept else ""
        if not self.groups:
            return since
        return f"{since}.without.{sha256_hex(canonical_json(self.to_json()))[:32]}"

    def and_group(self, group: Group, before: int) -> Exclusions:
        """These exclusions and a group's transactions below ``before``."""
        others = (excluded for excluded in self.groups if excluded.group != group)
        return replace(self, groups=(*others, ExcludedGroup(before, group)))

    def of_retained(self, first: int) -> Exclusions:
        """The exclusions that still make a difference while nothing is retained below sequence number ``first``."""
        groups = tuple(excluded for excluded in self.groups if excluded.before > first)
        let_go = tuple(pair for pair in self.let_go if pair.before > first)
        return replace(self, before=self.before if self.before > first else 0, groups=groups, let_go=let_go)

    def to_json(self) -> dict[str, Any]:
        """The JSON that is stored with the rules."""
        groups = [[excluded.before, [list(pair) for pair in excluded.group]] for excluded in self.groups]
        cleared_by = self.cleared_by and list(self.cleared_by)
        stored: dict[str, Any] = {"before": self.before, "groups": groups, "apart": cleared_by}
        # names of arrays are made of it: without these it is what it was before there were such
        stored |= {"letGo": [list(pair) for pair in self.let_go]} if self.let_go else {}
        return stored | {"kept": True} if self.kept else stored

    @staticmethod
    def of_json(stored: Mapping[str, Any] | None) -> Exclusions:
        """The exclusions of stored JSON; none of None."""
        if stored is None:
            return NO_EXCLUSIONS
        groups = (
            ExcludedGroup(before, tuple((name, value) for name, value in group))
            for before, group in stored["groups"]
        )
        cleared_by = stored["apart"]
        return Exclusions(
            stored["before"],
            tuple(groups),
            None if cleared_by is None else (cleared_by[0], cleared_by[1]),
            # exclusions from before history could be reopened have none
            tuple(LetGo(*pair) for pair in stored.get("letGo", ())),
            stored.get("kept", False),
        )


NO_EXCLUSIONS: Final = Exclusions()
"""Nothing is excluded."""
