"""The rules of one anchor in one shard: accepted transactions in, verdicts out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from tripline_contracts.event_type import GLOBAL_ANCHOR, EventType
from tripline_engine.domain.buckets.bucket_window import Buckets
from tripline_engine.domain.firing.firing_states import FiringRecords
from tripline_engine.domain.groups.group_identity import group_identity
from tripline_engine.domain.history.deduplication import SeenIds
from tripline_engine.domain.history.history import History
from tripline_engine.domain.history.history_columns import BACKFILLED, VOIDED
from tripline_engine.domain.history.row_filter import FilterCompiler
from tripline_engine.domain.history.voided import Voided
from tripline_engine.domain.judging.anchor_tuning import DEFAULT_TUNING, AnchorTuning
from tripline_engine.domain.judging.evaluation import BatchEvaluation, ingest
from tripline_engine.domain.judging.readings import RuleReading
from tripline_engine.domain.judging.reevaluation import judge_late_ones
from tripline_engine.domain.judging.rule_counters import rule_counter
from tripline_engine.domain.judging.trace_sample import TraceSample, sample_traces
from tripline_engine.domain.judging.verdict import Verdict
from tripline_engine.domain.judging.window_results import read_by
from tripline_engine.domain.judging.window_set import PersistedBuckets, WindowSet
from tripline_engine.domain.memory.arena import Arena, HeapArena
from tripline_engine.domain.rules.exclusions import Group
from tripline_engine.domain.rules.judged_spans import OPEN, JudgedSpans, Span
from tripline_engine.domain.rules.measures import BucketKey, Population
from tripline_engine.domain.rules.named_values import NamedValues
from tripline_engine.domain.rules.rule_book import RuleBook
from tripline_engine.domain.rules.rule_events import CatchUp
from tripline_engine.domain.rules.rule_version import JudgingVersion, RuleVersion, RuleVersionKey
from tripline_engine.domain.rules.watermarks import Watermarks
from tripline_engine.domain.rules.window_plan import WindowPlan
from tripline_engine.domain.transactions.columns import TransactionBatch
from tripline_engine.domain.transactions.hash_key import HashKey

_ID_MIX, _ANCHOR_MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)

# Arrays up to so many items, or with no more than so many times the room they need, are left as they are.
_SMALL, _MOST_ROOM = 1 << 14, 8

FiringByVersion = dict[RuleVersionKey, FiringRecords]


@dataclass(slots=True)
class Judgement:
    """What a run of transactions came to under all rules.

    :ivar firing: the firing states that they changed
    :ivar counts: by name, see `rule_counts`
    :ivar watched: the evaluations of each version that is traced
    """

    verdicts: list[Verdict] = field(default_factory=list)
    firing: FiringByVersion = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    watched: list[TraceSample] = field(default_factory=list)


class Anchor:
    """History, windows and remembered ids of one anchor.

    ``structure`` is what the arena already holds; an empty one for a new arena. ``named`` is the rule book's.
    """

    def __init__(
        self,
        arena: Arena,
        name: str,
        event_type: EventType,
        key: HashKey,
        named: NamedValues,
        structure: WindowPlan,
        tuning: AnchorTuning = DEFAULT_TUNING,
    ) -> None:
        self._tuning = tuning
        self._arena, self.name, self._event_type, self._key = arena, name, event_type, key
        self._compiler = FilterCompiler(event_type, key, named, name)
        self.history = History(arena, name, event_type, key, tuning.history)
        self.ids = SeenIds(arena, f"{name}.ids")
        self._windows = WindowSet(arena, self.history, self._compiler, structure, tuning=tuning)

    def identities(self, rows: TransactionBatch) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
        """128 bits by which equal (anchor value, transaction id) are known."""
        low, high = self._key.of(rows.ids)
        if self.name == GLOBAL_ANCHOR:
            return low, high
        anchor_low, anchor_high = self._key.of(rows.texts[self.name])
        return low ^ anchor_low * _ID_MIX, high + anchor_high * _ANCHOR_MIX

    def restructure(
        self,
        structure: WindowPlan,
        visibility: Watermarks,
        firing: Callable[[], FiringByVersion],
        kept: Callable[[BucketKey], PersistedBuckets],
    ) -> None:
        """Maintain exactly this from now on; what is new is built from the history and what the state log keeps."""
        self._windows.restructure(structure, visibility, firing, kept)

    def load(self, rows: TransactionBatch, following: int) -> None:
        """Take back transactions that were accepted earlier, before anything is built on them.

        Room is made at once for those ``following`` too.
        """
        if not self.history.end:
            self.history.reserve(len(rows) + following)
        self.history.append(rows)

    def remember(self, rows: TransactionBatch, id_floor: int, following: int) -> None:
        """Take back the ids of such transactions, in this thread or another one: they have arrays of their own.

        Those with an older record time (ms) than ``id_floor`` stay forgotten: none makes a duplicate any more.
        """
        recent = rows.take(rows.record_time >= id_floor, self._event_type)
        if len(recent):
            if not self.ids.count:
                self.ids.reserve(len(recent) + following)
            self.ids.restore(*self.identities(recent), recent.record_time)

    def remembered(self, id_floor: int) -> None:
        """All ids have been taken back. Room for more than there were would have everything built again soon."""
        if _MOST_ROOM * self.ids.count < self.ids.capacity:
            self.ids.expire(id_floor)

    def void(self, transaction_id: str, event_time: int, visibility: Watermarks) -> list[int]:
        """Make these transactions void; all windows are to be restructured then.

        :returns: their sequence numbers
        """
        rows = self.history.find(transaction_id, event_time)
        if len(rows):
            self.history.mark(rows, VOIDED)
            self._windows.restructure(WindowPlan.empty(), visibility, dict)
        return [int(row) + self.history.offset for row in rows]

    def void_again(self, voided: Iterable[Voided]) -> None:
        """Mark what has been void, before anything is built on it."""
        rows = np.array([each.sequence for each in voided], np.int64) - self.history.offset
        if len(rows):
            self.history.mark(rows[rows >= self.history.base], VOIDED)

    def judge(self, rows: TransactionBatch, book: RuleBook, visibility: Watermarks) -> Judgement:
        """Accept transactions, in the engine's order and none a duplicate, and hold every rule against them."""
        start = self.history.append(rows)
        oldest, newest = rows.oldest, int(rows.time.max(initial=0))
        entering = _entering(book, self.name, oldest)
        readers = [version for version, _, _ in entering]
        aggregates = ingest(self._windows, start, self.history.end, visibility, readers)
        judgement, everything = Judgement(), np.ones(len(rows), np.bool_)
        for version, since, until in entering:
            eligible = everything
            if since > oldest or until <= newest:
                eligible = (rows.time >= since) & (rows.time < until)
            if rows.backfilled is not None:
                brought = eligible & rows.backfilled & (self._slots(version, start) >= 0)
                judgement.counts[rule_counter(version.rule_id, "backfilled")] += int(brought.sum())
                eligible = eligible & ~rows.backfilled
            fired, reading = _hold(version, eligible, aggregates, book.judged, judgement)
            traced_until = book.traced.get(version.rule_id)
            if traced_until is not None:
                evaluated, late = aggregates.evaluated(version, eligible)
                judgement.watched.append(
                    sample_traces(reading, evaluated & (rows.record_time < traced_until), fired, late)
                )
            aggregates.found.let_go(version)
        aggregates.found.finish()
        return judgement

    def _slots(self, version: RuleVersion, start: int) -> npt.NDArray[np.int32]:
        """The groups under the version of the rows from number ``start`` on."""
        slots: npt.NDArray[np.int32] = self._windows.links[version.population].slots[start : self.history.end]
        return slots

    def catch_up(self, work: CatchUp, visibility: Watermarks) -> Judgement:
        """Judge, by a version just taken, what was accepted before any version was in force for it.

        Each transaction is judged over what was accepted before it: the history is gone through once more,
        in memory of its own.
        """
        version, history = work.version, self.history
        floor = visibility.floor(version.anchor, version.fields)
        empty, tuning = WindowPlan.empty(), self._tuning
        apart = WindowSet(HeapArena(), history, self._compiler, empty, floor, tuning)
        apart.restructure(WindowPlan.of_versions([version]), visibility, dict, build=False)
        aggregates = ingest(apart, history.base, history.end, visibility, [version])
        time = history.time[history.base : history.end]
        since = max(version.effective_from, visibility.visible_from(version))
        eligible = (time >= since) & (time < work.until)
        backfilled = history.marked(BACKFILLED, history.base, history.end)
        if backfilled is not None:
            eligible &= ~backfilled
        judgement, judged = Judgement(), JudgedSpans()
        judged.add(version.key, Span(0, OPEN, version.effective_from, work.until))
        _hold(version, eligible, aggregates, judged, judgement)
        judgement.verdicts = [self._from_history(verdict) for verdict in judgement.verdicts]
        return judgement

    def _from_history(self, verdict: Verdict) -> Verdict:
        """The verdict with its transaction as far as history knows it; rows count from the oldest."""
        if verdict.partial is not None:
            return verdict
        row = self.history.base + verdict.row
        return replace(verdict, partial=self.history.partial(row, verdict.version.fields))

    def expired(self, visibility: Watermarks) -> int:
        """The number after the last row that no rule, present or to come, can see singly any more."""
        return self.history.expired(visibility.floor(self.name, [self._event_type.time_field.name]))

    def merged(self, visibility: Watermarks, key: BucketKey, first: int) -> tuple[int, int]:
        """Rows from ``first`` on that the bucket set shows in its buckets only: some of them, and none before those."""
        history = self.history
        begun = history.expired(self._windows.span(visibility, key).begin, max(first, history.base))
        until = history.expired(visibility.floor(self.name, key.used), begun)
        return begun, min(until, begun + self._tuning.folded_rows)

    def fold(
        self, visibility: Watermarks, key: BucketKey, first: int, until: int, voided: Sequence[Voided]
    ) -> Buckets:
        """What a bucket set holds of the rows from ``first`` to ``until``."""
        window = self._windows.buckets[key]
        span, amounts = self._windows.span(visibility, key), self._windows.amounts(key.field)
        return window.apart(span, first, until, amounts, voided)

    @property
    def bucket_sets(self) -> Iterable[BucketKey]:
        """The bucket sets of its rules."""
        return self._windows.buckets.keys()

    def clean_up(self, visibility: Watermarks, until: int) -> None:
        """Let go of the rows before that number, and of buckets that no window reaches any more."""
        history = self.history
        self._windows.evict(visibility)
        self._drop(until)
        if history.base == history.end and self.ids.count:
            self.ids.expire(visibility.id_floor)
        if history.needs_compaction:
            delta = history.compact()
            self._windows.shift(delta, history.end)

    def prune(self, visibility: Watermarks) -> None:
        """Give up fields that no rule uses, in some of the rows in which no rule to come can see them."""
        for name in self.history.prunable:
            if name not in self._windows.used:
                self.history.prune(name, visibility.floor(self.name, [name]))

    @property
    def oversized(self) -> bool:
        """Whether its arrays are far larger than what they hold."""
        history, used = self.history, self._windows.used
        rows = history.end - history.base
        sizes = [(self.ids.capacity, self.ids.count)]
        if not self._arena.sparse:
            sizes.append((history.capacity, rows))
        sizes += self._windows.pools()
        sizes += [(table.capacity, table.used) for table in self._windows.tables()]
        # to build a long history again because hardly any text of it is left would not pay
        sizes += [
            (table.capacity, table.used if name in used else max(table.used, rows))
            for name, table in history.values.items()
        ]
        return any(capacity > _SMALL and _MOST_ROOM * used < capacity for capacity, used in sizes)

    @property
    def unbacked_bytes(self) -> int:
        """Bytes of its arrays for which there is no memory."""
        if not self._arena.sparse:
            return 0
        history, windows = self.history, self._windows
        return (
            history.released_bytes
            + history.reserved_bytes
            + windows.unbacked_bytes(history.released_until, history.end)
        )

    def clear(self) -> None:
        """Forget all transactions and firing states; their ids stay."""
        self._drop(self.history.end)
        self._windows.empty_buckets()
        self._windows.forget_firing()

    def group_identity(self, group: Group) -> tuple[int, int]:
        """The 128 bits, as (low, high), by which firing states know the group."""
        return group_identity(group, self._compiler)

    def close_firing(self, rule_id: int) -> None:
        """Let go of the rule's firing states until the next restructuring, which takes what is durable of them."""
        self._windows.close_states(rule_id)

    def _drop(self, until: int) -> None:
        history, given = self.history, self.history.released_until
        if until > history.base:
            self._windows.drop(history.base, until)
            history.drop(until)
            if history.released_until > given:
                self._windows.release_rows(given, history.released_until)


