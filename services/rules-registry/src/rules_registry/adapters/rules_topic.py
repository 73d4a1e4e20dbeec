"""The size of rules.v1 in Kafka."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from rules_registry.adapters.publisher import TOPIC
from rules_registry.errors import DeliveryFailed
from tripline_contracts.kafka.cluster import KafkaCluster

_SECONDS = 10.0
_MISSING = (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION)  # noqa: SLF001


class RulesTopic:
    """The topic, by a client that reads nothing."""

    def __init__(self, consumer: Any) -> None:
        self._consumer = consumer

    def records(self) -> int | None:
        """An upper bound of its records; `None`: there is no such topic. Raises `DeliveryFailed` without Kafka."""
        try:
            if self._consumer.list_topics(TOPIC, timeout=_SECONDS).topics[TOPIC].error is not None:
                return None
            low, high = self._consumer.get_watermark_offsets(TopicPartition(TOPIC, 0), timeout=_SECONDS)
        except KafkaException as error:
            if error.args[0].code() in _MISSING:
                return None
            raise DeliveryFailed(f"Kafka cannot be asked about rules.v1: {error.args[0].str()}.") from error
        return int(high) - int(low)


@contextmanager
def open_rules_topic(kafka: KafkaCluster) -> Iterator[RulesTopic]:
    """A client of its own."""
    consumer = Consumer(
        {
            **kafka.client_config(),
            "group.id": f"rules-registry-republish-{uuid.uuid4().hex}",
            "enable.auto.commit": False,
            "allow.auto.create.topics": False,
            "log_level": 3,
            # Errors are raised where the topic is asked about; the library would print them besides.
            "error_cb": lambda _error: None,
        }
    )
    try:
        yield RulesTopic(consumer)
    finally:
        consumer.close()
