"""A backtest: the recorded order replayed with other rules.

    engine-order.v1 ──▶ micro-batches ──▶ rules.v1, made into the tried rules' log  ┐
                                      ──▶ ticks, transactions since they may count  ┴─▶ the engine's evaluator

Everything else is as it was: what came late comes late, what came twice comes twice, and each value of a list counts
from when it counted. So the alerts are those that the live engine would have given, had the rules been there.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tripline_engine.backtest.evaluation import Evaluation, Take
from tripline_engine.backtest.history import History, work_of
from tripline_engine.backtest.tried import Progressed, Tried, not_told
from tripline_engine.backtest.tried_log import TriedLog, as_it_was
from tripline_engine.backtest.tried_rules import TriedRule, tuning_of
from tripline_engine.certificate.span import Span
from tripline_engine.domain.shard.engine_config import Clock
from tripline_engine.domain.shard.tick import TickAhead, UnreadableTick, read_tick, tick_payload
from tripline_engine.kafka_log.record import Record
from tripline_engine.prover.settings import Judged
from tripline_engine.rebuild.inputs import ReplayBatch, ReplayInputs
from tripline_engine.rebuild.journals import Journals
from tripline_engine.rebuild.progress import Progress
from tripline_engine.rebuild.recorded_order import order_of
from tripline_engine.rebuild.survey import all_records
from tripline_engine.topic_names import ORDER


def backtest(
    rules: Sequence[TriedRule],
    span: Span,
    history: History,
    journals: Journals,
    judged: Judged,
    take: Take,
    shards: int = 1,
    progressed: Progressed = not_told,
) -> Tried:
    """Gives each alert of the span to `take`, in the recorded order. Raises RecordsMissing, OrderBroken."""
    evaluation = Evaluation(history.engine, judged, shards, span, take, tuning_of(rules))
    progress = Progress(time.monotonic, history.batches, "backtesting")
    for batch in recorded_batches(rules, span, history, journals, judged):
        evaluation.judge(batch)
        progress.batch_done(len(batch.transactions))
        done = work_of(progress.batches, progress.transactions)
        progressed(done, history.work, progress.transactions)
    return Tried(history.engine, progress.batches, progress.transactions, progress.seconds)


def recorded_batches(
    rules: Sequence[TriedRule],
    span: Span,
    history: History,
    journals: Journals,
    judged: Judged,
    *,
    heads: bool = False,
) -> Iterator[ReplayBatch]:
    """The micro-batches to judge, with the tried rules for those that were there, until ticks say the span is over.

    :param heads: without their transactions, which are not read
    """
    inputs = ReplayInputs(journals, history.available)
    log = TriedLog(rules, span, judged.event_type, as_it_was)
    newest: int | None = None
    for recorded in order_of(history.engine, all_records(journals[ORDER])):
        batch = inputs.head(recorded) if heads else inputs.batch(recorded)
        yield replace(batch, rules=log.of(batch.rules))
        newest = _clock(newest, batch.ticks, judged.clock)
        if history.rules.tolerances.is_over(span.until, newest):
            break


def _clock(newest: int | None, ticks: Sequence[Record], clock: Clock) -> int | None:
    """The record clock (ms) after these ticks; None before there is one."""
    for record in ticks:
        try:
            tick = read_tick(tick_payload(record.timestamp, record.value), clock)
        except (UnreadableTick, TickAhead):
            continue
        newest = tick if newest is None else max(newest, tick)
    return newest
