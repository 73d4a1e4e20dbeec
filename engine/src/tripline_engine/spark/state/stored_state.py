"""Storage of the shards' state logs: Spark's state store, and blob files beside it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark import TaskContext

from tripline_engine.domain.state_log.state_log import StateLog
from tripline_engine.spark.state.blob_log import LARGE, BlobLog, shard_folder
from tripline_engine.spark.state.state_log import KEY, STATE_FORMATS, SparkStateLog

if TYPE_CHECKING:
    from pyspark.sql.streaming.stateful_processor import MapState, StatefulProcessorHandle


@dataclass(frozen=True, slots=True)
class StoredState:
    """State storage of one checkpoint.

    :ivar format_number: key into `state_log.STATE_FORMATS`, pinned by the checkpoint
    :ivar large: bytes from which on a segment is a file
    """

    checkpoint: Path
    format_number: int
    large: int = LARGE

    def variable(self, handle: StatefulProcessorHandle) -> MapState:
        """The map state that holds the state log."""
        return handle.getMapState("log", KEY, STATE_FORMATS[self.format_number].schema)

    @contextmanager
    def log(self, variable: MapState, shard: int) -> Iterator[StateLog]:
        """The state log of a shard for one micro-batch; all writes are in the state store at the end."""
        state_format = STATE_FORMATS[self.format_number]
        store = SparkStateLog(variable, state_format)
        if state_format.has_files:
            blobs = BlobLog(store, shard_folder(self.checkpoint, shard), _micro_batch(), self.large)
            yield blobs
            blobs.finish()
        else:
            yield store
        store.settle()


def _micro_batch() -> int:
    context = TaskContext.get()
    assert context is not None  # there is no state but in a task
    return int(str(context.getLocalProperty("streaming.sql.batchId")))
