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

from tripline_contracts.event_type import EventType
from tripline_contracts.recordings.file_mapping import FileMapping
from tripline_engine.backtest.evaluation import Evaluation, Take
from tripline_engine.backtest.ordered.event_order import EventOrder
from tripline_engine.backtest.ordered.ordered_batches import ordered_batches
from tripline_engine.backtest.ordered.recorded_file import FileReport, RecordedFile
from tripline_engine.backtest.tried import Progressed, Tried, not_told
from tripline_engine.backtest.tried_log import TriedLog, is_named_value
from tripline_engine.backtest.tried_rules import TriedRule
from tripline_engine.certificate.span import Span
from tripline_engine.kafka_log.record import Record
from tripline_engine.prover.settings import Judged
from tripline_engine.rebuild.progress import Progress

_READ: Final = 1_000
"""The work of reading, and of judging: a row costs about as much here as there."""


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
) -> tuple[Tried, list[FileReport]]:
    """Gives each alert of the span to `take`, in the order of event times. Raises UnreadableRecording."""
    progress = Progress(time.monotonic, 0, "backtesting")
    events = TriedLog(rules, span, judged.event_type, is_named_value).of(files.named)
    with tempfile.TemporaryDirectory(prefix="tripline-backtest-") as folder:
        order = EventOrder(Path(folder))
        reports = _read(files, judged.event_type, span, order, progressed)
        evaluation = Evaluation("files", judged, shards, span, take)
        for batch in ordered_batches(order, events):
            evaluation.judge(batch)
            progress.batch_done(len(batch.transactions))
            share = progress.transactions / len(order)
            progressed(_READ + round(_READ * share), 2 * _READ, progress.transactions)
    return Tried("files", progress.batches, progress.transactions, progress.seconds), reports


def _read(
    files: Files, event_type: EventType, span: Span, order: EventOrder, progressed: Progressed
) -> list[FileReport]:
    reports, sizes = [], [max(1, path.stat().st_size) if path.is_file() else 1 for path in files.paths]
    for number, path in enumerate(files.paths):
        recorded = RecordedFile(number, path, event_type, files.mapping)
        for transactions, reached in recorded.transactions():
            order.add(one for one in transactions if one.event_time < span.until)
            done = sum(sizes[:number]) + min(reached, sizes[number])
            progressed(_READ * done // sum(sizes), 2 * _READ, 0)
        reports.append(recorded.report)
    return reports
