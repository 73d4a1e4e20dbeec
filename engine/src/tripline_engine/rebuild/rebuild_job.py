"""`tripline-engine rebuild`: a checkpoint from the recorded order, the topics and the archive.

The recorded micro-batches are handed to the stream's evaluator one after the other. What the last one says is written
to Kafka again: nobody knows how much of it the lost engine had written, and ids make a repetition harmless. The state
logs are laid down for the query, with where it is to read on; last comes the file that makes a checkpoint of it.
Killed before that, nothing has been made.
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
    """What was done. `repeated` records were written to Kafka once more."""

    engine: str
    shards: int
    batches: int
    transactions: int
    repeated: int
    seconds: float


def rebuild(settings: EngineSettings, event_type: EventType, engine: str | None) -> Rebuilt:
    """Makes the checkpoint of the engine of that id; without one, of the newest. Raises EngineError."""
    with checkpoint.exclusive(settings.checkpoint), journals(settings, event_type) as found:
        checkpoint.refuse_existing(settings.checkpoint)
        return _rebuild(settings, event_type, found, engine)


def _rebuild(settings: EngineSettings, event_type: EventType, found: Journals, engine: str | None) -> Rebuilt:
    order = found[ORDER]
    survey, available = plan(found, event_type, engine)
    last, read_order_to = survey.last, order.end(0)
    config = checkpoint.new_config(event_type, settings.shards or last.shards, settings.clock, last.engine)
    _log.info("rebuild", engine=config.engine_id, records=last.sequence, shards=config.shards)
    progress = Progress(time.monotonic, last.sequence)
    shards, said = replay(found, survey, available, config, _now_ms, progress)
    write_restore_point(settings.checkpoint, (shards.state(shard) for shard in range(config.shards)))
    save_state(settings.checkpoint, last.engine, read_order_to, TickState(survey.max_record_times), None)
    repeated = emit(settings.kafka, settings.topic_prefix, said)
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
