"""The arrays of one anchor in one shard, and rules evaluated over them: accepted transactions in, verdicts out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tripline_contracts.control_commands import Group
from tripline_contracts.event_type import GLOBAL_ANCHOR, SIDE, EventType
from tripline_engine.domain.groups.group_identity import group_identity
from tripline_engine.domain.history.deduplication import SeenIds
from tripline_engine.domain.history.history import History
from tripline_engine.domain.history.history_columns import BACKFILLED, VOIDED
from tripline_engine.domain.history.row_filter import FilterCompiler
from tripline_engine.domain.history.voided import Voided
from tripline_engine.domain.judging.anchor_retention import AnchorRetention
from tripline_engine.domain.judging.anchor_tuning import DEFAULT_TUNING, AnchorTuning
from tripline_engine.domain.judging.judgement import Judgement, evaluate_version, ingest, versions_to_evaluate
from tripline_engine.domain.judging.rule_counters import rule_counter
from tripline_engine.domain.judging.trace_sample import sample_traces
from tripline_engine.domain.judging.verdict import Verdict
from tripline_engine.domain.judging.window_build import restructure
from tripline_engine.domain.judging.window_set import WindowSet
from tripline_engine.domain.memory.arena import Arena, HeapArena
from tripline_engine.domain.memory.array_types import BoolArray, Millis
from tripline_engine.domain.rules.judged_spans import OPEN, JudgedSpans, Span
from tripline_engine.domain.rules.named_values import NamedValues
from tripline_engine.domain.rules.rule_book import RuleBook
from tripline_engine.domain.rules.rule_events import CatchUp
from tripline_engine.domain.rules.rule_version import END_OF_TIME, RuleVersion
from tripline_engine.domain.rules.watermarks import Watermarks
from tripline_engine.domain.rules.window_plan import WindowPlan
from tripline_engine.domain.state_log.anchor_log import AnchorLog
from tripline_engine.domain.transactions.columns import TransactionBatch
from tripline_engine.domain.transactions.hash_key import HashKey

_ID_MIX, _ANCHOR_MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
_SIDE_MIX = np.uint64(0x165667B19E3779F9)


@dataclass(frozen=True, slots=True)
class AnchorSchema:
    """The making of an anchor's arrays: its name, the type of its rows, and the key of their identities."""

    name: str
    event_type: EventType
    key: HashKey


