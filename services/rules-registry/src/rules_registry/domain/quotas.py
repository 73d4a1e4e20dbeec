"""Quotas of an installation: the most that its rules, lists and parameters may come to, together.

Whatever is published goes to every engine and stays in the log: without a bound one key fills all of their memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from rules_registry.domain.history_quota import HistoryQuota
from rules_registry.domain.rule import Rule
from rules_registry.errors import QuotaExceeded
from tripline_contracts.rules.rule_definition import RuleDefinition

Quota = Literal["activeRules", "rules", "lists", "parameters", "listBytes", "history"]
Usage = Mapping[Quota, int]
"""Of some quotas what is in use."""

TITLES: Final[Mapping[Quota, str]] = {
    "activeRules": "active rules",
    "rules": "rules that are not deleted",
    "lists": "lists",
    "parameters": "parameters",
    "listBytes": "bytes of JSON in all lists",
    "history": "transactions of history, at the expected rate",
}


def rule_growth(before: Rule | None, after: Rule) -> Usage:
    """By how much a change of one rule moves the counts of rules: 1, 0 or -1 each."""
    active = (after.state == "ACTIVE") - (before is not None and before.state == "ACTIVE")
    living = (after.state != "DELETED") - (before is not None and before.state != "DELETED")
    return {"activeRules": active, "rules": living}


@dataclass(frozen=True, slots=True)
class Quotas:
    """The most of each; what is not in `limits` has no bound, and without `history` neither has that."""

    limits: Usage = field(default_factory=dict)
    history: HistoryQuota | None = None

    def require(self, before: Usage, after: Usage) -> None:
        """Raises `QuotaExceeded` for the first amount that is above its bound and has grown.

        What was above before, because the bound was higher then, may stay and shrink.
        """
        for quota, used in after.items():
            allowed = self._allowed(quota)
            if allowed is not None and used > allowed and used > before[quota]:
                raise QuotaExceeded(quota, TITLES[quota], used, allowed)

    def history_of(self, definitions: Iterable[RuleDefinition]) -> Usage:
        """What the history of these rules comes to; of no quota where none is set."""
        return {} if self.history is None else {"history": self.history.held_by(definitions)}

    def _allowed(self, quota: Quota) -> int | None:
        if quota == "history":
            return None if self.history is None else self.history.most
        return self.limits.get(quota)
