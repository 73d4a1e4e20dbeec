"""The survey at an engine's start: whether what it has yet to read holds record batches that a heap does not.

Topics refuse such batches (`compression.type: uncompressed`), but those of an earlier release may have them. Spark's
source would end with the heap, again and again at the same offsets. So an engine that finds one reads up to its end
with care, slower and with bounded memory, and then with Spark's source again. The survey ends after some hundred
megabytes: a batch further on ends the engine once, and is within the survey of its next start, for that goes through
the micro-batch that was planned, and as far behind it as a client fetches ahead.
"""

from __future__ import annotations

import json
from typing import Final

import structlog

from tripline_engine.errors import KafkaSilent
from tripline_engine.kafka_log.stored_log import StoredLog
from tripline_engine.kafka_log.topic_log import OffsetsGone, TopicLog
from tripline_engine.spark.checkpoint.checkpoint import spark_folder
from tripline_engine.spark.checkpoint.restore_point import judged_ends
from tripline_engine.spark.checkpoint.spark_offsets import (
    Ends,
    initial_ends,
    last_commit,
    last_planned,
    planned_ends,
    write_initial_ends,
)
from tripline_engine.spark.query.careful_source import Stretch
from tripline_engine.spark.query.sources import NOWHERE, Careful
from tripline_engine.spark.query.starting_offsets import starting_offsets
from tripline_engine.spark.settings import EngineSettings
from tripline_engine.topic_names import RULES, TICKS, TRANSACTIONS

_log = structlog.get_logger(__name__)
_SURVEY_BYTES: Final = 512 << 20
_FETCHED_AHEAD: Final = 16 << 20
"""More bytes of a partition than Spark's consumer fetches beyond the end of a micro-batch."""
_EVENTS, _TRANSACTIONS = 0, 1
"""Numbers of the sources in the query's plan."""


def careful_reading(settings: EngineSettings, max_bytes: int = _SURVEY_BYTES) -> Careful:
    """The stretches to be read with care; none if Kafka does not answer, because then Spark says so."""
    try:
        return Careful(
            _stretch(settings, _EVENTS, [settings.topic(RULES), settings.topic(TICKS)], max_bytes),
            _stretch(settings, _TRANSACTIONS, [settings.topic(TRANSACTIONS)], max_bytes),
        )
    except (KafkaSilent, OffsetsGone) as error:
        _log.warning("not_surveyed", reason=str(error))
        return NOWHERE


def _stretch(settings: EngineSettings, source: int, topics: list[str], max_bytes: int) -> Stretch | None:
    folder = spark_folder(settings.checkpoint)
    batch = last_planned(folder)
    planned = {} if batch is None else planned_ends(folder, batch)
    starts: Ends = {}
    until: Ends = {}
    large = 0
    begins = _begins(settings, source, topics)
    for name in topics:
        with TopicLog(settings.kafka, name) as topic:
            partitions = topic.partitions()
            for partition in partitions:
                span = topic.span(partition)
                start = begins.get(name, {}).get(partition, span.first)
                start = max(span.first, start)
                at_least = planned.get(name, {}).get(partition, start)
                share = max(_FETCHED_AHEAD, max_bytes // len(partitions))
                surveyed = StoredLog(topic).survey(partition, start, at_least, span.until, share)
                starts.setdefault(name, {})[partition] = start
                until.setdefault(name, {})[partition] = max(surveyed.until, at_least)
                large += surveyed.large
                if surveyed.large_until is not None:
                    _log.warning(
                        "large_batches", topic=name, partition=partition, count=surveyed.large,
                        until=surveyed.large_until, reason="they unfold to more than a client should hold, and are read"
                        " with care: a value that is too long is refused as oversized",
                    )  # fmt: skip
    if not large:
        return None
    if last_commit(folder) is None and initial_ends(folder, source) is None:
        write_initial_ends(folder, source, starts)
    return Stretch(starts, until)


def _begins(settings: EngineSettings, source: int, topics: list[str]) -> Ends:
    """Where the query reads on, by topic and partition; a partition without an offset is read from its oldest one."""
    folder = spark_folder(settings.checkpoint)
    judged = judged_ends(settings.checkpoint)
    if last_commit(folder) is not None:
        return judged
    known = initial_ends(folder, source)
    if known is not None:
        return known
    offsets = json.loads(starting_offsets(settings, topics, judged))
    return {
        topic: {int(partition): int(offset) for partition, offset in ends.items() if int(offset) >= 0}
        for topic, ends in offsets.items()
    }
