"""The transactions of one micro-batch in one shard: admission, deduplication, evaluation, alerts and rejects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tripline_engine.domain.history.row_filter import FilterCompiler
from tripline_engine.domain.judging import rule_counters
from tripline_engine.domain.rules.rule_version import JudgingVersion
from tripline_engine.domain.shard.admission import Admission, admit, detail
from tripline_engine.domain.shard.anchor_state import AnchorState
from tripline_engine.domain.shard.batch_output import BatchOutput
from tripline_engine.domain.shard.kafka_records import judged_reject, trace_record
from tripline_engine.domain.shard.ports import Payload
from tripline_engine.domain.shard.shard_state import ShardState
from tripline_engine.domain.shard.traces import TraceCollector
from tripline_engine.domain.transactions.columns import TransactionBatch
from tripline_engine.domain.transactions.engine_order import engine_order
from tripline_engine.domain.transactions.entries import all_entries, rows_of, rows_type
from tripline_engine.domain.transactions.hash_key import HashKey
from tripline_engine.domain.transactions.sharding import REPORTS
from tripline_engine.domain.transactions.transaction_json import transactions_json


class BatchTransactions:
    """Judges what the batch brings, anchor by anchor."""

    def __init__(self, output: BatchOutput, state: ShardState, needed: AbstractSet[str]) -> None:
        self._output, self._state, self._needed = output, state, needed
        self._event_type = output.config.event_type
        self._traces = TraceCollector(self._event_type, output.now)

    def read(self, payloads: Sequence[Payload]) -> TransactionBatch:
        """The transactions of payloads, none of them empty, in the engine's order."""
        tables = sorted((_table(payload) for payload in payloads), key=_source)
        # a slice with backfilled records has a column more
        alike = len({table.num_columns for table in tables}) == 1
        table = pa.concat_tables(tables, promote_options="none" if alike else "default").combine_chunks()
        order = engine_order(
            *(np.array(table.column(name)) for name in ("runningMax", "partition", "offset"))
        )
        table = table if order is None else table.take(pa.array(order))
        return TransactionBatch.of(table, self._event_type)

    def judge(self, rows: TransactionBatch) -> None:
        """Admit the transactions, reject the others, and evaluate the rules of every anchor for those admitted."""
        output, book = self._output, self._state.book
        masks = np.array(rows.table.column("mask"))
        admission = admit(rows, book.settings, self._state.watermarks, book.backfills)
        output.counters["transactions"] += len(rows)
        reported = (masks & REPORTS).astype(np.bool_)
        self._report_rejected(rows, ~admission.admitted & reported, admission)
        self._count_null_groups(rows, admission.admitted & rows.ordinary & reported)
        admitted = np.where(admission.admitted, masks, np.uint16(0))
        for anchor in self._state.anchors.values():
            if anchor.name in self._needed:
                self._judge(anchor, rows_of(rows, admitted, anchor.name, self._event_type))
        output.records += [trace_record(trace) for trace in self._traces.records()]
        output.counters["trace_records_omitted"] += self._traces.omitted

    def _judge(self, anchor: AnchorState, rows: TransactionBatch) -> None:
        output, book, arrays = self._output, self._state.book, anchor.arrays
        row_type = rows_type(self._event_type, anchor.name)
        reach, id_floor = book.settings.duplicate_reach_ms, self._state.watermarks.id_floor
        first = arrays.accept_ids(rows, reach, id_floor)
        output.counters["duplicates"] += int(len(rows) - first.sum())
        if not first.all():
            repeated = rows.filter(~first & rows.ordinary, row_type)
            judging = _counted(book.judging(anchor.name, rows.oldest))
            output.counters.update(rule_counters.duplicates(repeated, judging, self._compiler(anchor.name)))
        accepted = rows.filter(first, row_type)
        if accepted.backfilled is not None:
            output.counters["backfilled"] += int(accepted.backfilled.sum())
        judgement = anchor.judge(accepted, book)
        output.counters.update(judgement.counts)
        output.raise_alerts(accepted, judgement.verdicts, row_type, book.rules)
        output.tell_occasions(accepted, judgement.counted, row_type)
        self._traces.add(accepted, judgement.traces, row_type)

    def _count_null_groups(self, rows: TransactionBatch, evaluable: npt.NDArray[np.bool_]) -> None:
        incomplete = evaluable & rule_counters.incomplete(rows)
        if not incomplete.any():
            # nearly always so, and then nothing is copied
            self._output.counters["null_groups"] += 0
            return
        mine = rows.filter(incomplete, self._event_type)
        parties = {party.name for party in self._event_type.parties}
        judging = _counted(self._state.book.judging(oldest=mine.oldest))
        by_fields = [one for one in judging if one[0].anchor not in parties]
        counts = rule_counters.null_groups(mine, by_fields, self._compiler(self._event_type.anchors[0]))
        for party in self._event_type.parties:
            by_party = [one for one in judging if one[0].anchor == party.name]
            if by_party:
                entries = all_entries(mine, party, self._event_type)
                counts.update(rule_counters.null_groups(entries, by_party, self._compiler(party.name)))
        self._output.counters.update(counts)
        self._output.counters["null_groups"] += counts.total()

    def _compiler(self, anchor: str) -> FilterCompiler:
        key = HashKey(*self._output.config.hash_key)
        return FilterCompiler(rows_type(self._event_type, anchor), key, self._state.book.named, anchor)

    def _report_rejected(
        self, rows: TransactionBatch, rejected: npt.NDArray[np.bool_], admission: Admission
    ) -> None:
        output = self._output
        indices: list[Any] = np.flatnonzero(rejected).tolist()
        transactions = transactions_json(rows, indices, self._event_type)
        partitions, offsets = rows.table.column("partition"), rows.table.column("offset")
        settings, clock = self._state.book.settings, self._state.watermarks.clock
        for i in indices:
            reason = admission.name(i)
            why = detail(reason, int(rows.time[i]), int(rows.record_time[i]), settings, clock)
            source = partitions[i].as_py(), offsets[i].as_py()
            output.records.append(judged_reject(transactions[i], reason, why, *source, output.now))


def _counted(judging: Iterable[JudgingVersion]) -> list[JudgingVersion]:
    """Without shadows, for counters are of rules."""
    return [one for one in judging if not one[0].is_shadow]


def _table(payload: Payload) -> pa.Table:
    if payload.rows is not None:
        return pa.Table.from_batches([payload.rows])
    return pa.ipc.open_stream(payload.data).read_all()


def _source(table: pa.Table) -> tuple[int, int]:
    """Partition and offset of the first transaction."""
    return table.column("partition")[0].as_py(), table.column("offset")[0].as_py()
