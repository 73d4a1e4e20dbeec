"""One shard's share of one micro-batch: rule events, then ticks, then transactions, in the engine's order."""

from __future__ import annotations

import logging
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
import pyarrow as pa

from tripline_contracts.event_type import MAX_TIMESTAMP
from tripline_engine.domain.history.row_filter import FilterCompiler
from tripline_engine.domain.judging import rule_counters
from tripline_engine.domain.judging.anchor import Anchor
from tripline_engine.domain.judging.verdict import Verdict
from tripline_engine.domain.memory import malloc_trim
from tripline_engine.domain.rules.commands import ExportRules
from tripline_engine.domain.rules.rule_book import position_of
from tripline_engine.domain.rules.rule_events import CatchUp, ControlApplied, RuleApplied, UnreadableRuleEvent
from tripline_engine.domain.rules.rule_version import RuleVersionKey
from tripline_engine.domain.shard.admission import Admission, admit, detail, reporting_anchor
from tripline_engine.domain.shard.alert_json import alert_json, ingested_at
from tripline_engine.domain.shard.command_handler import apply_command
from tripline_engine.domain.shard.engine_config import EngineConfig
from tripline_engine.domain.shard.kafka_records import (
    alert_record,
    export_record,
    judged_reject,
    order_record,
    reject_record,
    status_record,
    trace_record,
)
from tripline_engine.domain.shard.ports import Kind, OutRecord, Payload
from tripline_engine.domain.shard.projection import Projection, exclusive
from tripline_engine.domain.shard.shard_tuning import DEFAULT_TUNING, ShardTuning
from tripline_engine.domain.shard.traces import TraceCollector
from tripline_engine.domain.state_log.firing_log import RetentionFloor, StateRetention
from tripline_engine.domain.state_log.head import Head, write_book
from tripline_engine.domain.state_log.segment_log import PruneBounds
from tripline_engine.domain.state_log.state_log import StateLog
from tripline_engine.domain.transactions.columns import MIN_TIME, TransactionBatch
from tripline_engine.domain.transactions.hash_key import HashKey
from tripline_engine.domain.transactions.transaction_json import transaction_json

_log = logging.getLogger(__name__)
_UNREADABLE: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)

# A process keeps what it has attached to, by directory and shard; `Projection.attach` verifies it before every use.
Attached = dict[tuple[Path | None, int], Projection]
_attached: Attached = {}


class ShardWorker:
    """Takes one micro-batch of one shard. The state log is the truth, the projection directory a cache of it.

    Without a directory the projection is in this process's memory alone.

    :ivar counters: after `process`, what happened, by name
    """

    def __init__(
        self,
        config: EngineConfig,
        shard: int,
        log: StateLog,
        projection_dir: Path | None,
        now_ms: Callable[[], int],
        attached: Attached = _attached,
        tuning: ShardTuning = DEFAULT_TUNING,
    ) -> None:
        self._config, self._shard, self._log, self._now_ms = config, shard, log, now_ms
        self._directory = projection_dir / f"shard-{shard}" if projection_dir else None
        self._attached, self._tuning = attached, tuning
        self.counters: Counter[str] = Counter()

    def process(self, payloads: Sequence[Payload]) -> list[OutRecord]:
        """All output of the shard for these payloads; its state log holds all that follows from them."""
        if self._directory is None:
            return self._process(payloads, self._projection())
        with exclusive(self._directory) as held:
            if held:
                return self._process(payloads, self._projection())
            # Another attempt at this shard still runs: leave its arrays alone.
            self.counters["private_copies"] += 1
            return self._process(payloads, Projection(self._config, None, self._tuning))

    def _projection(self) -> Projection:
        key = (self._directory, self._shard)
        if key not in self._attached:
            self._attached[key] = Projection(self._config, self._directory, self._tuning)
        return self._attached[key]

    def _process(self, payloads: Sequence[Payload], projection: Projection) -> list[OutRecord]:
        begun, head = self._now_ms(), Head.read(self._log, self._config.event_type)
        # An empty shard has nothing to rebuild.
        if projection.attach(head, self._log) and head.sequence > 0:
            self.counters["rebuilds"] += 1
            self.counters["rebuild_ms"] += self._now_ms() - begun
        projection.begin()
        head.sequence, head.nonce = head.sequence + 1, secrets.randbits(62)
        batch = _Batch(self._config, self._shard, head, projection, self._log, self._now_ms(), self.counters)
        records = batch.run(payloads)
        head.write(self._log)
        projection.finish(head)
        if any(payload.kind == Kind.TICK for payload in payloads):
            shrunk = projection.shrink(head, self._log)
            if shrunk:
                malloc_trim.trim_allocators()
            self.counters["shrinks"] += shrunk
        self.counters["history_rows"] = projection.rows
        self.counters["history_bytes"] = projection.bytes
        self.counters["rule_position"] = projection.book.position
        self.counters["active_rules"] = sum(not rule.paused for rule in projection.book.rules.values())
        return records


