"""The steps of one micro-batch in one shard."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

import msgspec
import pyarrow as pa

from tripline_contracts.control_commands import ExportRules
from tripline_engine.domain.rules.event_decoder import position_of
from tripline_engine.domain.rules.log_position import PositionReport, is_report_due
from tripline_engine.domain.rules.rule_events import (
    ControlApplied,
    RuleApplied,
    RuleEventGap,
    UnreadableRuleEvent,
)
from tripline_engine.domain.rules.rule_version import RuleVersionKey
from tripline_engine.domain.shard.anchor_need import AnchorNeed
from tripline_engine.domain.shard.batch_output import BatchOutput
from tripline_engine.domain.shard.batch_transactions import BatchTransactions
from tripline_engine.domain.shard.command_handler import apply_command
from tripline_engine.domain.shard.kafka_records import (
    export_record,
    order_record,
    position_record,
    reject_record,
    status_record,
)
from tripline_engine.domain.shard.ports import Kind, Payload
from tripline_engine.domain.shard.projection import Projection
from tripline_engine.domain.shard.tick import TickAhead, UnreadableTick, read_tick
from tripline_engine.domain.state_log.firing_log import StateRetention
from tripline_engine.domain.state_log.head import Head, write_book
from tripline_engine.domain.state_log.state_log import StateLog
from tripline_engine.domain.transactions.columns import MIN_TIME
from tripline_engine.domain.transactions.hash_key import HashKey

_log = logging.getLogger(__name__)


class Batch:
    """One micro-batch: rule events, ticks, retention, transactions, then one step of compaction."""

    def __init__(self, output: BatchOutput, head: Head, projection: Projection, log: StateLog) -> None:
        self._output, self._head, self._projection, self._log = output, head, projection, log
        self._state = projection.state(head)
        self._need = AnchorNeed(self._state, output.config, head.needed)

    def run(self, payloads: Sequence[Payload]) -> None:
        """Apply the payloads to the shard's state; what follows from them goes to the output."""
        by_kind: dict[Kind, list[Payload]] = {kind: [] for kind in Kind}
        for payload in payloads:
            by_kind[payload.kind].append(payload)
        for name, anchor in self._state.anchors.items():
            self._state.book.accepted[name] = anchor.log.segments.accepted
        changed = self._apply_rule_events(by_kind[Kind.RULE_EVENT])
        changed |= self._apply_ticks(by_kind[Kind.TICK])
        if changed:
            self._follow_rule_book()
        if by_kind[Kind.TICK]:
            for anchor in self._state.anchors.values():
                self._output.counters["pruned_columns"] += anchor.clean_up()
        if by_kind[Kind.TRANSACTIONS]:
            transactions = BatchTransactions(self._output, self._state, self._need.needed)
            rows = transactions.read(by_kind[Kind.TRANSACTIONS])
            self._projection.expect(len(rows))
            transactions.judge(rows)
        for payload in by_kind[Kind.PARSE_REJECTS]:
            self._report_unreadable(payload.data)
        self._head.needed = self._need.needed if self._need.is_on_demand else None
        self._output.counters["needed_anchors"] = self._need.mask
        if self._output.shard == 0:
            self._record_order(by_kind)
        self._compact()

    def _apply_rule_events(self, payloads: Sequence[Payload]) -> bool:
        """Apply rule events by position; whether anything changed."""
        book, changed = self._state.book, False
        for payload in sorted(payloads, key=_position):
            before = book.position, book.is_waiting
            try:
                applied = book.apply(payload.data)
            except (UnreadableRuleEvent, RuleEventGap) as error:
                is_gap = isinstance(error, RuleEventGap)
                self._output.counters["rule_event_gaps" if is_gap else "unreadable_rule_events"] += 1
                _log.warning("rule event at offset %d refused: %s", payload.position, error)
                applied = None
            changed |= (book.position, book.is_waiting) != before
            match applied:
                case RuleApplied():
                    self._need.follow_event(applied)
                    applied = self._reopened(applied)
                    self._report_applied(applied)
                    if applied.catch_up:
                        anchor = self._state.anchors[applied.catch_up.version.anchor]
                        judgement = anchor.catch_up(applied.catch_up)
                        book.record_judged(applied.catch_up)
                        self._output.counters.update(judgement.counts)
                        self._output.raise_history_alerts(judgement.verdicts)
                case ControlApplied():
                    self._apply_command(applied)
        return changed

    def _reopened(self, applied: RuleApplied) -> RuleApplied:
        """The event, after history was reopened for its rule if a backfill stands."""
        book, watermarks = self._state.book, self._state.watermarks
        if applied.rule_id not in book.rules:
            return applied
        if book.backfills and not applied.newest.is_shadow:
            watermarks.reopen([applied.newest], book.accepted)
        book.hide([applied.rule_id], watermarks.exclusions)
        newest = next(held for held in book.rules[applied.rule_id].held if held.key == applied.newest.key)
        catch_up = applied.catch_up and replace(applied.catch_up, version=newest)
        return replace(applied, newest=newest, catch_up=catch_up)

    def _report_applied(self, applied: RuleApplied) -> None:
        """The status record; that of a deleted rule tells its last bucket sets."""
        output, book, watermarks = self._output, self._state.book, self._state.watermarks
        if applied.rule_id in book.rules:
            watermarks.sync_spans(book)
        warm_from = watermarks.warm_from(applied.newest)
        output.records.append(
            status_record(applied, output.shard, output.config.shards, warm_from, output.now)
        )
        if applied.rule_id not in book.rules:
            watermarks.sync_spans(book)

    def _apply_command(self, applied: ControlApplied) -> None:
        output = self._output
        apply_command(applied.command, applied.position, self._state)
        if isinstance(applied.command, ExportRules):
            rules, shards = self._state.book.rules.values(), output.config.shards
            output.records.append(
                export_record(applied.command_id, applied.position, rules, output.shard, shards, output.now)
            )

    def _apply_ticks(self, payloads: Sequence[Payload]) -> bool:
        """Apply ticks by offset; whether versions have expired with them."""
        watermarks, changed = self._state.watermarks, False
        for payload in sorted(payloads, key=lambda payload: payload.position):
            try:
                clock = read_tick(payload.data, self._output.config.clock)
            except UnreadableTick:
                self._output.counters["unreadable_ticks"] += 1
            except TickAhead as error:
                self._output.counters["refused_ticks"] += 1
                _log.warning("tick at offset %d refused: %s", payload.position, error)
            else:
                if watermarks.clock is None or clock >= watermarks.clock:
                    changed |= self._apply_tick(clock)
        return changed

    def _apply_tick(self, clock: int) -> bool:
        """Move the clock; whether versions have expired with it, or other floors than others' hold for shadows."""
        book, watermarks = self._state.book, self._state.watermarks
        self._report_position(watermarks.clock, clock)
        is_expired = book.expire(clock)
        if is_expired:
            self._need.follow()
        if is_expired and watermarks.spans:
            watermarks.sync_spans(book)
        is_kept_for_shadows = watermarks.kept is not None
        watermarks.tick(clock, book)
        return is_expired or is_kept_for_shadows != (watermarks.kept is not None)

    def _report_position(self, before: int | None, clock: int) -> None:
        output, log_position = self._output, self._state.book.log_position
        if is_report_due(log_position, self._head.reported, before, clock):
            self._head.reported = PositionReport(log_position.position, log_position.is_waiting, clock)
            output.records.append(
                position_record(log_position, output.config, output.shard, self._head.sequence, output.now)
            )

    def _follow_rule_book(self) -> None:
        """Have log and windows follow a rule book that has changed."""
        state, head = self._state, self._head
        state.book.hide(list(state.book.rules), state.watermarks.exclusions)
        state.book.record_judging({name: anchor.log.segments.first for name, anchor in state.anchors.items()})
        self._retain_bucket_sets()
        state.watermarks.retain_rules(state.book.rules)
        head.book_nonce = head.nonce
        write_book(state.book, self._log, head.nonce, HashKey(*self._output.config.hash_key))
        state.restructure()

    def _retain_bucket_sets(self) -> None:
        begun: dict[str, dict[str, int]] = {name: {} for name in self._state.anchors}
        for version in self._state.book.versions():
            for measure in version.measures:
                if measure.buckets is not None:
                    span = self._state.watermarks.span(version.anchor, measure.buckets)
                    begun[version.anchor][measure.buckets.path(version.anchor)] = span.begun
        for name, anchor in self._state.anchors.items():
            anchor.retain_bucket_sets(begun[name])

    def _compact(self) -> None:
        # rows of one anchor per micro-batch: all of them tend to have enough small segments at the same time
        anchors = list(self._state.anchors.values())
        first = self._head.sequence % len(anchors)
        any(anchor.log.compact_rows() for anchor in anchors[first:] + anchors[:first])
        for anchor in anchors:
            anchor.compact_firing(self._state_retention)

    def _state_retention(self) -> dict[RuleVersionKey, StateRetention]:
        floors = {name: anchor.time_floor for name, anchor in self._state.anchors.items()}
        retention = {}
        for version in self._state.book.versions():
            # a bucketed window reaches further back than the transactions that history keeps for it
            bucketed_floor = self._state.watermarks.lateness_floor - version.window_ms
            floor = floors[version.anchor] if version.bucket_ms is None else bucketed_floor
            cooldown_ms = (version.definition.cooldown_seconds or 0) * 1000
            retention[version.key] = StateRetention(cooldown_ms, max(floor, MIN_TIME))
        return retention

    def _report_unreadable(self, data: bytes) -> None:
        for row in pa.ipc.open_stream(data).read_all().to_pylist():
            self._output.records.append(
                reject_record(
                    row["value"],
                    row["reason"],
                    row["detail"],
                    row["partition"],
                    row["offset"],
                    row["length"],
                    row["sha256"],
                    self._output.now,
                )
            )

    def _record_order(self, by_kind: dict[Kind, list[Payload]]) -> None:
        rules = [payload.position for payload in by_kind[Kind.RULE_EVENT]]
        ticks = [payload.position for payload in by_kind[Kind.TICK]]
        ranges = [msgspec.json.decode(payload.data) for payload in by_kind[Kind.PARTITION_RANGE]]
        output = self._output
        output.records.append(
            order_record(
                output.config, self._head.sequence, self._head.needed, rules, ticks, ranges, output.now
            )
        )


def _position(payload: Payload) -> tuple[int, int]:
    """The registry's position, then the offset; a rule event without a readable one changes nothing anyway."""
    position = position_of(payload.data)
    return -1 if position is None else position, payload.position
