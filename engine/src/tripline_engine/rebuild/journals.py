"""Journals of the topics that a rebuild reads: input topics and recorded order, each with its archive."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final, Protocol

from tripline_contracts.event_type import EventType
from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_engine.archive.file_store import FileStore
from tripline_engine.archive.journal import Journal
from tripline_engine.kafka_log.careful_log import CarefulLog
from tripline_engine.topic_names import ORDER, RULES, TICKS, TRANSACTIONS

_ARCHIVED: Final = (TRANSACTIONS, TICKS, ORDER)

Journals = Mapping[str, Journal]
"""By the contract's names of the topics."""


class Deployment(Protocol):
    """Where the topics of a deployment are, and its archive: settings of an engine, or of a prover."""

    @property
    def kafka(self) -> KafkaCluster: ...

    @property
    def archive(self) -> Path | None: ...

    def topic(self, name: str) -> str: ...


@contextmanager
def journals(
    settings: Deployment, event_type: EventType, names: Sequence[str] = (RULES, *_ARCHIVED)
) -> Iterator[Journals]:
    """Journals of one deployment, by topic. rules.v1 has unlimited retention and no archive."""
    with ExitStack() as stack:
        by_topic: dict[str, Journal] = {}
        for name in names:
            topic, store = stack.enter_context(CarefulLog(settings.kafka, settings.topic(name))), None
            if settings.archive and name in _ARCHIVED:
                store = FileStore(settings.archive, event_type.name, topic.name)
            by_topic[name] = Journal(topic, store)
        yield by_topic
