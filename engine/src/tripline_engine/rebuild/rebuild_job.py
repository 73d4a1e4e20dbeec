"""`tripline-engine rebuild`: a checkpoint from the recorded order, the topics and the archive.

The recorded micro-batches are replayed through the stream's evaluator. Output of the last one is written to Kafka
again: the lost engine may have written a part of it only, and ids make a repetition harmless. The state logs and the
offsets to resume at become the query's restore point; the pin that makes a checkpoint of it comes last. A rebuild that
is killed before leaves no checkpoint.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import structlog

from tripline_contracts.event_type import EventType
from tripline_engine.rebuild.journals import Journals, journals
from tripline_engine.rebuild.output_writer import emit
from tripline_engine.rebuild.plan import plan
from tripline_engine.rebuild.progress import Progress
from tripline_engine.rebuild.replay import replay
from tripline_engine.rebuild.running_engine import refuse_running
from tripline_engine.rebuild.survey import Survey
from tripline_engine.spark.checkpoint import checkpoint
from tripline_engine.spark.checkpoint.restore_point import write_restore_point
from tripline_engine.spark.checkpoint.spark_offsets import Ends
from tripline_engine.spark.driver.tick_policy import TickState
from tripline_engine.spark.driver.ticker import save_state
from tripline_engine.spark.settings import EngineSettings
from tripline_engine.topic_names import ORDER

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """Result of a rebuild. `repeated` records were written to Kafka once more."""

    engine: str
    shards: int
    batches: int
    transactions: int
    repeated: int
    seconds: float


def rebuild(settings: EngineSettings, event_type: EventType, engine: str | None) -> Rebuilt:
    """Makes the checkpoint of the engine with that id, or of the newest one. Raises EngineError."""
    with checkpoint.exclusive(settings.checkpoint), journals(settings, event_type) as by_topic:
        checkpoint.refuse_existing(settings.checkpoint)
        refuse_running(by_topic[ORDER], engine, time.sleep)
        return _rebuild(settings, event_type, by_topic, engine)


def _rebuild(
    settings: EngineSettings, event_type: EventType, by_topic: Journals, engine: str | None
) -> Rebuilt:
    order = by_topic[ORDER]
    survey, available = plan(by_topic, event_type, engine)
    last, read_order_to = survey.last, order.end(0)
    config = checkpoint.new_config(event_type, settings.shards or last.shards, settings.clock, last.engine)
    _log.info("rebuild", engine=config.engine_id, records=last.sequence, shards=config.shards)
    progress = Progress(time.monotonic, last.sequence)
    shards, output = replay(by_topic, survey, available, config, _now_ms, progress)
    write_restore_point(settings.checkpoint, (shards.state(shard) for shard in range(config.shards)))
    save_state(settings.checkpoint, last.engine, read_order_to, TickState(survey.max_record_times), None)
    repeated = emit(settings.kafka, settings.topic_prefix, output)
    checkpoint.pin(settings.checkpoint, config, _ends(settings, survey))
    return Rebuilt(
        last.engine, config.shards, last.sequence, progress.transactions, repeated, progress.seconds
    )


def _ends(settings: EngineSettings, survey: Survey) -> Ends:
    ends: Ends = {}
    for (topic, partition), judged in survey.judged.items():
        ends.setdefault(settings.topic(topic), {})[partition] = judged.until
    return ends


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
