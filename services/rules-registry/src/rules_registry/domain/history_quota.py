"""The quota of history by the rate that the operator expects: of one rule by itself, and of all together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from rules_registry.errors import TooMuchHistory
from tripline_contracts import event_type_loader
from tripline_contracts.errors import Problem
from tripline_contracts.event_type import EventType
from tripline_contracts.rules.anchors import anchor_of, party_of
from tripline_contracts.rules.rule_definition import RuleDefinition


@dataclass(frozen=True, slots=True)
class HistoryQuota:
    """The history that the engine may hold.

    :ivar most: transactions, over all anchors (`TRIPLINE_MAX_HISTORY`)
    :ivar rate: transactions a second (`TRIPLINE_EXPECTED_RATE`)
    :ivar event_type: of the rules; it decides their anchors
    """

    most: int
    rate: int
    event_type: EventType = field(default_factory=event_type_loader.load)

    def require(self, definition: RuleDefinition) -> None:
        """Raises `TooMuchHistory` if the rule alone keeps more than that: its window, or of a bucketed one a bucket."""
        needed = needed_seconds(definition)
        rate = self.rate * self._rows(definition)
        held = needed * rate
        if held <= self.most:
            return
        field = "precision" if definition.bucket_seconds else "windowSeconds"
        raise TooMuchHistory(
            Problem(
                field,
                f"expected at most {self.most // rate} s of transactions: at {self.rate} a second {needed} s keep"
                f" {held}, and the engine holds {self.most}; choose a shorter one, or buckets of that length at most",
            )
        )

    def kept_seconds(self, definition: RuleDefinition) -> int:
        """How far back a rule with these groupings may look, where it is alone."""
        return self.most // (self.rate * self._rows(definition))

    def held_by(self, definitions: Iterable[RuleDefinition]) -> int:
        """Transactions that an engine with these rules holds: on each anchor those of its widest window."""
        widest: dict[str, int] = {}
        for definition in definitions:
            anchor = anchor_of(definition, self.event_type)
            kept = needed_seconds(definition) * self._rows(definition)
            widest[anchor] = max(widest.get(anchor, 0), kept)
        return sum(widest.values()) * self.rate

    def _rows(self, definition: RuleDefinition) -> int:
        """The rows that a transaction is kept in for the rule: of a party one for each side."""
        party = party_of(definition, self.event_type)
        return 1 if party is None else len(party.sides)


def needed_seconds(definition: RuleDefinition) -> int:
    """For how long a transaction is kept for the rule: its widest window, or of a bucketed one a bucket."""
    return definition.bucket_seconds or definition.window_seconds