class _Batch:
    """The steps of one micro-batch."""

    def __init__(
        self,
        config: EngineConfig,
        shard: int,
        head: Head,
        projection: Projection,
        log: StateLog,
        now: int,
        counters: Counter[str],
    ) -> None:
        self._config, self._shard, self._head, self._projection = config, shard, head, projection
        self._log, self._now, self._counters = log, now, counters
        self._event_type = config.event_type
        self._out: list[OutRecord] = []
        self._tracing = TraceCollector(config.event_type, now)

    def run(self, payloads: Sequence[Payload]) -> list[OutRecord]:
        by_kind: dict[Kind, list[Payload]] = {kind: [] for kind in Kind}
        for payload in payloads:
            by_kind[payload.kind].append(payload)
        for name, segments in self._head.segments.items():
            self._projection.book.accepted[name] = segments.accepted
        changed = self._take_rules(by_kind[Kind.RULE_EVENT])
        changed |= self._take_ticks(by_kind[Kind.TICK])
        if changed:
            retained = {name: segments.first for name, segments in self._head.segments.items()}
            self._projection.book.record_judging(retained)
            self._hold_buckets()
            self._head.visibility.retain_rules(self._projection.book.rules)
            self._head.book_nonce = self._head.nonce
            write_book(self._projection.book, self._log)
            self._projection.restructure(self._head, self._log)
        if by_kind[Kind.TICK]:
            self._clean_up()
        if by_kind[Kind.TRANSACTIONS]:
            self._take_transactions([payload.data for payload in by_kind[Kind.TRANSACTIONS]])
        for payload in by_kind[Kind.PARSE_REJECTS]:
            self._report_unreadable(payload.data)
        if self._shard == 0:
            self._record_order(by_kind)
        self._merge()
        return self._out

    def _hold_buckets(self) -> None:
        begun: dict[str, dict[str, int]] = {name: {} for name in self._head.buckets}
        for version in self._projection.book.versions():
            for part in version.measures:
                if part.buckets is not None:
                    span = self._head.visibility.span(version.anchor, part.buckets)
                    begun[version.anchor][part.buckets.path(version.anchor)] = span.begun
        for name, buckets in self._head.buckets.items():
            history = self._projection.anchors[name].history
            buckets.hold(begun[name], history.base + history.offset, self._log)

    def _merge(self) -> None:
        # rows of one anchor per micro-batch: all of them tend to have enough small segments at the same time
        anchors = list(self._head.segments.values())
        first = self._head.sequence % len(anchors)
        any(segments.merge(self._log) for segments in anchors[first:] + anchors[:first])
        lateness_floor = self._head.visibility.lateness_floor
        for name, firing in self._head.firing.items():
            bounds = RetentionFloor(self._head.segments[name].first, lateness_floor)
            firing.merge(self._log, self._held_versions, bounds)

    def _held_versions(self) -> dict[RuleVersionKey, StateRetention]:
        floors = {name: self._time_floor(name) for name in self._head.firing}
        held = {}
        for version in self._projection.book.versions():
            # a bucketed window reaches further back than the transactions that history keeps for it
            own = self._head.visibility.lateness_floor - version.window_ms
            floor = floors[version.anchor] if version.bucket_ms is None else own
            held[version.key] = StateRetention(
                (version.definition.cooldown_seconds or 0) * 1000, max(floor, MIN_TIME)
            )
        return held

    def _time_floor(self, anchor: str) -> int:
        """The oldest event time (ms) that any rule on the anchor can see."""
        return self._head.visibility.floor(anchor, [self._event_type.time_field.name])

    def _take_rules(self, payloads: Sequence[Payload]) -> bool:
        """Take rule events by position; whether anything changed."""
        changed = False
        for payload in sorted(payloads, key=_position):
            before = self._projection.book.position
            try:
                taken = self._projection.book.apply(payload.data)
            except UnreadableRuleEvent as error:
                self._counters["unreadable_rule_events"] += 1
                _log.warning("rule event at offset %d skipped: %s", payload.position, error)
                taken = None
            changed |= self._projection.book.position != before
            match taken:
                case RuleApplied():
                    self._tell(taken)
                    if taken.catch_up:
                        self._catch_up(taken.catch_up)
                case ControlApplied():
                    self._obey(taken)
        return changed

    def _tell(self, taken: RuleApplied) -> None:
        """The status; of a rule that is deleted as its last bucket sets were."""
        visibility, book = self._head.visibility, self._projection.book
        if taken.rule_id in book.rules:
            visibility.sync_spans(book)
        warm_from = visibility.warm_from(taken.newest)
        self._out.append(status_record(taken, self._shard, self._config.shards, warm_from, self._now))
        if taken.rule_id not in book.rules:
            visibility.sync_spans(book)

    def _catch_up(self, work: CatchUp) -> None:
        """Let a version judge what it reaches back to, before the next event."""
        name = work.version.anchor
        judgement = self._projection.anchors[name].catch_up(work, self._head.visibility)
        self._projection.book.record_judged(work)
        self._head.firing[name].append(judgement.firing, self._log)
        self._counters.update(judgement.counts)
        for verdict in _in_order(judgement.verdicts):
            assert verdict.partial is not None
            self._alert(verdict, verdict.partial, None)

    def _obey(self, taken: ControlApplied) -> None:
        apply_command(taken.command, taken.position, self._projection, self._head, self._log)
        if isinstance(taken.command, ExportRules):
            rules, shards = self._projection.book.rules.values(), self._config.shards
            self._out.append(
                export_record(taken.command_id, taken.position, rules, self._shard, shards, self._now)
            )

    def _take_ticks(self, payloads: Sequence[Payload]) -> bool:
        """Take ticks by offset; whether versions have expired with them."""
        book, visibility, changed = self._projection.book, self._head.visibility, False
        for payload in sorted(payloads, key=lambda payload: payload.position):
            clock = _clock(payload.data)
            if clock is None:
                self._counters["unreadable_ticks"] += 1
            elif visibility.clock is None or clock >= visibility.clock:
                expired = book.expire(clock)
                if expired and visibility.spans:
                    visibility.sync_spans(book)
                changed |= expired
                visibility.tick(clock, book)
        return changed

    def _clean_up(self) -> None:
        visibility = self._head.visibility
        for name, anchor in self._projection.anchors.items():
            until = anchor.expired(visibility)
            self._fold(name, anchor, until)
            anchor.clean_up(visibility, until)
            anchor.prune(visibility)
            segments = self._head.segments[name]
            segments.expire(self._time_floor(name), visibility.id_floor, self._log)
            self._counters["pruned_columns"] += segments.prune(self._reaches(name, anchor), self._log)

    def _reaches(self, name: str, anchor: Anchor) -> dict[str, PruneBounds]:
        """By field, up to where nothing asks for it any more."""
        visibility = self._head.visibility
        reaches = {field: PruneBounds(visibility.floor(name, [field])) for field in anchor.history.prunable}
        for key in anchor.bucket_sets:
            folded = self._head.buckets[name].sets[key.path(name)].folded
            for field in reaches.keys() & key.used:
                reach = reaches[field]
                reaches[field] = reach._replace(sequence=min(reach.sequence, folded))
        if name in reaches:
            # an id is remembered together with the anchor's value
            reaches[name] = reaches[name]._replace(record=visibility.id_floor)
        return reaches

    def _fold(self, name: str, anchor: Anchor, until: int) -> None:
        """Keep in the state log what bucket sets hold of the rows before that number, which are about to go.

        And of those that a set shows in its buckets only: their fields may go before the rows do.
        """
        buckets, visibility, offset = self._head.buckets[name], self._head.visibility, anchor.history.offset
        for key in anchor.bucket_sets:
            path = key.path(name)
            first = buckets.sets[path].folded - offset
            begun, merged = anchor.merged(visibility, key, first)
            last = max(until, merged)
            if first < last:
                begun = min(begun, last)
                found = anchor.fold(visibility, key, begun, last, self._head.segments[name].voided)
                buckets.fold(path, found, last + offset, self._log)
            floor = visibility.span(name, key).floor // key.length_ms
            buckets.tidy(path, floor, key.length_ms, self._log)

    def _take_transactions(self, slices: Sequence[bytes]) -> None:
        tables = [pa.ipc.open_stream(data).read_all() for data in slices]
        # a slice with backfilled records has a column more
        alike = len({table.num_columns for table in tables}) == 1
        table = pa.concat_tables(tables, promote_options="none" if alike else "default").combine_chunks()
        order = np.lexsort([np.array(table.column(name)) for name in ("offset", "partition", "runningMax")])
        rows = TransactionBatch.of(table.take(pa.array(order)), self._event_type)
        self._projection.expect(len(rows))
        masks = np.array(rows.table.column("mask"))
        book = self._projection.book
        admission = admit(rows, book.settings, self._head.visibility, book.backfills)
        self._counters["transactions"] += len(rows)
        self._report_rejected(rows, masks, admission)
        self._count_null_groups(rows, masks, admission)
        for index, (name, anchor) in enumerate(self._projection.anchors.items()):
            here = admission.admitted & ((masks >> index) & 1).astype(np.bool_)
            self._judge(name, anchor, rows.take(here, self._event_type))
        self._out += [trace_record(trace) for trace in self._tracing.told()]
        self._counters["trace_records_omitted"] += self._tracing.omitted

    def _judge(self, name: str, anchor: Anchor, rows: TransactionBatch) -> None:
        settings, visibility = self._projection.book.settings, self._head.visibility
        low, high = anchor.identities(rows)
        first = anchor.ids.accept(
            low, high, rows.record_time, settings.duplicate_reach_ms, visibility.id_floor
        )
        self._counters["duplicates"] += int(len(rows) - first.sum())
        judging, again = self._projection.book.judging(name, rows.oldest), ~first & rows.ordinary
        repeated = rows.take(again, self._event_type)
        self._counters.update(rule_counters.duplicates(repeated, judging, self._compiler(name)))
        accepted = rows.take(first, self._event_type)
        if accepted.backfilled is not None:
            self._counters["backfilled"] += int(accepted.backfilled.sum())
        judgement = anchor.judge(accepted, self._projection.book, visibility)
        self._counters.update(judgement.counts)
        self._head.segments[name].append(accepted, self._log)
        self._head.firing[name].append(judgement.firing, self._log)
        self._raise_alerts(accepted, judgement.verdicts)
        self._tracing.note(accepted, judgement.watched)

    def _raise_alerts(self, rows: TransactionBatch, verdicts: Sequence[Verdict]) -> None:
        here = sorted({verdict.row for verdict in verdicts if verdict.partial is None})
        transactions = _transactions(rows, here, self._config)
        for verdict in _in_order(verdicts):
            if verdict.partial is not None:
                self._alert(verdict, verdict.partial, None)
                continue
            transaction, record_time = transactions[verdict.row], int(rows.record_time[verdict.row])
            self._alert(verdict, transaction, ingested_at(transaction, record_time, self._event_type))

    def _alert(self, verdict: Verdict, transaction: Mapping[str, Any], entered: int | None) -> None:
        alert = alert_json(verdict, transaction, self._event_type, entered, self._now)
        self._out.append(alert_record(alert))

    def _count_null_groups(self, rows: TransactionBatch, masks: Any, admission: Admission) -> None:
        """Each transaction in one shard: that of its first anchor, whatever anchors the rules are on."""
        reporting = (masks >> reporting_anchor(rows, self._event_type)) & 1
        evaluable = admission.admitted & rows.ordinary
        mine = rows.take(evaluable & reporting.astype(np.bool_), self._event_type)
        compiler = self._compiler(self._event_type.anchors[0])
        judging = self._projection.book.judging(oldest=mine.oldest)
        counts = rule_counters.null_groups(mine, judging, compiler)
        self._counters.update(counts)
        self._counters["null_groups"] += counts.total()

    def _compiler(self, anchor: str) -> FilterCompiler:
        key = HashKey(*self._config.hash_key)
        return FilterCompiler(self._event_type, key, self._projection.book.named, anchor)

    def _report_rejected(self, rows: TransactionBatch, masks: Any, admission: Admission) -> None:
        mine = ~admission.admitted & ((masks >> reporting_anchor(rows, self._event_type)) & 1).astype(
            np.bool_
        )
        chosen = np.flatnonzero(mine).tolist()
        transactions = _transactions(rows, chosen, self._config)
        partitions, offsets = rows.table.column("partition"), rows.table.column("offset")
        settings, clock = self._projection.book.settings, self._head.visibility.clock
        for i in chosen:
            reason = admission.name(i)
            why = detail(reason, int(rows.time[i]), int(rows.record_time[i]), settings, clock)
            place = partitions[i].as_py(), offsets[i].as_py()
            self._out.append(judged_reject(transactions[i], reason, why, *place, self._now))

    def _report_unreadable(self, data: bytes) -> None:
        for row in pa.ipc.open_stream(data).read_all().to_pylist():
            self._out.append(
                reject_record(
                    row["value"],
                    row["reason"],
                    row["detail"],
                    row["partition"],
                    row["offset"],
                    row["length"],
                    row["sha256"],
                    self._now,
                )
            )

    def _record_order(self, by_kind: dict[Kind, list[Payload]]) -> None:
        rules = [payload.position for payload in by_kind[Kind.RULE_EVENT]]
        ticks = [payload.position for payload in by_kind[Kind.TICK]]
        ranges = [msgspec.json.decode(payload.data) for payload in by_kind[Kind.PARTITION_RANGE]]
        self._out.append(order_record(self._config, self._head.sequence, rules, ticks, ranges, self._now))


def _transactions(
    rows: TransactionBatch, chosen: Sequence[int], config: EngineConfig
) -> dict[int, dict[str, Any]]:
    """The transactions in these places, as JSON objects, by place."""
    if not chosen:
        return {}
    names = [field.name for field in config.event_type.fields]
    found = rows.table.select(names).take(pa.array(chosen)).to_pylist()
    return {i: transaction_json(row, config.event_type) for i, row in zip(chosen, found, strict=True)}


def _in_order(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """By the transactions that brought them about, then by rule; what was judged again after them, by event time."""
    return sorted(verdicts, key=lambda verdict: (verdict.row, verdict.version.rule_id, verdict.again or 0))


def _position(payload: Payload) -> tuple[int, int]:
    """The registry's position, then the offset; a rule event without a readable one changes nothing anyway."""
    position = position_of(payload.data)
    return -1 if position is None else position, payload.position


def _clock(data: bytes) -> int | None:
    try:
        clock = msgspec.json.decode(data, type=_Tick).clock
    except _UNREADABLE:
        return None
    return clock if 0 <= clock <= MAX_TIMESTAMP else None


class _Tick(msgspec.Struct):
    clock: int
