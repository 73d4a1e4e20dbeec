"""rules.v1 read record by record, from its beginning."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from confluent_kafka import Consumer, KafkaException, TopicPartition

from rules_registry.adapters.publisher import TOPIC
from rules_registry.errors import DeliveryFailed
from tripline_contracts.kafka.cluster import KafkaCluster

_SECONDS = 10.0
_BATCH = 1000


class RulesReader:
    """The topic's records, each once. Raises `DeliveryFailed` without Kafka."""

    def __init__(self, consumer: Any) -> None:
        self._consumer = consumer
        self._next = 0

    def new_records(self) -> Iterator[tuple[int, bytes]]:
        """Offset and value of the records up to the present end; an absent value is empty."""
        try:
            low, end = self._consumer.get_watermark_offsets(TopicPartition(TOPIC, 0), timeout=_SECONDS)
            # a topic that was lost and made anew is read from its beginning
            self._next = max(self._next, low) if self._next <= end else low
            if self._next >= end:
                return
            self._consumer.assign([TopicPartition(TOPIC, 0, self._next)])
            while self._next < end:
                messages = self._consumer.consume(min(_BATCH, end - self._next), timeout=_SECONDS)
                if not messages:
                    raise DeliveryFailed(f"rules.v1 gave nothing from offset {self._next} on.")
                for message in messages:
                    if message.error() is not None:
                        raise DeliveryFailed(f"rules.v1 cannot be read: {message.error().str()}.")
                    self._next = message.offset() + 1
                    yield message.offset(), message.value() or b""
        except KafkaException as error:
            raise DeliveryFailed(f"rules.v1 cannot be read: {error.args[0].str()}.") from error


@contextmanager
def open_rules_reader(kafka: KafkaCluster) -> Iterator[RulesReader]:
    """A consumer of its own, in no group."""
    consumer = Consumer(
        {
            **kafka.client_config(),
            "group.id": f"rules-registry-watch-{uuid.uuid4().hex}",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "allow.auto.create.topics": False,
            "log_level": 3,
            "error_cb": lambda _error: None,
        }
    )
    try:
        yield RulesReader(consumer)
    finally:
        consumer.close()
