"""`tripline-engine prove`: what the engines have recorded, judged again, and compared with alerts.v1.

    engine-order.v1 ──▶ micro-batches ──▶ rule events, ticks, transactions ──▶ the engine's evaluator ──▶ alerts ─┐
                                                                                                                  = ?
    alerts.v1 ─────────────────────────────────────────────────────────────────────────────────────────▶ alerts ─┘

Everything that an engine judged is replayed from its first recorded micro-batch on, for an alert may depend on any
of it; alerts are compared whose event times lie in the span.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import structlog

from tripline_contracts.event_type import EventType
from tripline_engine.archive.journal import ReadableTopic
from tripline_engine.certificate.certificate import FORMAT, Bounds, Certificate
from tripline_engine.certificate.comparison import Comparison
from tripline_engine.certificate.input_digests import InputDigests
from tripline_engine.certificate.span import Span
from tripline_engine.certificate.span_alert import AlertReader
from tripline_engine.certificate.told_alerts import ToldAlerts
from tripline_engine.domain.shard.engine_config import Clock, EngineConfig
from tripline_engine.errors import OrderBroken, RecordsMissing
from tripline_engine.rebuild.history_need import history_need
from tripline_engine.rebuild.journals import Journals
from tripline_engine.rebuild.payloads import PayloadPacker
from tripline_engine.rebuild.plan import WINDOWS, plan
from tripline_engine.rebuild.progress import Progress
from tripline_engine.rebuild.recorded_order import read_recorded
from tripline_engine.rebuild.replay import replayed
from tripline_engine.rebuild.shards import Shards
from tripline_engine.rebuild.survey import Survey, all_records
from tripline_engine.topic_names import ALERTS, ORDER, RULES

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be proved.

    :ivar engine: of several in the order, the only one; alerts that were told and are not derived may be of others then
    :ivar shards: in how many the replay is done; the outcome does not depend on it
    :ivar bounds: up to where the logs are to be read; None: up to their ends
    """

    span: Span
    engine: str | None = None
    shards: int = 1
    bounds: Bounds | None = None


@dataclass(slots=True)
class _Engine:
    """One engine's order, surveyed. `reached` is its last micro-batch that was replayed."""

    survey: Survey
    available: dict[int, int]
    settled: int
    inputs: InputDigests = field(default_factory=InputDigests)
    reached: int = 0

    @property
    def name(self) -> str:
        return self.survey.last.engine

    def to_json(self) -> dict[str, Any]:
        return {
            "engine": self.name,
            "microBatches": self.reached,
            "settled": self.settled,
            "inputs": self.inputs.to_json(),
        }


def prove_span(
    asked: Asked, journals: Journals, alerts: ReadableTopic, event_type: EventType, clock: Clock
) -> Certificate:
    """The certificate. `alerts` is alerts.v1.

    Raises EngineError: RecordsMissing where records that are needed are neither in topic nor archive, OrderBroken where
    they are not those that were judged.
    """
    engines = [_surveyed(asked, journals, event_type, name) for name in _names(asked, journals)]
    reader, bounds = AlertReader(event_type, asked.span), asked.bounds
    # after the surveys: what is told by then is recorded by then, or very soon
    comparison = Comparison(ToldAlerts.read(alerts, reader, None if bounds is None else bounds.alert_ends))
    _log.info("alerts_read", alerts=len(comparison.told.places))
    for engine in engines:
        config = EngineConfig(engine.name, event_type, event_type.anchors, asked.shards, _any_key(), clock)
        _replay(engine, config, journals, comparison, reader, bounds)
    return Certificate(_document(asked, event_type, clock, engines, comparison, reader))


def _names(asked: Asked, journals: Journals) -> Sequence[str]:
    """The engines in the order in which they began. Raises OrderBroken."""
    if asked.engine is not None:
        return [asked.engine]
    if asked.bounds is not None:
        return list(asked.bounds.reached)
    batches = (read_recorded(record.value) for record in all_records(journals[ORDER]))
    names = list(dict.fromkeys(batch.engine for batch in batches if batch))
    if not names:
        raise OrderBroken(f"{journals[ORDER].topic.name} is empty: no engine has recorded anything")
    return names


def _surveyed(asked: Asked, journals: Journals, event_type: EventType, name: str) -> _Engine:
    survey, available = plan(journals, event_type, name)
    _refuse_left_out(asked.span, survey, journals)
    settled = asked.bounds.settled[name] if asked.bounds else survey.last.sequence - 1
    if asked.bounds and survey.last.sequence < asked.bounds.reached[name]:
        raise RecordsMissing(
            f"engine {name} has recorded {survey.last.sequence} micro-batches, and the certificate is of"
            f" {asked.bounds.reached[name]}: the order was made anew"
        )
    return _Engine(survey, available, settled)


def _refuse_left_out(span: Span, survey: Survey, journals: Journals) -> None:
    """Where transactions are gone that windows of the span may have held."""
    if not survey.left_out:
        return
    newest = max(survey.left_out.values())
    need = history_need((record.value for record in all_records(journals[RULES])), span.first)
    if newest >= need.oldest(span.first, WINDOWS):
        raise RecordsMissing(
            f"transactions with record times up to {newest} (ms) are neither in the topic nor in the archive, and"
            f" alerts from {span.first} on may rest on them: twice the widest window is needed before the span,"
            f" {need.window_seconds} s of rule {need.rule_id}"
        )


def _replay(
    engine: _Engine,
    config: EngineConfig,
    journals: Journals,
    comparison: Comparison,
    reader: AlertReader,
    bounds: Bounds | None,
) -> None:
    last = bounds.reached[engine.name] if bounds else engine.survey.last.sequence
    shards, progress = Shards(config, _no_time), Progress(time.monotonic, last, "proving")
    for step in replayed(journals, engine.name, engine.available, shards, PayloadPacker(config)):
        if step.sequence > last and (bounds is not None or not comparison.not_derived_count):
            # beyond the survey only for what a running engine has told meanwhile
            break
        engine.inputs.take(step.batch)
        for record in step.output:
            alert = reader.read(record.value) if record.topic == ALERTS else None
            if alert is not None:
                comparison.take(alert, is_settled=step.sequence <= engine.settled)
        engine.reached = step.sequence
        progress.batch_done(len(step.batch.transactions))


def _document(
    asked: Asked,
    event_type: EventType,
    clock: Clock,
    engines: Sequence[_Engine],
    comparison: Comparison,
    reader: AlertReader,
) -> dict[str, Any]:
    matches = not comparison.not_told_count and (asked.engine is not None or not comparison.not_derived_count)
    return {
        "format": FORMAT,
        "eventType": event_type.name,
        "clock": clock,
        "from": asked.span.first,
        "until": asked.span.until,
        "onlyEngine": asked.engine,
        "outcome": "match" if matches else "mismatch",
        "alerts": {
            "count": len(comparison.matched),
            "sha256": comparison.digest(),
            "notTold": comparison.not_told_count,
            "notDerived": comparison.not_derived_count,
            "ends": {str(partition): end for partition, end in comparison.told.ends.items()},
        },
        "differences": [] if matches else list(comparison.described(reader)),
        "engines": [engine.to_json() for engine in engines],
        "made": {"at": _now_ms(), "release": version("tripline-engine")},
    }


def _any_key() -> tuple[int, int]:
    """Of the hash that tells shards apart: the outcome does not depend on it."""
    return secrets.randbits(64), secrets.randbits(64)


def _no_time() -> int:
    """The time of detection is not compared."""
    return 0


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
