"""What has been accepted on each anchor, as plain lists (semantics 3 and 5)."""

from __future__ import annotations

from tests.oracle.clock import Clock
from tests.oracle.rule_events import Settings
from tests.oracle.schema import GLOBAL
from tests.oracle.transactions import Transaction


class History:
    """Per anchor every accepted transaction, in order of acceptance; only a clear takes them out."""

    def __init__(self, anchors: tuple[str, ...]) -> None:
        self.accepted: dict[str, list[Transaction]] = {anchor: [] for anchor in (*anchors, GLOBAL)}
        self.duplicates = 0
        self._identities: dict[str, list[Transaction]] = {anchor: [] for anchor in self.accepted}

    def accept(self, transaction: Transaction, clock: Clock, settings: Settings) -> set[str]:
        """Put it on every anchor where it has a value and is no duplicate; which these were."""
        taken: set[str] = set()
        for anchor, earlier in self._identities.items():
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
            self.accepted[anchor].append(transaction)
            taken.add(anchor)
        return taken

    def clear(self) -> None:
        """Forget all transactions, but not their ids."""
        for accepted in self.accepted.values():
            accepted.clear()


def _value(transaction: Transaction, anchor: str) -> str | None:
    return "" if anchor == GLOBAL else transaction.keys[anchor]
