"""The state of one anchor in a shard, for one micro-batch: the log that is the truth, and the arrays that follow it.

rules, ticks, transactions ──▶ AnchorState ──▶ arrays   `Anchor`: history, windows, seen ids (a projection)
                                    └────────▶ log      `AnchorLog`: segments, firing states, buckets (durable)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tripline_contracts.control_commands import Group
from tripline_contracts.event_type import SIDE
from tripline_engine.domain.judging.anchor import Anchor
from tripline_engine.domain.judging.judgement import Judgement
from tripline_engine.domain.rules.rule_book import RuleBook
from tripline_engine.domain.rules.rule_events import CatchUp
from tripline_engine.domain.rules.rule_version import RuleVersion, RuleVersionKey
from tripline_engine.domain.rules.watermarks import Watermarks
from tripline_engine.domain.rules.window_plan import WindowPlan
from tripline_engine.domain.state_log.anchor_log import AnchorLog
from tripline_engine.domain.state_log.firing_log import StateRetention
from tripline_engine.domain.state_log.segment import PruneBounds
from tripline_engine.domain.transactions.columns import TransactionBatch


class AnchorState:
    """Whatever changes the arrays changes the log with them.

    :ivar arrays: the anchor's arrays
    :ivar log: the anchor's part of the state log
    """

    def __init__(self, arrays: Anchor, log: AnchorLog, watermarks: Watermarks, time_field: str) -> None:
        self.arrays, self.log, self._watermarks, self._time_field = arrays, log, watermarks, time_field

    @property
    def name(self) -> str:
        """The anchor's name."""
        return self.arrays.name

    @property
    def time_floor(self) -> int:
        """The oldest event time (ms) that any rule on the anchor can see."""
        return self._watermarks.floor(self.name, [self._time_field], kept=True)

    def restructure(self, plan: WindowPlan) -> None:
        """Maintain the windows of the plan; what is new is built from the history, and from the log."""
        self.arrays.restructure(plan, self._watermarks, self.log)

    def judge(self, accepted: TransactionBatch, book: RuleBook) -> Judgement:
        """Accept transactions, none a duplicate, and evaluate every rule on the anchor for them."""
        judgement = self.arrays.judge(accepted, book, self._watermarks)
        self.log.append(accepted, judgement.firing)
        return judgement

    def catch_up(self, work: CatchUp) -> Judgement:
        """Let a version judge what was accepted before any version was in force for it."""
        judgement = self.arrays.catch_up(work, self._watermarks)
        self.log.append(None, judgement.firing)
        return judgement

    def retain_bucket_sets(self, begun: Mapping[str, int]) -> None:
        """Keep exactly these bucket sets, by path with the position in rules.v1 at which they began."""
        history = self.arrays.history
        self.log.retain_bucket_sets(begun, history.base + history.offset)

    def clean_up(self) -> int:
        """Expire, evict and prune what no rule sees any more, in the arrays and in the log.

        :returns: how many columns were pruned in the log
        """
        retention, watermarks = self.arrays.retention, self._watermarks
        until = retention.expired(self.time_floor)
        self._fold(until)
        retention.clean_up(watermarks, until)
        retention.prune(watermarks)
        self.log.expire(self.time_floor, watermarks.id_floor)
        return self.log.prune(self._prune_bounds())

    def compact_firing(self, retained: Callable[[], Mapping[RuleVersionKey, StateRetention]]) -> None:
        """One step of compaction of the firing states in the log."""
        self.log.compact_firing(retained, self._watermarks.lateness_floor)

    def void(self, transaction_id: str, event_time: int, position: int) -> None:
        """Make a transaction void, by the command at that position; the windows are to be restructured then."""
        sequences = self.arrays.void(transaction_id, event_time, self._watermarks)
        self.log.segments.void(sequences, position, self._watermarks.lateness_floor)

    def clear(self) -> None:
        """Forget all transactions but for their ids, and all firing states."""
        self.arrays.retention.clear()
        self.log.clear()

    def forget(self) -> None:
        """Forget all there is, ids too: no rule needs the anchor any more."""
        self.arrays.retention.forget()
        self.log.forget()

    def clear_rule(self, rule_id: int) -> None:
        """Forget the firing states of a rule."""
        self.arrays.close_firing(rule_id)
        self.log.clear_rule(rule_id)

    def clear_group(self, version: RuleVersion, group: Group) -> None:
        """Forget the firing state of one group under a version."""
        self.arrays.close_firing(version.rule_id)
        if version.definition.late_events != "reevaluate":
            # there the states are not of groups but of transactions, which are in no list any more
            self.log.clear_group(version.key, self.arrays.group_identity(group))

    def _fold(self, until: int) -> None:
        """Write to the log what bucket sets hold of the rows before that number, which are about to expire.

        And of those that a set shows in its buckets only: their fields may be pruned before the rows expire.
        """
        retention, watermarks, offset = self.arrays.retention, self._watermarks, self.arrays.history.offset
        for key in retention.bucket_sets:
            path = key.path(self.name)
            first = self.log.buckets.sets[path].folded - offset
            begin, foldable = retention.foldable(watermarks, key, first)
            end = max(until, foldable)
            if first < end:
                buckets = retention.fold(watermarks, key, min(begin, end), end, self.log.segments.voided)
                self.log.fold(path, buckets, end + offset)
            floor = watermarks.span(self.name, key).floor // key.length_ms
            self.log.compact_buckets(path, floor, key.length_ms)

    def _prune_bounds(self) -> dict[str, PruneBounds]:
        """By field, up to where nothing asks for it any more."""
        name, watermarks = self.name, self._watermarks
        bounds = {
            field: PruneBounds(watermarks.floor(name, [field], kept=True))
            for field in self.arrays.history.prunable
        }
        for key in self.arrays.retention.bucket_sets:
            folded = self.log.buckets.sets[key.path(name)].folded
            for field in bounds.keys() & key.used:
                bounds[field] = bounds[field]._replace(sequence=min(bounds[field].sequence, folded))
        for field in bounds.keys() & {name, SIDE}:
            # an id is remembered together with the anchor's value, and an entry's with its side
            bounds[field] = bounds[field]._replace(record=watermarks.id_floor)
        return bounds