class Anchor:
    """History, windows and seen ids of one anchor.

    ``plan`` is what the arena already holds; an empty one for a new arena. ``named`` is the rule book's.

    :ivar retention: expiry, eviction and column pruning of these arrays
    """

    def __init__(
        self,
        arena: Arena,
        schema: AnchorSchema,
        named: NamedValues,
        plan: WindowPlan,
        tuning: AnchorTuning = DEFAULT_TUNING,
    ) -> None:
        self._tuning = tuning
        self.name, self._event_type, self._key = schema.name, schema.event_type, schema.key
        self._compiler = FilterCompiler(schema.event_type, schema.key, named, schema.name)
        self.history = History(arena, schema.name, schema.event_type, schema.key, tuning.history)
        self.ids = SeenIds(arena, f"{schema.name}.ids")
        self.windows = WindowSet(arena, self.history, self._compiler, plan, tuning=tuning)
        self.retention = AnchorRetention(arena, self.history, self.ids, self.windows, tuning.folded_rows)

    def identities(self, rows: TransactionBatch) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
        """128 bits by which equal (anchor value, transaction id) are known, of entries with their side."""
        low, high = self._key.of(rows.ids)
        if self.name == GLOBAL_ANCHOR:
            return low, high
        anchor_low, anchor_high = self._key.of(rows.texts[self.name])
        if self._event_type.party(self.name) is not None:
            side_low, side_high = self._key.of(rows.texts[SIDE])
            anchor_low, anchor_high = anchor_low + side_low * _SIDE_MIX, anchor_high ^ side_high * _SIDE_MIX
        return low ^ anchor_low * _ID_MIX, high + anchor_high * _ANCHOR_MIX

    def accept_ids(self, rows: TransactionBatch, reach_ms: Millis, floor_ms: Millis) -> BoolArray:
        """Of n transactions, in order: False for a duplicate. Remembers the others, see `SeenIds.accept`."""
        if self._tuning.ids_are_distinct:
            return np.ones(len(rows), np.bool_)
        return self.ids.accept(*self.identities(rows), rows.record_time, reach_ms, floor_ms)

    def restructure(self, plan: WindowPlan, watermarks: Watermarks, log: AnchorLog) -> None:
        """Maintain exactly this from now on; what is new is built from the history and from the log."""
        restructure(self.windows, plan, watermarks, log)

    def load(self, rows: TransactionBatch, following: int) -> None:
        """Load transactions that were accepted earlier, before anything is built on them.

        Room is made at once for those ``following`` too.
        """
        if not self.history.end:
            self.history.reserve(len(rows) + following)
        self.history.append(rows)

    def load_ids(self, rows: TransactionBatch, id_floor: int, following: int) -> None:
        """Load the ids of such transactions, in this thread or another one: they have arrays of their own.

        Those with an older record time (ms) than ``id_floor`` have expired: none makes a duplicate any more.
        """
        recent = rows.filter(rows.record_time >= id_floor, self._event_type)
        if len(recent):
            if not self.ids.count:
                self.ids.reserve(len(recent) + following)
            self.ids.restore(*self.identities(recent), recent.record_time)

    def void(self, transaction_id: str, event_time: int, watermarks: Watermarks) -> list[int]:
        """Make these transactions void; all windows are to be restructured then.

        :returns: their sequence numbers
        """
        rows = self.history.find(transaction_id, event_time)
        if len(rows):
            self.history.mark(rows, VOIDED)
            restructure(self.windows, WindowPlan.empty(), watermarks, None)
        return [int(row) + self.history.offset for row in rows]

    def void_again(self, voided: Iterable[Voided]) -> None:
        """Mark the void transactions among those just loaded, before anything is built on them."""
        rows = np.array([void.sequence for void in voided], np.int64) - self.history.offset
        if len(rows):
            self.history.mark(rows[rows >= self.history.base], VOIDED)

    def judge(self, rows: TransactionBatch, book: RuleBook, watermarks: Watermarks) -> Judgement:
        """Accept transactions, in the engine's order and none a duplicate, and evaluate every rule for them."""
        start = self.history.append(rows)
        oldest, newest = rows.oldest, int(rows.time.max(initial=0))
        versions = versions_to_evaluate(book, self.name, oldest)
        readers = [version for version, _, _ in versions]
        evaluation = ingest(self.windows, start, self.history.end, watermarks, readers)
        judgement = Judgement(self._tuning.telling.counted)
        every_row = np.ones(len(rows), np.bool_)
        for version, since, until in versions:
            eligible = every_row
            if since > oldest or until <= newest:
                eligible = (rows.time >= since) & (rows.time < until)
            if rows.backfilled is not None:
                counts = Counter[str]() if version.is_shadow else judgement.counts
                filled = eligible & rows.backfilled & (self._slots(version, start) >= 0)
                counts[rule_counter(version.rule_id, "backfilled")] += int(filled.sum())
                unseen = filled & _beyond_buckets(version, rows, watermarks)
                counts[rule_counter(version.rule_id, "backfilled_unseen")] += int(unseen.sum())
                eligible = eligible & ~rows.backfilled
            fired, reading = evaluate_version(version, eligible, evaluation, book.judged, judgement)
            traced_until = self._traced_until(version, book)
            if traced_until is not None:
                evaluated, late = evaluation.evaluated(version, eligible)
                traced = evaluated & (rows.record_time < traced_until)
                judgement.traces.append(
                    sample_traces(reading, traced, fired, late, evaluation.cooled.get(version.key))
                )
            evaluation.results.release(version)
        evaluation.results.finish()
        return judgement

    def catch_up(self, work: CatchUp, watermarks: Watermarks) -> Judgement:
        """Judge, by a version just applied, what was accepted before any version was in force for it.

        Each transaction is judged over what was accepted before it: the history is gone through once more,
        in memory of its own.
        """
        version, history = work.version, self.history
        floor = watermarks.rows_from(version)
        empty, tuning = WindowPlan.empty(), self._tuning
        detached = WindowSet(HeapArena(), history, self._compiler, empty, floor, tuning)
        restructure(detached, WindowPlan.of_versions([version]), watermarks, None, build=False)
        evaluation = ingest(detached, history.base, history.end, watermarks, [version])
        time = history.time[history.base : history.end]
        since = max(version.effective_from, watermarks.visible_from(version), floor)
        eligible = (time >= since) & (time < work.until)
        backfilled = history.marked(BACKFILLED, history.base, history.end)
        if backfilled is not None:
            eligible &= ~backfilled
        judgement, judged = Judgement(), JudgedSpans()
        judged.add(version.key, Span(0, OPEN, version.effective_from, work.until))
        evaluate_version(version, eligible, evaluation, judged, judgement)
        judgement.verdicts = [self._from_history(verdict) for verdict in judgement.verdicts]
        return judgement

    def group_identity(self, group: Group) -> tuple[int, int]:
        """The 128 bits, as (low, high), by which firing states know the group."""
        return group_identity(group, self._compiler)

    def close_firing(self, rule_id: int) -> None:
        """Release the rule's firing states until the next restructuring, which builds them from the log."""
        self.windows.close_states(rule_id)

    def _traced_until(self, version: RuleVersion, book: RuleBook) -> int | None:
        """The record time (ms) before which evaluations of the version are told; None for none of them.

        Those of shadows are not: a trace is of what its rule does.
        """
        if version.is_shadow:
            return None
        return END_OF_TIME if self._tuning.telling.every_trace else book.traced.get(version.rule_id)

    def _slots(self, version: RuleVersion, start: int) -> npt.NDArray[np.int32]:
        """The groups under the version of the rows from number ``start`` on."""
        slots: npt.NDArray[np.int32] = self.windows.lists[version.population].slots[start : self.history.end]
        return slots

    def _from_history(self, verdict: Verdict) -> Verdict:
        """The verdict with its transaction as far as history knows it; rows count from the oldest."""
        if verdict.partial is not None:
            return verdict
        row = self.history.base + verdict.row
        return replace(verdict, partial=self.history.partial(row, verdict.version.fields))


def _beyond_buckets(
    version: RuleVersion, rows: TransactionBatch, watermarks: Watermarks
) -> npt.NDArray[np.bool_]:
    """Which rows a bucketed version would reach, and does not see: its buckets begin later, and never earlier again."""
    if version.bucket_ms is None:
        return np.zeros(len(rows), np.bool_)
    reach = watermarks.lateness_floor - version.window_ms
    beyond: npt.NDArray[np.bool_] = (rows.time >= reach) & (rows.time < watermarks.visible_from(version))
    return beyond
