"""rule-status.v1 as batches of values, with offsets committed when the reader says so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import structlog
from confluent_kafka import Consumer, KafkaError, KafkaException

from rules_registry.errors import DeliveryFailed
from tripline_contracts.kafka.cluster import KafkaCluster

log = structlog.get_logger(__name__)

TOPIC = "rule-status.v1"
_BATCH = 500


class StatusSource:
    """A consumer. Raises `DeliveryFailed` when Kafka refuses."""

    def __init__(self, consumer: Any) -> None:
        self._consumer = consumer
        self._taken: list[Any] = []

    def take(self, seconds: float) -> list[bytes | None]:
        """The values of the next records: as soon as there is one, with what has come along with it."""
        try:
            first = self._consumer.poll(seconds)
            more = [] if first is None else [first, *self._consumer.consume(_BATCH, timeout=0)]
        except KafkaException as error:
            raise DeliveryFailed(f"rule-status.v1 cannot be read: {error}.") from error
        self._taken = [message for message in more if self._is_record(message)]
        return [message.value() for message in self._taken]

    def commit(self) -> None:
        """Says that what was taken last need not come again."""
        if self._taken:
            try:
                # Batches of one partition come in order: the last message stands for those before it.
                self._consumer.commit(message=self._taken[-1], asynchronous=False)
            except KafkaException as error:
                raise DeliveryFailed(f"Offsets of rule-status.v1 cannot be committed: {error}.") from error
            self._taken = []

    def _is_record(self, message: Any) -> bool:
        error = message.error()
        if error is None:
            return True
        if error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
            log.warning("topic is not there yet", topic=TOPIC)
            return False
        raise DeliveryFailed(f"rule-status.v1 cannot be read: {error.str()}.")


@contextmanager
def open_status_source(kafka: KafkaCluster, group: str) -> Iterator[StatusSource]:
    """A consumer in the group, from the last committed offset, at first from the beginning."""
    consumer = Consumer(
        {
            **kafka.client_config(),
            "group.id": group,
            "client.id": "rules-registry-status",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "allow.auto.create.topics": False,
            "topic.metadata.refresh.interval.ms": 5_000,
            "session.timeout.ms": 10_000,
            "log_level": 3,
            "error_cb": lambda error: log.warning("kafka", reason=error.str()),
        }
    )
    consumer.subscribe([TOPIC])
    try:
        yield StatusSource(consumer)
    finally:
        consumer.close()