def _entering(book: RuleBook, anchor: str, oldest: int) -> list[JudgingVersion]:
    """The versions in force on the anchor, and those that must follow all the same (they judge nothing new).

    Those that read the same stand together, and what is of the same groups too: it is still in the processor's cache.

    :param oldest: the oldest event time (ms) that there is to judge
    """
    found: dict[Population, dict[object, list[JudgingVersion]]] = {}
    for item in _following(book, anchor, oldest):
        version = item[0]
        reads = next(read_by(version), None)
        found.setdefault(version.population, {}).setdefault(reads, []).append(item)
    return [item for groups in found.values() for items in groups.values() for item in items]


def _following(book: RuleBook, anchor: str, oldest: int) -> Iterator[JudgingVersion]:
    judging = {item[0].key: item for item in book.judging(anchor, oldest)}
    yield from judging.values()
    for version in book.versions():
        definition = version.definition
        again = definition.late_events == "reevaluate" and not book.rules[version.rule_id].paused
        if (definition.reset_on_alert or again) and version.anchor == anchor and version.key not in judging:
            yield version, 0, 0


def _hold(
    version: RuleVersion,
    eligible: npt.NDArray[np.bool_],
    aggregates: BatchEvaluation,
    judged: JudgedSpans,
    judgement: Judgement,
) -> tuple[npt.NDArray[np.bool_], RuleReading]:
    """Hold the version against the rows that it may judge (bool, n): where it fired, and what it read."""
    fired, reading = aggregates.fire(version, eligible)
    if fired.any():
        judgement.verdicts.extend(reading.verdicts(fired, aggregates.visibility.warm_from(version)))
    states = aggregates.changed_states(version, eligible, fired)
    for name, count in aggregates.counts(version, eligible).items():
        judgement.counts[rule_counter(version.rule_id, name)] += count
    if version.definition.late_events == "reevaluate":
        again = judge_late_ones(aggregates, version, fired, judged.of(version.key))
        judgement.verdicts.extend(again.verdicts)
        judgement.counts[rule_counter(version.rule_id, "reevaluated")] += again.judged
        states = again.states
    if states is not None:
        judgement.firing[version.key] = states
    return fired, reading
