"""The quota of history per rule, by the rate that the operator expects: a rule that needs more is refused."""

from __future__ import annotations

from dataclasses import dataclass

from rules_registry.errors import TooMuchHistory
from tripline_contracts.errors import Problem
from tripline_contracts.rules.rule_definition import RuleDefinition


@dataclass(frozen=True, slots=True)
class HistoryQuota:
    """The history that the engine may hold for one rule.

    :ivar most: transactions (`TRIPLINE_MAX_HISTORY`)
    :ivar rate: transactions a second (`TRIPLINE_EXPECTED_RATE`)
    """

    most: int
    rate: int

    def require(self, definition: RuleDefinition) -> None:
        """Raises `TooMuchHistory` if the rule alone keeps more than that: its window, or of a bucketed one a bucket."""
        needed = definition.bucket_seconds or definition.window_seconds
        held = needed * self.rate
        if held <= self.most:
            return
        field = "precision" if definition.bucket_seconds else "windowSeconds"
        raise TooMuchHistory(
            Problem(
                field,
                f"expected at most {self.most // self.rate} s of transactions: at {self.rate} a second {needed} s keep"
                f" {held}, and the engine holds {self.most}; choose a shorter one, or buckets of that length at most",
            )
        )
