"""A backtest with what is known today: each transaction came when it happened, once, and voided ones never did.

    transactions.v1 ──▶ columns, sorted by event time ──▶ micro-batches, with all of rules.v1 before them ──▶ evaluator

Lists, parameters and tolerances are from the beginning what they are at the end of rules.v1. What was refused as too
late, out of order, or because its backfill was closed, is there too. What claims to be from the future is not: nobody
believes its time today either.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from tripline_contracts.event_type import EventType
from tripline_engine.backtest.evaluation import Evaluation, Take
from tripline_engine.backtest.history import History
from tripline_engine.backtest.ordered.event_cells import CELL
from tripline_engine.backtest.ordered.event_runs import EventRuns
from tripline_engine.backtest.ordered.ordered_judging import judge_in_order
from tripline_engine.backtest.ordered.run_tuning import for_runs
from tripline_engine.backtest.tried import Progressed, Tried, not_told
from tripline_engine.backtest.tried_log import TriedLog, is_no_command
from tripline_engine.backtest.tried_rules import TriedRule, tuning_of
from tripline_engine.certificate.span import Span
from tripline_engine.domain.transactions.parser import Parser
from tripline_engine.kafka_log.record import Record
from tripline_engine.prover.settings import Judged
from tripline_engine.rebuild.journals import Journals
from tripline_engine.rebuild.payloads import chunks
from tripline_engine.rebuild.progress import Progress
from tripline_engine.rebuild.survey import all_records
from tripline_engine.topic_names import RULES, TRANSACTIONS

ARRIVED, PARTITION, OFFSET = "arrived", "partition", "offset"
BY_ARRIVAL: Final = (ARRIVED, PARTITION, OFFSET)
"""Record time (int64, ms), partition (int32), offset (int64): of equal event times that is first which came first."""

_JUDGED: Final = 4
"""How long it takes to judge a transaction, beside to read it."""

Voids = frozenset[tuple[str, int]]
"""Ids and event times (ms)."""


def backtest_today(
    rules: Sequence[TriedRule],
    span: Span,
    history: History,
    journals: Journals,
    judged: Judged,
    take: Take,
    shards: int = 1,
    progressed: Progressed = not_told,
) -> Tried:
    """Gives each alert of the span to `take`, in the order of event times. Raises RecordsMissing."""
    known = Known.of(rules, span, history, journals, judged.event_type)
    reader = known.reader(judged.event_type, span)
    progress, read, of = Progress(time.monotonic, 0, "backtesting"), 0, _size(journals, history)
    with tempfile.TemporaryDirectory(prefix="tripline-backtest-") as folder:
        runs = EventRuns(Path(folder), judged.event_type.time_field.name, ties=BY_ARRIVAL)
        for run in _transactions(journals, history):
            for table in reader.known(run):
                runs.add(table)
            read += len(run)
            progressed(read, of * (1 + _JUDGED), 0)

        def judged_some(transactions: int) -> None:
            progress.batch_done(transactions)
            progressed(
                read + _JUDGED * progress.transactions, read + _JUDGED * len(runs), progress.transactions
            )

        whole_from = known.whole_from if history.available or reader.left_out else None
        tuning = for_runs(tuning_of(rules), runs, judged.event_type)
        evaluation = Evaluation(history.engine, judged, shards, span, take, tuning)
        judge_in_order(evaluation, rules, runs, known.events, whole_from, CELL, judged_some)
    return Tried(history.engine, progress.batches, progress.transactions, progress.seconds)


@dataclass(frozen=True, slots=True)
class Known:
    """What is known today beside the transactions.

    :ivar since: the oldest event time (ms) that bears on the span
    :ivar events: what rules.v1 says, as if it had been so from the beginning
    """

    since: int
    skew_ms: int
    voids: Voids
    events: tuple[Record, ...]

    @staticmethod
    def of(
        rules: Sequence[TriedRule], span: Span, history: History, journals: Journals, event_type: EventType
    ) -> Known:
        """By all that rules.v1 has."""
        log = TriedLog(rules, span, event_type, is_no_command)
        events = log.of(all_records(journals[RULES]))
        return Known(history.since, log.tolerances.max_future_skew_ms, frozenset(log.voids), tuple(events))

    @property
    def whole_from(self) -> int:
        """From when (ms) on the history is whole, where it began earlier."""
        return max(0, self.since)

    def reader(self, event_type: EventType, span: Span) -> KnownReader:
        """A reader of the transactions that count."""
        return KnownReader(event_type, span, self.since, self.skew_ms, self.voids)


class KnownReader:
    """Reads records as what is known of the span today.

    :ivar left_out: whether something happened before the times that bear on it
    """

    def __init__(self, event_type: EventType, span: Span, since: int, skew_ms: int, voids: Voids) -> None:
        self._parser, self._span, self._since = Parser(event_type), span, since
        self._skew_ms, self._voids = skew_ms, voids
        self._time, self._id = event_type.time_field.name, event_type.id_field.name
        self.left_out = False

    def known(self, records: Sequence[Record]) -> Iterator[pa.Table]:
        """The transactions among them that count: the event type's fields, and the columns of BY_ARRIVAL."""
        for chunk in chunks(records):
            parsed = self._parser.parse(pa.array([record.value for record in chunk], pa.binary()))
            times = parsed.columns[self._time].to_numpy()
            arrived = np.array([record.timestamp for record in chunk], np.int64)[parsed.rows]
            believed = times <= arrived + self._skew_ms
            self.left_out |= bool((believed & (times < self._since)).any())
            rows = np.flatnonzero(believed & (times >= self._since) & (times < self._span.until))
            if self._voids:
                ids = parsed.columns[self._id]
                rows = rows[[(ids[i].as_py(), int(times[i])) not in self._voids for i in rows.tolist()]]
            table = pa.table({
                **parsed.columns,
                ARRIVED: arrived,
                PARTITION: np.array([record.partition for record in chunk], np.int32)[parsed.rows],
                OFFSET: np.array([record.offset for record in chunk], np.int64)[parsed.rows],
            })  # fmt: skip
            if len(rows):
                yield table if len(rows) == table.num_rows else table.take(pa.array(rows))


def _transactions(journals: Journals, history: History) -> Iterator[Sequence[Record]]:
    """All that may bear on the span, in runs, up to the ends of the partitions as they are now."""
    journal = journals[TRANSACTIONS]
    for partition in journal.topic.partitions():
        yield from journal.runs(partition, history.available.get(partition, 0))


def _size(journals: Journals, history: History) -> int:
    """How many those are, about."""
    journal = journals[TRANSACTIONS]
    return sum(
        max(0, journal.end(partition) - history.available.get(partition, 0))
        for partition in journal.topic.partitions()
    )
