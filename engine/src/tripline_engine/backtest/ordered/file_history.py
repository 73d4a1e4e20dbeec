"""A backtest over files: each transaction came when it happened, as with what is known today; there are no voids.

files ──▶ rows, by a mapping ──▶ sorted by event time ──▶ micro-batches ──▶ the engine's evaluator
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from tripline_contracts.event_type import EventType
from tripline_contracts.recordings.file_mapping import FileMapping
from tripline_engine.backtest.evaluation import Evaluation, Take
from tripline_engine.backtest.ordered.event_cells import CELL
from tripline_engine.backtest.ordered.event_runs import EventRuns
from tripline_engine.backtest.ordered.ordered_judging import judge_in_order
from tripline_engine.backtest.ordered.recorded_file import FileReport, RecordedFile
from tripline_engine.backtest.ordered.run_tuning import for_runs
from tripline_engine.backtest.tried import Progressed, Tried, not_told
from tripline_engine.backtest.tried_log import TriedLog, is_named_value
from tripline_engine.backtest.tried_rules import TriedRule, tuning_of
from tripline_engine.certificate.span import Span
from tripline_engine.kafka_log.record import Record
from tripline_engine.prover.settings import Judged
from tripline_engine.rebuild.progress import Progress

_READ: Final = 1_000
_JUDGED: Final = 2_000
"""The work of reading, and of judging: of Parquet that is read by columns a row costs less there than here."""


@dataclass(frozen=True, slots=True)
class Files:
    """What is read, and how.

    :ivar named: rules.v1, of which the values of lists and parameters count as they are at its end
    """

    paths: Sequence[Path]
    mapping: FileMapping | None = None
    named: Sequence[Record] = ()


def backtest_files(
    rules: Sequence[TriedRule],
    span: Span,
    files: Files,
    judged: Judged,
    take: Take,
    shards: int = 1,
    progressed: Progressed = not_told,
    cell: int = CELL,
) -> tuple[Tried, list[FileReport]]:
    """Gives each alert of the span to `take`, in the order of event times. Raises UnreadableRecording.

    :param cell: transactions in a cell of the grid of event times, on average
    """
    progress, time_field = Progress(time.monotonic, 0, "backtesting"), judged.event_type.time_field.name
    events = TriedLog(rules, span, judged.event_type, is_named_value).of(files.named)
    with tempfile.TemporaryDirectory(prefix="tripline-backtest-") as folder:
        runs = EventRuns(Path(folder), time_field)
        reports = _read(files, judged.event_type, span, runs, progressed)

        def judged_some(transactions: int) -> None:
            progress.batch_done(transactions)
            share = progress.transactions / len(runs)
            progressed(_READ + round(_JUDGED * share), _READ + _JUDGED, progress.transactions)

        tuning = for_runs(tuning_of(rules), runs, judged.event_type)
        evaluation = Evaluation("files", judged, shards, span, take, tuning)
        judge_in_order(evaluation, rules, runs, events, None, cell, judged_some)
    return Tried("files", progress.batches, progress.transactions, progress.seconds), reports


def _read(
    files: Files, event_type: EventType, span: Span, runs: EventRuns, progressed: Progressed
) -> list[FileReport]:
    """What came of each file."""
    sizes = [max(1, path.stat().st_size) if path.is_file() else 1 for path in files.paths]
    reports: list[FileReport] = []
    for number, path in enumerate(files.paths):
        recorded = RecordedFile(number, path, event_type, files.mapping)
        for transactions, share in recorded.transactions():
            runs.add(before(span.until, transactions, event_type))
            done = sum(sizes[:number]) + share * sizes[number]
            progressed(round(_READ * done / sum(sizes)), _READ + _JUDGED, 0)
        reports.append(recorded.report)
    return reports


def before(until: int, table: pa.Table, event_type: EventType) -> pa.Table:
    """The transactions that happened before that event time (ms)."""
    is_before = pc.less(table.column(event_type.time_field.name), until)
    return table if pc.all(is_before).as_py() else table.filter(is_before)
