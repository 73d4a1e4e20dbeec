"""Settings of the archiver, read from the environment once at the start."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from environs import Env, EnvError
from marshmallow.validate import Range

from tripline_contracts.errors import ContractError
from tripline_contracts.event_type import DEFAULT, EventType
from tripline_contracts.installed import installed
from tripline_contracts.kafka.cluster import KafkaCluster, kafka_cluster
from tripline_engine.bind_address import parse_bind
from tripline_engine.errors import BadSettings


@dataclass(frozen=True, slots=True)
class ArchiverSettings:
    """Settings of one archiver process.

    :ivar flush_seconds: age of the oldest buffered record at which the buffer is written
    :ivar flush_bytes: size of the buffer at which it is written
    """

    kafka: KafkaCluster
    archive: Path
    event_type: EventType
    topic_prefix: str
    flush_seconds: int
    flush_bytes: int
    metrics_host: str
    metrics_port: int
    log_level: str

    def topic(self, name: str) -> str:
        """The topic of this deployment for a contract's name."""
        return self.topic_prefix + name


def from_environment() -> ArchiverSettings:
    """Reads TRIPLINE_… variables. Raises BadSettings with a sentence naming the variable."""
    env = Env()
    try:
        with env.prefixed("TRIPLINE_"):
            host, port = parse_bind(env.str("METRICS_BIND", "127.0.0.1:9105"))
            return ArchiverSettings(
                kafka=kafka_cluster(os.environ),
                archive=Path(env.str("ARCHIVE")).absolute(),
                event_type=installed(env.str("EVENT_TYPE", DEFAULT)),
                topic_prefix=env.str("TOPIC_PREFIX", ""),
                flush_seconds=env.int("ARCHIVE_FLUSH_SECONDS", 5, validate=Range(1, 3600)),
                flush_bytes=env.int("ARCHIVE_FLUSH_BYTES", 32 << 20, validate=Range(1, 1 << 30)),
                metrics_host=host,
                metrics_port=port,
                log_level=env.str("LOG_LEVEL", "info"),
            )
    except EnvError as error:
        raise BadSettings(f"settings: {error}") from error
    except ContractError as error:
        raise BadSettings(str(error)) from error
