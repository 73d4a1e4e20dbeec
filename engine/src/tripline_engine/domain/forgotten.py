"""What a rule version does not look at, because an operator has cleared the rule or one of its groups.

CLEAR_RULE             x1      x2   |    x3      e
                  -----|-------|----|----|-------|-----> order of acceptance
                       0       1         2       3        before = 2: x1 and x2 are in no list of the rule
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tripline_contracts.canonical import canonical_json, sha256_hex
from tripline_contracts.filter_tree import All, Comparison
from tripline_engine.domain.filtering import Compiler, Test
from tripline_engine.domain.history import History

Group = tuple[tuple[str, str], ...]
"""The fields of a grouping, ascending, each with its value as text."""


@dataclass(frozen=True, slots=True)
class ForgottenGroup:
    """A group whose transactions with a sequence number below ``before`` are forgotten."""

    before: int
    group: Group


@dataclass(frozen=True, slots=True)
class Forgotten:
    """Transactions of an anchor that are for a version as if they had never been.

    :ivar before: sequence numbers of acceptance; all transactions below it
    :ivar groups: besides, those of single groups
    :ivar apart: the rule and the position of the command that cleared it, by which all shards name its bucket sets
    """

    before: int = 0
    groups: tuple[ForgottenGroup, ...] = ()
    apart: tuple[int, int] | None = None

    @property
    def suffix(self) -> str:
        """For the names of what is kept of the others; empty where nothing is forgotten."""
        since = f".since.{self.before}" if self.before else ""
        if not self.groups:
            return since
        return f"{since}.without.{sha256_hex(canonical_json(self.to_json()))[:32]}"

    def and_group(self, group: Group, before: int) -> Forgotten:
        """A group too."""
        others = (each for each in self.groups if each.group != group)
        return replace(self, groups=(*others, ForgottenGroup(before, group)))

    def of_retained(self, first: int) -> Forgotten:
        """What of it counts while nothing is retained below the sequence number ``first``."""
        groups = tuple(each for each in self.groups if each.before > first)
        return replace(self, before=self.before if self.before > first else 0, groups=groups)

    def to_json(self) -> dict[str, Any]:
        """As stored with the rules."""
        groups = [[each.before, [list(pair) for pair in each.group]] for each in self.groups]
        return {"before": self.before, "groups": groups, "apart": self.apart and list(self.apart)}

    @staticmethod
    def of_json(stored: Mapping[str, Any] | None) -> Forgotten:
        """As ``to_json`` gave it, or None."""
        if stored is None:
            return NOTHING_FORGOTTEN
        groups = (
            ForgottenGroup(before, tuple((name, value) for name, value in group))
            for before, group in stored["groups"]
        )
        apart = stored["apart"]
        return Forgotten(stored["before"], tuple(groups), None if apart is None else (apart[0], apart[1]))


NOTHING_FORGOTTEN: Final = Forgotten()


def remembered(forgotten: Forgotten, compiler: Compiler, test: Test | None) -> Test | None:
    """Besides, the transaction is not forgotten."""
    if not forgotten.before and not forgotten.groups:
        return test
    groups = [(each.before, _among(each.group, compiler)) for each in forgotten.groups]
    last = max(forgotten.before, *(before for before, _ in groups), 0)

    def not_forgotten(history: History, start: int, end: int) -> npt.NDArray[np.bool_]:
        result = np.ones(end - start, np.bool_) if test is None else test(history, start, end)
        if start + history.offset >= last:
            return result
        sequences = np.arange(start, end) + history.offset
        result = result & (sequences >= forgotten.before)
        for before, among in groups:
            result &= (sequences >= before) | ~among(history, start, end)
        return result

    return not_forgotten


def _among(group: Group, compiler: Compiler) -> Test:
    """Whether a transaction is one of the group's."""
    if not group:
        return lambda _, start, end: np.ones(end - start, np.bool_)
    return compiler.compile(All(tuple(Comparison(name, "=", value) for name, value in group)))
