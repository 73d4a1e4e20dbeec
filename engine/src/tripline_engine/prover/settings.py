"""Settings of the prover, read from the environment once at the start."""

from __future__ import annotations

import os
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

_KEY_CHARACTERS: Final = 32


@dataclass(frozen=True, slots=True)
class Judged:
    """How the transactions were judged: their type, and the clock that the engine read."""

    event_type: EventType
    clock: Clock


@dataclass(frozen=True, slots=True)
class ProverSettings:
    """Settings of one prover process.

    :ivar archive: the archiver's folder; None: no archive
    :ivar key: what callers have to present
    :ivar transactions: read by one proof at most
    :ivar seconds: taken by one proof at most
    :ivar backtest_seconds: taken by one backtest at most
    """

    kafka: KafkaCluster
    event_type: EventType
    clock: Clock
    archive: Path | None
    topic_prefix: str
    host: str
    port: int
    key: str
    transactions: int
    seconds: int
    backtest_seconds: int
    log_level: str

    @property
    def judged(self) -> Judged:
        """How the transactions were judged."""
        return Judged(self.event_type, self.clock)

    def topic(self, name: str) -> str:
        """The topic of this deployment for a contract's name."""
        return self.topic_prefix + name


def from_environment() -> ProverSettings:
    """Reads TRIPLINE_… variables. Raises BadSettings with a sentence naming the variable."""
    env = Env()
    try:
        with env.prefixed("TRIPLINE_"):
            host, port = parse_bind(env.str("METRICS_BIND", "127.0.0.1:9107"))
            return ProverSettings(
                kafka=kafka_cluster(os.environ),
                event_type=installed(env.str("EVENT_TYPE", DEFAULT)),
                clock=cast("Clock", env.str("CLOCK", "wall", validate=OneOf(["wall", "data"]))),
                archive=env.path("ARCHIVE", None),
                topic_prefix=env.str("TOPIC_PREFIX", ""),
                host=host,
                port=port,
                key=_key(env.path("PROVER_KEY_FILE")),
                transactions=env.int("PROVER_TRANSACTIONS", 20_000_000, validate=Range(1_000, 10**12)),
                seconds=env.int("PROVER_SECONDS", 60, validate=Range(1, 3_600)),
                backtest_seconds=env.int("BACKTEST_SECONDS", 3_600, validate=Range(1, 604_800)),
                log_level=env.str("LOG_LEVEL", "info"),
            )
    except EnvError as error:
        raise BadSettings(f"settings: {error}") from error
    except ContractError as error:
        raise BadSettings(str(error)) from error


def _key(file: Path) -> str:
    try:
        key = file.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadSettings(f"TRIPLINE_PROVER_KEY_FILE: {file} can't be read: {error}") from error
    if len(key) < _KEY_CHARACTERS or not key.isascii():
        raise BadSettings(
            f"TRIPLINE_PROVER_KEY_FILE: {file}: expected a key of at least {_KEY_CHARACTERS} ASCII characters"
        )
    return key
