"""Starting offsets of a query without a commit, in Spark's JSON. A query with a commit resumes from that."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from tripline_engine.kafka_log.topic_log import TopicLog
from tripline_engine.spark.checkpoint.spark_offsets import Ends
from tripline_engine.spark.settings import EngineSettings
from tripline_engine.topic_names import TICKS

_EARLIEST: Final = -2
"""Spark's code for the earliest offset."""


def starting_offsets(settings: EngineSettings, topics: Sequence[str], begin: Ends) -> str:
    """Spark needs every partition. Partitions without a judged offset start at the earliest one, ticks at their end.

    Ticks that no micro-batch of this engine has read are another engine's: by that engine's clock all transactions
    that this one has yet to judge would be too late.
    """
    offsets: Ends = {}
    for name in topics:
        judged, ticks = begin.get(name, {}), name == settings.topic(TICKS)
        with TopicLog(settings.kafka, name) as topic:
            offsets[name] = {
                partition: judged.get(partition, topic.span(partition).until if ticks else _EARLIEST)
                for partition in topic.partitions()
            }
    return json.dumps(offsets)
