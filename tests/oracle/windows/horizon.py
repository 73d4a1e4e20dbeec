"""Horizons: how far back a version sees, and what is merged into its buckets (semantics 6, decision 0038)."""

from __future__ import annotations

from dataclasses import dataclass

from tests.oracle.windows.accepted_transaction import AcceptedTransaction


@dataclass(frozen=True, slots=True)
class Horizon:
    """Of one window: `floor` is the lowest event time that it sees, None while that is all.

    `dropped` is the one below which buckets are gone, None where no bucket is. A bucketed window out of
    buckets has their `length` in ms, and `begun`, the position of rules.v1 at which they were. `let_go` are pairs of a
    sequence number and an event time: what was accepted before the one and lies before the other is not seen.
    """

    floor: int | None
    length: int | None = None
    dropped: int | None = None
    begun: int | None = None
    let_go: tuple[tuple[int, int], ...] = ()

    def sees(self, accepted: AcceptedTransaction) -> bool:
        """True if a transaction is visible and not void."""
        event_time = accepted.transaction.event_time
        visible = self.floor is None or event_time >= self.floor
        visible = visible and not (self.let_go and self.has_let_go(accepted))
        return visible and (accepted.void is None or self._keeps(accepted))

    def has_let_go(self, accepted: AcceptedTransaction) -> bool:
        """True if it was below the floor when history was reopened."""
        event_time = accepted.transaction.event_time
        return any(accepted.sequence < before and event_time < end for before, end in self.let_go)

    def _keeps(self, accepted: AcceptedTransaction) -> bool:
        """True if a void transaction had been merged into its bucket, where it stays."""
        void, length = accepted.void, self.length
        if void is None or length is None or self.begun is None or self.begun > void.position:
            return False
        return not is_unmerged(accepted.transaction.event_time, length, void.settled)


@dataclass(frozen=True, slots=True)
class Horizons:
    """Of a version: `whole` is for its group, `by_condition` for the window of each condition in the order of the tree.

    `settled` is the time of event below which nothing is accepted any more; None before the first tick.
    """

    whole: Horizon
    by_condition: tuple[Horizon, ...]
    settled: int | None


def is_unmerged(event_time: int, length: int, settled: int | None) -> bool:
    """True if a transaction is not yet merged into its bucket of `length` ms."""
    return settled is None or event_time + length > settled
