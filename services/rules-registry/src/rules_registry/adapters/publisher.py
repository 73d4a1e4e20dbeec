"""Events into rules.v1: idempotent, acknowledged by all, in the order given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import structlog
from confluent_kafka import KafkaError, KafkaException, Producer

from rules_registry.domain.outbox_event import OutboxEvent
from rules_registry.errors import DeliveryFailed
from tripline_contracts import cloudevents
from tripline_contracts.canonical import canonical_json
from tripline_contracts.kafka.cluster import KafkaCluster

log = structlog.get_logger(__name__)

TOPIC = "rules.v1"
SOURCE = "/rules-registry"
_SECONDS = 20.0
_ANSWER_SECONDS = 2.0


class Publisher:
    """One producer. After `DeliveryFailed` it is of no more use: what it still holds must not arrive behind what its
    successor sends again, and a fresh one starts a fresh sequence."""

    def __init__(self, producer: Any) -> None:
        self._producer = producer

    def deliver(self, events: Sequence[OutboxEvent]) -> None:
        """Returns once Kafka has confirmed all of them, in this order. Raises `DeliveryFailed`; then any beginning of
        them may have arrived."""
        failures: list[str] = []

        def confirmed(error: KafkaError | None, _message: object) -> None:
            if error is not None:
                failures.append(error.str())

        try:
            for event in events:
                self._producer.produce(TOPIC, **_record(event), on_delivery=confirmed)
                self._producer.poll(0)
        except (KafkaException, BufferError) as error:
            raise DeliveryFailed(f"Kafka took no more: {error}.") from error
        left = self._producer.flush(_SECONDS)
        if failures or left:
            raise DeliveryFailed(
                f"{len(failures)} events failed and {left} were not confirmed: {failures[:1]}."
            )

    def answers(self) -> bool:
        """Whether Kafka does, and has the topic; known within seconds."""
        try:
            return self._producer.list_topics(TOPIC, timeout=_ANSWER_SECONDS).topics[TOPIC].error is None
        except KafkaException as error:
            log.warning("kafka", reason=str(error))
            return False


@contextmanager
def open_publisher(kafka: KafkaCluster) -> Iterator[Publisher]:
    """A producer of its own; what it holds at the end is dropped."""
    producer = Producer(
        {
            **kafka.client_config(),
            "client.id": "rules-registry-relay",
            "enable.idempotence": True,
            # A failed record must take those behind it along: one that arrived out of order would be skipped by readers
            # that go by position.
            "enable.gapless.guarantee": True,
            "acks": "all",
            "linger.ms": 0,
            "delivery.timeout.ms": int(_SECONDS * 1000) - 2000,
            "allow.auto.create.topics": False,
            "topic.metadata.refresh.interval.ms": 10_000,
            "log_level": 3,
            "error_cb": lambda error: log.warning("kafka", reason=error.str()),
        }
    )
    try:
        yield Publisher(producer)
    finally:
        producer.purge()
        producer.flush(1.0)


def _record(event: OutboxEvent) -> dict[str, Any]:
    return {
        "key": None if event.rule_id is None else str(event.rule_id).encode(),
        "value": canonical_json(event.body),
        "headers": cloudevents.headers(
            event.event_id, cloudevents.type_of(event.type), SOURCE, event.occurred_at
        ),
    }
