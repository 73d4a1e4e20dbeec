"""The accepted transactions of each anchor, as plain lists (semantics 3 and 5)."""

from __future__ import annotations

from tests.oracle.parsers.rule_events import Settings, Version
from tests.oracle.parsers.transactions import Transaction
from tests.oracle.state.clock import Clock
from tests.oracle.state.firing_state import Key, key_of
from tests.oracle.values.schema import GLOBAL
from tests.oracle.windows.accepted_transaction import AcceptedTransaction, Void
from tests.oracle.windows.entries import Identity, entries_of, identity_of


class History:
    """Per anchor every transaction ever accepted, in order of acceptance; forgotten ones stay in it."""

    def __init__(self, anchors: tuple[str, ...]) -> None:
        self.accepted: dict[str, list[AcceptedTransaction]] = {anchor: [] for anchor in (*anchors, GLOBAL)}
        self.duplicates = 0
        self._identities: dict[str, list[tuple[Identity, Transaction]]] = {
            anchor: [] for anchor in self.accepted
        }
        self._needed: set[str] = set()
        # The sequence number from which on transactions count: for all, for a rule, for a group of a version.
        self._from = dict.fromkeys(self.accepted, 0)
        self._from_of_rule: dict[tuple[str, int], int] = {}
        self._from_of_group: dict[Key, int] = {}

    def accept(self, transaction: Transaction, clock: Clock, settings: Settings) -> dict[str, list[int]]:
        """Put it, or its entries, on every needed anchor where it has a value and is no duplicate.

        By anchor where it was taken, the sequence numbers there; -1 for an entry that is a duplicate.
        """
        taken: dict[str, list[int]] = {}
        reach = settings.allowed_lateness + settings.max_future_skew
        for anchor, earlier in self._identities.items():
            for entry in entries_of(transaction, anchor) if anchor in self._needed else ():
                identity = identity_of(entry, anchor)
                if any(
                    known == identity
                    and abs(other.record_time - entry.record_time) <= reach
                    and clock.remembers_id(other)
                    for known, other in earlier
                ):
                    self.duplicates += 1
                    taken.setdefault(anchor, []).append(-1)
                    continue
                earlier.append((identity, entry))
                taken.setdefault(anchor, []).append(len(self.accepted[anchor]))
                self.accepted[anchor].append(AcceptedTransaction(len(self.accepted[anchor]), entry))
        return taken

    def need(self, anchors: set[str]) -> tuple[set[str], set[str]]:
        """From now on these are needed; those whose need begins with that, and those whose need ends.

        What an anchor knew is forgotten with the end, ids too.
        """
        begun, ended = anchors - self._needed, self._needed - anchors
        for anchor in ended:
            self._from[anchor] = len(self.accepted[anchor])
            self._identities[anchor] = []
        self._needed = anchors
        return begun, ended

    def counts(self) -> dict[str, int]:
        """How many transactions each anchor has accepted."""
        return {anchor: len(accepted) for anchor, accepted in self.accepted.items()}

    def counted(self, anchor: str, rule_id: int) -> list[AcceptedTransaction]:
        """The transactions that count for a rule, in order; void ones are among them."""
        return self.accepted[anchor][self._begin(anchor, rule_id) :]

    def counted_of_group(
        self, version: Version, group: dict[str, str], anchor: str, last: int
    ) -> list[AcceptedTransaction]:
        """Those that count for one of the version's groups, other groups' among them, up to `last`."""
        begin = max(self._begin(anchor, version.rule_id), self._from_of_group.get(key_of(version, group), 0))
        return self.accepted[anchor][begin : last + 1]

    def _begin(self, anchor: str, rule_id: int) -> int:
        return max(self._from[anchor], self._from_of_rule.get((anchor, rule_id), 0))

    def clear(self) -> None:
        """Forget all transactions, but not their ids."""
        self._from = {anchor: len(accepted) for anchor, accepted in self.accepted.items()}

    def clear_rule(self, rule_id: int) -> None:
        """Forget them for one rule, whatever anchor its versions are on."""
        for anchor, accepted in self.accepted.items():
            self._from_of_rule[anchor, rule_id] = len(accepted)

    def clear_group(self, version: Version, group: dict[str, str], anchor: str) -> None:
        """Forget them for one group of a version, which is on that anchor."""
        self._from_of_group[key_of(version, group)] = len(self.accepted[anchor])

    def void(self, transaction_id: str, event_time: int, void: Void) -> None:
        """From now on those with this id and time are as if they had not been; their ids are remembered."""
        for accepted in self.accepted.values():
            for sequence, transaction, before in accepted:
                named = (transaction.transaction_id, transaction.event_time) == (transaction_id, event_time)
                if named and before is None:
                    accepted[sequence] = AcceptedTransaction(sequence, transaction, void)
