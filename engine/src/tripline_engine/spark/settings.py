"""Settings of the engine, read from the environment once at the start."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

from environs import Env, EnvError
from marshmallow.validate import OneOf, Range

from tripline_contracts.errors import ContractError
from tripline_contracts.event_type import DEFAULT, EventType
from tripline_contracts.installed import installed
from tripline_contracts.kafka.cluster import KafkaCluster, kafka_cluster
from tripline_engine.bind_address import parse_bind
from tripline_engine.domain.shard.engine_config import Clock
from tripline_engine.errors import BadSettings

TASK_ATTEMPTS: Final = 4
"""local[N] gives a task one attempt only; a worker process that dies must not end the query."""

MAX_HISTORY: Final = 100_000_000
"""Retained transactions, over all shards and anchors, where nothing else is set: some ten gigabytes of arrays."""

_BACKLOG_FACTOR: Final = 2.5
"""Factor of the largest micro-batch with a long backlog: larger ones amortise the fixed cost."""

_MAX_BATCH_TRANSACTIONS: Final = 10_000_000
"""Limit of any micro-batch, which keeps its strings in one shard below 2 GiB."""

_HEAP: Final = re.compile(r"([1-9][0-9]*)([mMgG])")
_LOCAL: Final = re.compile(r"local\[([0-9]+|\*)\]")


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """Settings of one engine process. Times in ms are integers, addresses are host:port.

    :ivar shards: None: the number pinned by the checkpoint
    :ivar poll_ms: how long Spark waits before it asks Kafka again where nothing was new
    :ivar batch_interval_ms: between the begins of two micro-batches at least; 0: one follows the other at once
    :ivar archive: the archiver's folder; None: no archive
    :ivar cold_start: start on an empty checkpoint though history is missing
    """

    kafka: KafkaCluster
    checkpoint: Path
    projection_dir: Path
    event_type: EventType
    shards: int | None
    clock: Clock
    spark_master: str
    jars: Path
    max_transactions_per_batch: int
    max_history: int
    topic_prefix: str
    metrics_host: str
    metrics_port: int
    driver_mebibytes: int
    poll_ms: int
    batch_interval_ms: int
    log_level: str
    fault_point: str | None
    class_cache: Path | None
    archive: Path | None
    cold_start: bool

    @property
    def is_local(self) -> bool:
        """Whether workers run on this machine, with their mapped files here."""
        return self.spark_master.startswith("local")

    def topic(self, name: str) -> str:
        """The topic of this deployment for a contract's name."""
        return self.topic_prefix + name

    def largest_batch(self, *, catching_up: bool) -> int:
        """Transactions of the largest micro-batch: usually, or with a long backlog."""
        limit = self.max_transactions_per_batch
        return min(int(limit * _BACKLOG_FACTOR), _MAX_BATCH_TRANSACTIONS) if catching_up else limit


def from_environment() -> EngineSettings:
    """Reads TRIPLINE_… variables. Raises BadSettings with a sentence naming the variable."""
    env = Env()
    try:
        with env.prefixed("TRIPLINE_"):
            host, port = parse_bind(env.str("METRICS_BIND", "127.0.0.1:9103"))
            return EngineSettings(
                kafka=kafka_cluster(os.environ),
                checkpoint=Path(env.str("CHECKPOINT")).absolute(),
                projection_dir=Path(env.str("PROJECTION_DIR")).absolute(),
                event_type=installed(env.str("EVENT_TYPE", DEFAULT)),
                shards=env.int("SHARDS", None, validate=Range(1, 256)),
                clock=cast("Clock", env.str("CLOCK", "wall", validate=OneOf(["wall", "data"]))),
                spark_master=local_master(env.str("SPARK_MASTER", "local[2]")),
                jars=Path(env.str("JARS")).resolve(),
                max_transactions_per_batch=env.int(
                    "MAX_TRANSACTIONS_PER_BATCH", 100_000, validate=Range(1, _MAX_BATCH_TRANSACTIONS)
                ),
                max_history=env.int("MAX_HISTORY", MAX_HISTORY, validate=Range(1_000, 10**12)),
                topic_prefix=env.str("TOPIC_PREFIX", ""),
                metrics_host=host,
                metrics_port=port,
                driver_mebibytes=_mebibytes(env.str("DRIVER_MEMORY", "2g")),
                poll_ms=env.int("POLL_MS", 50, validate=Range(10, 10_000)),
                batch_interval_ms=env.int("BATCH_INTERVAL_MS", 0, validate=Range(0, 60_000)),
                log_level=env.str("LOG_LEVEL", "info"),
                fault_point=env.str("FAULT_POINT", None),
                class_cache=env.path("CLASS_CACHE", None),
                archive=env.path("ARCHIVE", None),
                cold_start=env.bool("COLD_START", False),
            )
    except EnvError as error:
        raise BadSettings(f"settings: {error}") from error
    except ContractError as error:
        raise BadSettings(str(error)) from error


def _mebibytes(size: str) -> int:
    """MiB of a heap size in the syntax that JVM and Spark share: 2g, 1536m."""
    match = _HEAP.fullmatch(size)
    if not match:
        raise BadSettings(
            f"TRIPLINE_DRIVER_MEMORY: expected a whole number with m or g, as in 2g, not {size!r}"
        )
    return int(match[1]) * (1024 if match[2] in "gG" else 1)


def local_master(master: str) -> str:
    """`local[N]` with attempts for its tasks; every other master as it is."""
    match = _LOCAL.fullmatch(master)
    return f"local[{match[1]},{TASK_ATTEMPTS}]" if match else master
