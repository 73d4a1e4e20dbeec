"""How the shards' state logs are kept: in Spark's state store, and what is large in files beside it."""

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
    """What a checkpoint's state is made of.

    :ivar form: which of `state_log.FORMS` the checkpoint has
    :ivar large: bytes from which on a segment is a file
    """

    checkpoint: Path
    form: int
    large: int = LARGE

    def variable(self, handle: StatefulProcessorHandle) -> MapState:
        """The state variable that has all of it."""
        return handle.getMapState("log", KEY, STATE_FORMATS[self.form].schema)

    @contextmanager
    def log(self, variable: MapState, shard: int) -> Iterator[StateLog]:
        """A shard's, for one micro-batch; whatever is written is in the state store at the end."""
        form = STATE_FORMATS[self.form]
        store = SparkStateLog(variable, form)
        if form.has_files:
            filed = BlobLog(store, shard_folder(self.checkpoint, shard), _micro_batch(), self.large)
            yield filed
            filed.finish()
        else:
            yield store
        store.settle()


def _micro_batch() -> int:
    context = TaskContext.get()
    assert context is not None  # there is no state but in a task
    return int(str(context.getLocalProperty("streaming.sql.batchId")))
