"""Where a query without a commit reads from. One that has a commit goes on from there, whatever it is told."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from tripline_engine.archive.topic import Topic
from tripline_engine.spark.beginning import Beginning
from tripline_engine.spark.checkpoint import spark_folder
from tripline_engine.spark.committed import Ends, last_commit
from tripline_engine.spark.settings import Settings
from tripline_engine.topic_names import TICKS

_EARLIEST: Final = -2
"""Spark's number for it."""


def begins_at(settings: Settings, beginning: Beginning | None) -> Ends | None:
    """Where a query without a commit reads from; None for one that goes on from its last.

    Ticks that no micro-batch of this engine has taken are another one's: they tell how far that one had come, and by
    them all that this one has yet to judge would be out of order.
    """
    if beginning is None and last_commit(spark_folder(settings.checkpoint)) is not None:
        return None
    name = settings.topic(TICKS)
    with Topic(settings.kafka, name) as topic:
        ends = {partition: topic.span(partition).until for partition in topic.partitions()}
    return {name: ends, **(beginning.ends if beginning else {})}


def starting_offsets(kafka: str, topics: Sequence[str], begin: Ends) -> str:
    """As Spark takes them: it wants every partition named. One that nothing was taken of begins at its beginning."""
    found: Ends = {}
    for name in topics:
        with Topic(kafka, name) as topic:
            known = begin.get(name, {})
            found[name] = {p: known.get(p, _EARLIEST) for p in topic.partitions()}
    return json.dumps(found)
