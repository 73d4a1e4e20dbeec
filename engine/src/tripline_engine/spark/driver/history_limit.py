"""The limit of retained transactions (TRIPLINE_MAX_HISTORY): an engine at its limit stops reading transactions.

History is never dropped to make room. Rule events and ticks are still read: deleting rules or shortening their windows
is what frees space.
"""

from __future__ import annotations

from typing import Final

# Hysteresis: reading starts again a tenth below the limit, not with the first transaction that expires.
_RESUME_BELOW: Final = 0.9


class HistoryLimit:
    """Retained transactions of all shards, against the limit.

    :ivar max_transactions: over all shards and anchors
    """

    def __init__(self, max_transactions: int) -> None:
        self.max_transactions = max_transactions
        self._held: dict[int, int] = {}
        self._full = False

    def record(self, shard: int, transactions: int) -> None:
        """Transactions that a shard retains after a micro-batch."""
        self._held[shard] = transactions
        held = sum(self._held.values())
        self._full = held >= (self.max_transactions * _RESUME_BELOW if self._full else self.max_transactions)

    @property
    def full(self) -> bool:
        """Whether reading transactions has to stop."""
        return self._full

    @property
    def sentence(self) -> str:
        """The state and its remedies, for log and readiness probe."""
        return (
            f"history holds {sum(self._held.values()):,} transactions, as many as it may"
            f" (TRIPLINE_MAX_HISTORY={self.max_transactions}): no transactions are taken until rules are deleted, given"
            " shorter windows or made bucketed, or the limit is raised"
        )
