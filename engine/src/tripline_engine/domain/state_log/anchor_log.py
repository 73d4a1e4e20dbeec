"""The durable half of one anchor's state: segments of its history, firing states, buckets in the shard's state log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tripline_contracts.event_type import EventType
from tripline_engine.domain.buckets.bucket_window import Buckets
from tripline_engine.domain.firing.firing_states import FiringRecords
from tripline_engine.domain.history.voided import Voided
from tripline_engine.domain.rules.rule_version import RuleVersionKey
from tripline_engine.domain.state_log.bucket_log import BucketLog
from tripline_engine.domain.state_log.firing_log import FiringLog, RetentionFloor, StateRetention
from tripline_engine.domain.state_log.segment import PruneBounds
from tripline_engine.domain.state_log.segment_log import DEFAULT_TUNING, SegmentLog, SegmentTuning
from tripline_engine.domain.state_log.state_log import StateLog
from tripline_engine.domain.transactions.columns import TransactionBatch


@dataclass(frozen=True, slots=True)
class PersistedBuckets:
    """The content of one bucket set in the state log.

    :ivar buckets: run by run; a bucket is the sum of what they say
    :ivar first: the sequence number of the first transaction that is not among them
    :ivar voided: the void transactions among those that are still in the history
    """

    buckets: Iterable[Buckets]
    first: int
    voided: Sequence[Voided]


class AnchorLog:
    """Segments, firing states and buckets of one anchor, bound to the state log that keeps them.

    Nothing is read before it is asked for.
    """

    def __init__(self, log: StateLog, segments: SegmentLog, firing: FiringLog, buckets: BucketLog) -> None:
        self._log, self.segments, self.firing, self.buckets = log, segments, firing, buckets

    @staticmethod
    def empty(
        log: StateLog, anchor: str, event_type: EventType, tuning: SegmentTuning = DEFAULT_TUNING
    ) -> AnchorLog:
        """The log of an anchor that has accepted nothing."""
        segments = SegmentLog(anchor, event_type, tuning=tuning)
        return AnchorLog(log, segments, FiringLog(anchor, [], 0), BucketLog(anchor))

    @property
    def rows(self) -> int:
        """Transactions in the log."""
        return self.segments.accepted - self.segments.first

    def read_rows(self) -> Iterator[tuple[TransactionBatch, bool]]:
        """All transactions, oldest first, in runs; and of each run whether it has been cleared."""
        return self.segments.read(self._log)

    def read_firing(self) -> dict[RuleVersionKey, FiringRecords]:
        """The firing states of all versions."""
        return self.firing.read(self._log)

    def read_buckets(self, path: str) -> PersistedBuckets:
        """The bucket set of that path; its runs are read one by one."""
        runs, folded = self.buckets.read(path, self._log), self.buckets.sets[path].folded
        return PersistedBuckets(runs, folded, self.segments.voided)

    def append(self, rows: TransactionBatch | None, firing: Mapping[RuleVersionKey, FiringRecords]) -> None:
        """Write accepted transactions, if there are any, and the firing states that have changed with them."""
        if rows is not None:
            self.segments.append(rows, self._log)
        self.firing.append(firing, self._log)

    def retain_bucket_sets(self, begun: Mapping[str, int], first: int) -> None:
        """Keep exactly these bucket sets, see `BucketLog.hold`."""
        self.buckets.hold(begun, first, self._log)

    def fold(self, path: str, buckets: Buckets, until: int) -> None:
        """Add to a bucket set what its buckets hold of the transactions before that sequence number."""
        self.buckets.fold(path, buckets, until, self._log)

    def compact_buckets(self, path: str, floor: int, length_ms: int) -> None:
        """Remove runs whose buckets all lie before that one, and compact the first series that is long enough."""
        self.buckets.tidy(path, floor, length_ms, self._log)

    def compact_rows(self) -> bool:
        """One step of the segments' compaction; whether rows were written."""
        return self.segments.compact(self._log)

    def compact_firing(
        self, retained: Callable[[], Mapping[RuleVersionKey, StateRetention]], lateness_floor: int
    ) -> None:
        """One step of the firing states' compaction, see `FiringLog.merge`."""
        self.firing.merge(self._log, retained, RetentionFloor(self.segments.first, lateness_floor))

    def expire(self, time_floor: int, id_floor: int) -> None:
        """Remove segments whose transactions are out of every window and whose ids (both in ms) have expired."""
        self.segments.expire(time_floor, id_floor, self._log)

    def prune(self, bounds: Mapping[str, PruneBounds]) -> int:
        """Drop, in the oldest entry that has such, the fields that nothing asks for; how many fields those were."""
        return self.segments.prune(bounds, self._log)

    def clear(self) -> None:
        """Forget all transactions, but for their ids, and all firing states and buckets."""
        self.segments.clear()
        self.firing.clear(self._log)
        self.buckets.clear(self.segments.accepted, self._log)

    def forget(self) -> None:
        """Forget all there is, ids too. Sequence numbers go on."""
        self.segments.forget(self._log)
        self.firing.clear(self._log)
        self.buckets.clear(self.segments.accepted, self._log)

    def clear_rule(self, rule_id: int) -> None:
        """Forget the firing states of a rule."""
        self.firing.forget_rule(rule_id, self._log)

    def clear_group(self, key: RuleVersionKey, identity: tuple[int, int]) -> None:
        """Forget the firing state of one group under a version; its identity as (low, high)."""
        self.firing.forget_group(key, identity, self._log)
