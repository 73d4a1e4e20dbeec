"""What has been accepted on each anchor, as plain lists (semantics 3 and 5)."""

from __future__ import annotations

from tests.oracle.clock import Clock
from tests.oracle.rule_events import Settings
from tests.oracle.schema import GLOBAL
from tests.oracle.transactions import Transaction


class History:
    """Per anchor every accepted transaction, in order of acceptance; nothing is ever taken out."""

    def __init__(self, anchors: tuple[str, ...]) -> None:
        self.accepted: dict[str, list[Transaction]] = {anchor: [] for anchor in (*anchors, GLOBAL)}
        self.duplicates = 0

    def accept(self, transaction: Transaction, clock: Clock, settings: Settings) -> set[str]:
        """Put it on every anchor where it has a value and is no duplicate; which these were."""
        taken: set[str] = set()
        for anchor, earlier in self.accepted.items():
            value = _value(transaction, anchor)
            if value is None:
                continue
            reach = settings.allowed_lateness + settings.max_future_skew
            if any(
                other.transaction_id == transaction.transaction_id
                and _value(other, anchor) == value
                and abs(other.record_time - transaction.record_time) <= reach
                and clock.remembers_id(other)
                for other in earlier
            ):
                self.duplicates += 1
                continue
            earlier.append(transaction)
            taken.add(anchor)
        return taken


def _value(transaction: Transaction, anchor: str) -> str | None:
    return "" if anchor == GLOBAL else transaction.keys[anchor]
