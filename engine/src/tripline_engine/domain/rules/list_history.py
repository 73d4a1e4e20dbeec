"""A named list: its changes since the oldest retained transaction, and which of them count for a transaction.

A change counts for what is accepted after it. Changes of one micro-batch are one moment: between them nothing is
accepted. Moments are numbered from 1 since the list began; at moment 0 it is empty.

    moment     settled                    newest
    ...........|---------|---------|------|          settled: the value that the oldest retained transaction has
               accepted  accepted  accepted          by anchor, the transactions accepted before the moment
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from tripline_engine.domain.memory.array_types import BoolArray, Int64Array, Uint64Array
from tripline_engine.domain.rules.list_memberships import ListMemberships
from tripline_engine.domain.transactions.hash_key import HashKey

Numbers = Mapping[str, int]
"""By anchor, a sequence number of acceptance."""
Operation = Literal["add", "remove", "replace"]
Change = tuple[Operation, Sequence[str]]
"""What happens to which texts, each once."""


@dataclass(frozen=True, slots=True)
class Moment:
    """The changes of one micro-batch, in their order.

    :ivar nonce: of the micro-batch that has stored them; 0 before
    """

    accepted: Numbers
    changes: list[Change]
    nonce: int = 0


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stored run of moments: its number, its size in bytes, and the nonce of its last moment."""

    number: int
    size: int
    nonce: int


@dataclass(slots=True, eq=False)
class ListHistory:
    """One list of one shard.

    :ivar settled: the newest moment that counts for all retained transactions
    :ivar unsaved: moments that are in no chunk
    :ivar chunks: where the others are stored
    :ivar begin: the texts before them, where these are in no chunk either
    """

    settled: int = 0
    unsaved: list[Moment] = field(default_factory=list)
    chunks: tuple[Chunk, ...] = ()
    begin: Sequence[str] = ()
    _moments: list[Numbers] = field(default_factory=list)
    _unread: list[tuple[int, Change]] = field(default_factory=list)
    _members: ListMemberships = field(default_factory=ListMemberships)
    _since: dict[str, Int64Array] = field(default_factory=dict)

    @property
    def nonce(self) -> int | None:
        """The nonce of the last stored moment; None where nothing is stored, or not all."""
        return self.chunks[-1].nonce if self.chunks and not self.unsaved else None

    @property
    def newest(self) -> int:
        """The last moment."""
        return self.settled + len(self._moments)

    @property
    def bytes(self) -> int:
        """What look-ups take in memory."""
        return self._members.bytes

    def change(self, change: Change, accepted: Numbers) -> None:
        """Make a change that counts for what is accepted from now on."""
        if not self.unsaved or self.unsaved[-1].accepted != accepted:
            self.unsaved.append(Moment(dict(accepted), []))
            self._add_moment(accepted)
        self.unsaved[-1].changes.append(change)
        self._unread.append((self.newest, change))

    def begin_with(self, values: Sequence[str], settled: int) -> None:
        """Let the list, which is empty so far, hold these at the moment `settled`."""
        self.settled = settled
        self._unread.append((settled, ("add", values)))

    def take_stored(self, moments: Iterable[Moment]) -> None:
        """Go on with moments that are in the chunks."""
        for moment in moments:
            self._add_moment(moment.accepted)
            self._unread += [(self.newest, change) for change in moment.changes]

    def compact(self, retained: Numbers) -> None:
        """Settle the moments that count for all retained transactions; by anchor, their oldest sequence number."""
        count = 0
        for accepted in self._moments:
            if any(number > retained[anchor] for anchor, number in accepted.items()):
                break
            count += 1
        self.settle(self.settled + count)

    def settle(self, moment: int) -> None:
        """Settle the moments up to this one."""
        if moment > self.settled:
            del self._moments[: moment - self.settled]
            self._since.clear()
            self.settled = moment
            self._members.drop(moment)

    def read(self, key: HashKey) -> None:
        """Have look-ups know all changes: only then their texts are needed no more."""
        for moment, (operation, texts) in _joined(self._unread):
            words = key.of_all(texts)
            if operation == "add":
                self._members.add(*words, moment)
            elif operation == "remove":
                self._members.remove(*words, moment)
            else:
                self._members.replace(*words, moment)
        self._unread.clear()

    def moment_of(self, anchor: str, first: int, until: int) -> Int64Array | int:
        """The moment of each of the anchor's transactions numbered from `first` to `until`; one if it is the same."""
        if not self._moments or self._moments[-1].get(anchor, 0) <= first:
            return self.newest
        if anchor not in self._since:
            self._since[anchor] = np.array([accepted.get(anchor, 0) for accepted in self._moments], np.int64)
        numbers = np.arange(first, until, dtype=np.int64)
        result: Int64Array = self.settled + np.searchsorted(self._since[anchor], numbers, side="right")
        return result

    def hold(self, low: Uint64Array, high: Uint64Array, moments: Int64Array | int, key: HashKey) -> BoolArray:
        """Whether the list had each of these identities at its moment."""
        if self._unread:
            self.read(key)
        return self._members.hold(low, high, moments)

    def _add_moment(self, accepted: Numbers) -> None:
        self._moments.append(dict(accepted))
        self._since.clear()


def _joined(unread: Sequence[tuple[int, Change]]) -> Iterator[tuple[int, Change]]:
    """Additions of one moment that follow on each other as one: an import is a hundred of them."""
    last: tuple[int, list[str]] | None = None
    for moment, (operation, texts) in unread:
        if last is not None and (operation != "add" or last[0] != moment):
            yield last[0], ("add", list(dict.fromkeys(last[1])))
            last = None
        if operation != "add":
            yield moment, (operation, texts)
        elif last is None:
            last = moment, list(texts)
        else:
            last[1].extend(texts)
    if last is not None:
        yield last[0], ("add", list(dict.fromkeys(last[1])))
