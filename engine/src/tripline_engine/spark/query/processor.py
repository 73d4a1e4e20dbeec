"""Stateful processor of one shard in one micro-batch (`transformWithState`): input rows in, Kafka records out.

All decisions are the domain's, in ShardWorker. Tasks aren't sticky to workers: no state may be kept in a worker's
memory between calls.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from tripline_engine.domain.shard.engine_config import EngineConfig
from tripline_engine.domain.shard.ports import OutRecord, Payload
from tripline_engine.domain.state_log.state_log import StateLog
from tripline_engine.spark.faults.fault_points import FaultPoint
from tripline_engine.spark.rows.gc_freeze import GC_FREEZER
from tripline_engine.spark.rows.output_counters import count_records
from tripline_engine.spark.rows.shard_keys import shard_keys
from tripline_engine.spark.state.stored_state import StoredState

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from pyspark.sql.streaming.stateful_processor import TimerValues

INITIAL_STATE_SCHEMA: Final = "shardKey int, stateFile string"
WORKERS_FOLDER: Final = "TRIPLINE_WORKER_PROJECTION_DIR"
"""Environment variable of a cluster's worker: the folder of projections on its machine. Without it, the driver's."""


class Worker(Protocol):
    """Port to the domain's ShardWorker."""

    @property
    def counters(self) -> Mapping[str, int]: ...

    def process(self, payloads: Sequence[Payload]) -> list[OutRecord]: ...


MakeWorker = Callable[[EngineConfig, int, StateLog, Path | None, Callable[[], int]], Worker]


class ShardProcessor(StatefulProcessor):
    """Hands each shard's payloads, in the engine's order of kinds, to a worker; its output becomes record batches."""

    def __init__(
        self,
        config: EngineConfig,
        stored: StoredState,
        projection_dir: Path | None,
        topic_prefix: str = "",
        fault: FaultPoint | None = None,
        make_worker: MakeWorker | None = None,
    ) -> None:
        self._config, self._stored = config, stored
        self._projection_dir = projection_dir
        self._topic_prefix = topic_prefix
        self._fault = fault
        self._make_worker = make_worker
        self._shards = {key: shard for shard, key in enumerate(shard_keys(config.shards))}

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._client = handle._statefulProcessorApiClient  # noqa: SLF001  # it has no other way
        self._state = self._stored.variable(handle)

    def handleInitialState(  # noqa: N802  # Spark's name
        self,
        key: Any,
        initialState: pd.DataFrame,  # noqa: N803
        timerValues: TimerValues,  # noqa: N803, ARG002
    ) -> None:
        """Loads the shard's state log from the restore point, in the first micro-batch of a rebuilt checkpoint."""
        from tripline_engine.spark.checkpoint.state_file import read_state  # noqa: PLC0415

        with self._stored.log(self._state, self._shard(key)) as log:
            for path in initialState["stateFile"]:
                for name, data in read_state(Path(path)):
                    log.put(name, data)

    def handleInputRows(  # noqa: N802  # Spark's name
        self,
        key: Any,
        rows: Iterator[pa.RecordBatch] | Iterator[pd.DataFrame],
        timerValues: TimerValues,  # noqa: N803, ARG002
    ) -> Iterator[pa.RecordBatch] | Iterator[pd.DataFrame]:
        # the driver and Spark's schema check load this class too, and need no compiled kernels
        import pyarrow as pa  # noqa: PLC0415

        from tripline_engine.spark.rows.record_batches import as_data_frame, as_record_batch  # noqa: PLC0415
        from tripline_engine.spark.state.state_client import StateClient  # noqa: PLC0415

        try:
            inputs = list(rows)
            in_input_type = as_record_batch if isinstance(inputs[0], pa.RecordBatch) else as_data_frame
            batches = [as_record_batch(batch) for batch in inputs]
            del inputs
            yield from map(in_input_type, self._outputs(self._shard(key), batches))
        except BaseException:
            if isinstance(self._client, StateClient):
                self._client.drain_responses()
            raise

    def _outputs(self, shard: int, batches: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Output records and counters of a shard, rows by OUTPUT_SCHEMA. Clears `batches` to release their memory."""
        from tripline_engine.spark.query.sources import packing  # noqa: PLC0415
        from tripline_engine.spark.rows.input_batches import ordered_payloads  # noqa: PLC0415
        from tripline_engine.spark.rows.output_batches import counter_batch, record_batches  # noqa: PLC0415

        payloads = ordered_payloads(batches, packing(self._config, self._fault))
        batches.clear()
        make_worker = self._make_worker or _shard_worker()
        with self._stored.log(self._state, shard) as log:
            worker = make_worker(self._config, shard, log, self._local_projection_dir(), _now_ms)
            records = worker.process(payloads)
        if self._fault:
            self._fault.reach_task(shard, payloads)
        yield from record_batches(records, self._topic_prefix)
        yield counter_batch(shard, {**worker.counters, **count_records(records)})
        GC_FREEZER.task_done()

    def close(self) -> None:
        """Nothing to close: no state between calls."""

    def _shard(self, key: Any) -> int:
        return self._shards[int(key[0])]

    def _local_projection_dir(self) -> Path | None:
        """The projection's folder on this machine: a worker of a cluster may have another, shared by all engines."""
        folder = os.environ.get(WORKERS_FOLDER)
        return (
            Path(folder) / self._config.engine_id if folder and self._projection_dir else self._projection_dir
        )


def _shard_worker() -> MakeWorker:
    from tripline_engine.domain.shard.shard_worker import ShardWorker  # noqa: PLC0415

    return ShardWorker


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
