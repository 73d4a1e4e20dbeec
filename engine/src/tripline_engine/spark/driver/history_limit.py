"""The stated limit of history: an engine that holds as many transactions as it may takes no more of them.

History is never dropped to make room. Rule events and ticks are taken all the same: deleting or shortening rules is
what makes room again.
"""

from __future__ import annotations

from typing import Final

# It takes transactions again when it holds a tenth less, not with the next one that goes.
_ROOM: Final = 0.9


class HistoryLimit:
    """How many transactions the shards hold, and whether that is as many as they may.

    :ivar most: over all shards and anchors
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._held: dict[int, int] = {}
        self._full = False

    def holds(self, shard: int, transactions: int) -> None:
        """What a shard holds after a micro-batch."""
        self._held[shard] = transactions
        held = sum(self._held.values())
        self._full = held >= (self.most * _ROOM if self._full else self.most)

    @property
    def full(self) -> bool:
        """Whether no more transactions are taken."""
        return self._full

    @property
    def sentence(self) -> str:
        """What to do about it."""
        return (
            f"history holds {sum(self._held.values()):,} transactions, as many as it may"
            f" (TRIPLINE_MAX_HISTORY={self.most}): no transactions are taken until rules are deleted, given shorter"
            " windows or made bucketed, or the limit is raised"
        )
