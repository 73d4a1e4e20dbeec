"""Where a query without a commit reads from, as Spark takes it. One with a commit goes on from there instead."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from tripline_engine.kafka_log.topic_log import TopicLog
from tripline_engine.spark.checkpoint.spark_offsets import Ends
from tripline_engine.spark.settings import EngineSettings
from tripline_engine.topic_names import TICKS

_EARLIEST: Final = -2
"""Spark's number for it."""


def starting_offsets(settings: EngineSettings, topics: Sequence[str], begin: Ends) -> str:
    """Spark wants every partition named. One that nothing was taken of begins at its beginning, but ticks at their end.

    Ticks that no micro-batch of this engine has taken are another one's: they tell how far that one had come, and by
    them all that this one has yet to judge would be out of order.
    """
    found: Ends = {}
    for name in topics:
        known, ticks = begin.get(name, {}), name == settings.topic(TICKS)
        with TopicLog(settings.kafka, name) as topic:
            found[name] = {
                partition: known.get(partition, topic.span(partition).until if ticks else _EARLIEST)
                for partition in topic.partitions()
            }
    return json.dumps(found)
