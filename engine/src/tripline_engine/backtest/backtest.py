"""A backtest: the recorded order replayed with other rules.

    engine-order.v1 ──▶ micro-batches ──▶ rules.v1, made into the tried rules' log  ┐
                                      ──▶ ticks, transactions since they may count  ┴─▶ the engine's evaluator

Everything else is as it was: what came late comes late, what came twice comes twice, and each value of a list counts
from when it counted. So the alerts are those that the live engine would have given, had the rules been there.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tripline_engine.backtest.history import History, work_of
from tripline_engine.backtest.tried_log import TriedLog
from tripline_engine.backtest.tried_rules import TriedRule
from tripline_engine.certificate.span import Span
from tripline_engine.certificate.span_alert import AlertReader, SpanAlert
from tripline_engine.domain.shard.engine_config import Clock, EngineConfig
from tripline_engine.domain.shard.tick import TickAhead, UnreadableTick, read_tick, tick_payload
from tripline_engine.kafka_log.record import Record
from tripline_engine.prover.settings import Judged
from tripline_engine.rebuild.inputs import ReplayInputs
from tripline_engine.rebuild.journals import Journals
from tripline_engine.rebuild.payloads import PayloadPacker
from tripline_engine.rebuild.progress import Progress
from tripline_engine.rebuild.recorded_order import order_of
from tripline_engine.rebuild.shards import Shards
from tripline_engine.rebuild.survey import all_records
from tripline_engine.topic_names import ALERTS, ORDER


@dataclass(frozen=True, slots=True)
class Tried:
    """How a backtest went: what it read, and in which time."""

    engine: str
    batches: int
    transactions: int
    seconds: float


def backtest(
    rules: Sequence[TriedRule],
    span: Span,
    history: History,
    journals: Journals,
    judged: Judged,
    take: Callable[[SpanAlert], None],
    shards: int = 1,
    progressed: Callable[[int, int], None] = lambda *_: None,
) -> Tried:
    """Gives each alert of the span to `take`, in the recorded order. Raises RecordsMissing, OrderBroken.

    :param progressed: told after each micro-batch: the work done, of that of the history, and the transactions judged
    """
    event_type, clock = judged.event_type, judged.clock
    key = (secrets.randbits(64), secrets.randbits(64))
    config = EngineConfig(history.engine, event_type, event_type.anchors, shards, key, clock)
    evaluators, packer = Shards(config, lambda: 0), PayloadPacker(config)
    inputs, log = ReplayInputs(journals, history.available), TriedLog(rules, span, event_type)
    reader, progress = AlertReader(event_type, span), Progress(time.monotonic, history.batches, "backtesting")
    newest: int | None = None
    for recorded in order_of(history.engine, all_records(journals[ORDER])):
        batch = inputs.batch(recorded)
        batch = replace(batch, rules=log.of(batch.rules))
        for record in evaluators.take(packer.of(batch)):
            alert = reader.read(record.value) if record.topic == ALERTS else None
            if alert is not None:
                take(alert)
        progress.batch_done(len(batch.transactions))
        progressed(work_of(progress.batches, progress.transactions), progress.transactions)
        newest = _clock(newest, batch.ticks, clock)
        if history.rules.tolerances.is_over(span.until, newest):
            break
    return Tried(history.engine, progress.batches, progress.transactions, progress.seconds)


def _clock(newest: int | None, ticks: Sequence[Record], clock: Clock) -> int | None:
    """The record clock (ms) after these ticks; None before there is one."""
    for record in ticks:
        try:
            tick = read_tick(tick_payload(record.timestamp, record.value), clock)
        except (UnreadableTick, TickAhead):
            continue
        newest = tick if newest is None else max(newest, tick)
    return newest
