"""What a replay is told from outside: where the logs are, and how they were judged."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from environs import Env, EnvError
from marshmallow.validate import OneOf

from tripline_contracts.errors import ContractError
from tripline_contracts.event_type import DEFAULT, EventType
from tripline_contracts.installed import installed
from tripline_contracts.kafka.cluster import KafkaCluster, kafka_cluster
from tripline_engine.domain.shard.engine_config import Clock
from tripline_engine.errors import BadSettings


@dataclass(frozen=True, slots=True)
class ReplaySettings:
    """Settings of one replay.

    :ivar archive: the archiver's folder; None: no archive
    """

    kafka: KafkaCluster
    event_type: EventType
    clock: Clock
    archive: Path | None
    topic_prefix: str
    log_level: str

    def topic(self, name: str) -> str:
        """The topic of this deployment for a contract's name."""
        return self.topic_prefix + name

    def elsewhere(self) -> ReplaySettings:
        """The same for other folders and machines: the archive by its absolute path."""
        return replace(self, archive=None if self.archive is None else self.archive.absolute())


def from_environment() -> ReplaySettings:
    """Reads TRIPLINE_… variables, those of the engine. Raises BadSettings with a sentence naming the variable."""
    env = Env()
    try:
        with env.prefixed("TRIPLINE_"):
            return ReplaySettings(
                kafka=kafka_cluster(os.environ),
                event_type=installed(env.str("EVENT_TYPE", DEFAULT)),
                clock=cast("Clock", env.str("CLOCK", "wall", validate=OneOf(["wall", "data"]))),
                archive=env.path("ARCHIVE", None),
                topic_prefix=env.str("TOPIC_PREFIX", ""),
                log_level=env.str("LOG_LEVEL", "info"),
            )
    except EnvError as error:
        raise BadSettings(f"settings: {error}") from error
    except ContractError as error:
        raise BadSettings(str(error)) from error
