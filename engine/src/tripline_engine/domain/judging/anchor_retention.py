"""Retention of one anchor's arrays: rows and ids expire, buckets are evicted, columns that nothing reads are pruned."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tripline_engine.domain.buckets.bucket_window import Buckets
from tripline_engine.domain.history.deduplication import SeenIds
from tripline_engine.domain.history.history import History
from tripline_engine.domain.history.voided import Voided
from tripline_engine.domain.judging.window_set import WindowSet
from tripline_engine.domain.memory.arena import Arena
from tripline_engine.domain.rules.measures import BucketKey
from tripline_engine.domain.rules.rule_version import END_OF_TIME
from tripline_engine.domain.rules.watermarks import Watermarks

# Arrays of up to _SMALL items, or with room for at most _MOST_ROOM times what they hold, stay as they are.
_SMALL, _MOST_ROOM = 1 << 14, 8


class AnchorRetention:
    """Expiry of rows, ids and columns of one anchor, and the sizes of its arrays."""

    def __init__(
        self, arena: Arena, history: History, ids: SeenIds, windows: WindowSet, folded_rows: int
    ) -> None:
        self._arena, self._history, self._ids, self._windows = arena, history, ids, windows
        self._folded_rows = folded_rows

    def expired(self, floor: int) -> int:
        """The number after the last row that no rule sees singly, given the oldest event time (ms) that one sees."""
        return self._history.expired(floor)

    def foldable(self, watermarks: Watermarks, key: BucketKey, first: int) -> tuple[int, int]:
        """Rows from ``first`` on that the bucket set shows in its buckets only: some of them, and none before those."""
        history = self._history
        begin = history.expired(self._windows.span(watermarks, key).begin, max(first, history.base))
        end = history.expired(self._windows.floor_of(watermarks, key.used), begin)
        return begin, min(end, begin + self._folded_rows)

    def fold(
        self, watermarks: Watermarks, key: BucketKey, first: int, until: int, voided: Sequence[Voided]
    ) -> Buckets:
        """The buckets that a bucket set has of the rows from ``first`` to ``until``."""
        window = self._windows.buckets[key]
        span, amounts = self._windows.span(watermarks, key), self._windows.amounts(key.field)
        return window.detached(span, first, until, amounts, voided)

    @property
    def bucket_sets(self) -> Iterable[BucketKey]:
        """The bucket sets of the anchor's rules."""
        return self._windows.buckets.keys()

    def clean_up(self, watermarks: Watermarks, until: int) -> None:
        """Expire the rows before that number, and evict buckets that no window reaches any more."""
        history, ids = self._history, self._ids
        self._windows.evict(watermarks)
        self._expire(until)
        if history.base == history.end and ids.count:
            ids.expire(watermarks.id_floor)
        if history.needs_compaction:
            delta = history.compact()
            self._windows.shift(delta, history.end)

    def prune(self, watermarks: Watermarks) -> None:
        """Prune fields that no rule uses, in some of the rows in which no rule to come can see them."""
        for name in self._history.prunable:
            if name not in self._windows.used:
                self._history.prune(name, self._windows.floor_of(watermarks, [name]))

    def expire_spare_ids(self, id_floor: int) -> None:
        """After all ids have been loaded: give up room for more than there are, or everything would be rebuilt soon."""
        if _MOST_ROOM * self._ids.count < self._ids.capacity:
            self._ids.expire(id_floor)

    def clear(self) -> None:
        """Forget all transactions and firing states; their ids stay."""
        self._expire(self._history.end)
        self._windows.empty_buckets()
        self._windows.clear_firing()

    def forget(self) -> None:
        """Forget all there is, ids too."""
        self.clear()
        self._ids.expire(END_OF_TIME)

    @property
    def oversized(self) -> bool:
        """Whether the arrays are far larger than what they hold."""
        history, used = self._history, self._windows.used
        rows = history.end - history.base
        sizes = [(self._ids.capacity, self._ids.count)]
        if not self._arena.sparse:
            sizes.append((history.capacity, rows))
        sizes += self._windows.pools()
        sizes += [(table.capacity, table.used) for table in self._windows.tables()]
        # to rebuild a long history because hardly any text of it is left would not pay
        sizes += [
            (table.capacity, table.used if name in used else max(table.used, rows))
            for name, table in history.values.items()
        ]
        return any(capacity > _SMALL and _MOST_ROOM * held < capacity for capacity, held in sizes)

    @property
    def unbacked_bytes(self) -> int:
        """Bytes of the arrays for which there is no memory."""
        if not self._arena.sparse:
            return 0
        history = self._history
        behind_rows = self._windows.unbacked_bytes(history.released_until, history.end)
        return history.released_bytes + history.reserved_bytes + behind_rows

    def _expire(self, until: int) -> None:
        history, released = self._history, self._history.released_until
        if until > history.base:
            self._windows.drop(history.base, until)
            history.drop(until)
            if history.released_until > released:
                self._windows.release_rows(released, history.released_until)
