"""The outlet that is Kafka."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from typing import Any, Final, cast

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_demo.generator.errors import Unsendable
from tripline_demo.generator.output.outlet import Delivered, Failures, Record

TOPIC: Final = "transactions.v1"

_Headers = list[tuple[str, str | bytes | None]]

_COMMON: Final[Mapping[str, Any]] = {
    "compression.type": "lz4",
    # Who may write to a topic may use anybody's producer id there, and a producer with one would lose records that are
    # confirmed, or send nothing more, for ever. The engine takes a transaction that comes twice once; in order, one
    # request is under way at a time.
    "enable.idempotence": False,
    "max.in.flight.requests.per.connection": 1,
    "message.timeout.ms": 30_000,
    "log.connection.close": False,
    "client.id": "tripline-generator",
}
_POLL_SECONDS: Final = 0.02


class KafkaOutlet:
    """Many records: a short linger, reports of failures only (a report per record would cost as much again)."""

    def __init__(self, kafka: KafkaCluster) -> None:
        self._producer = _producer(kafka, {"linger.ms": 5, "delivery.report.only.error": True})
        self._failed = 0
        self._latest: str | None = None

    def send(self, record: Record) -> bool:
        """See Outlet."""
        try:
            self._producer.produce(
                TOPIC,
                value=record.value,
                key=record.key,
                timestamp=record.time,
                headers=cast("_Headers", record.headers),
                on_delivery=self._report,
            )
        except BufferError:
            return False
        except KafkaException as error:
            # this record is beyond what the client takes at all (too large, say); the next ones are not
            self._failed += 1
            self._latest = error.args[0].str()
        return True

    def serve(self, timeout: float) -> None:
        """See Outlet."""
        self._producer.poll(timeout)

    def flush(self, timeout: float) -> int:
        """See Outlet."""
        left: int = self._producer.flush(timeout)
        return left

    def failures(self) -> Failures:
        """See Outlet."""
        return Failures(self._failed, self._latest)

    def check(self) -> None:
        """Raises Unsendable unless the broker answers and has the topic."""
        _check(self._producer)

    def _report(self, error: KafkaError | None, _message: Message) -> None:
        if error is not None:
            self._failed += 1
            self._latest = error.str()


class KafkaDesk:
    """Single records, sent at once and waited for; safe to use from several threads."""

    def __init__(self, kafka: KafkaCluster) -> None:
        self._producer = _producer(kafka, {"linger.ms": 0})

    def deliver(self, record: Record, timeout: float) -> Delivered:
        """See Desk."""
        reports: list[tuple[KafkaError | None, Message]] = []

        def keep(error: KafkaError | None, message: Message) -> None:
            reports.append((error, message))

        try:
            self._producer.produce(
                TOPIC,
                value=record.value,
                key=record.key,
                timestamp=record.time,
                headers=cast("_Headers", record.headers),
                on_delivery=keep,
            )
        except (BufferError, KafkaException) as error:
            raise Unsendable(f"Kafka does not take the transaction: {error}") from error
        end = time.monotonic() + timeout
        while not reports:
            if time.monotonic() > end:
                raise Unsendable(
                    f"Kafka did not confirm the transaction within {timeout:g} s; it may arrive yet"
                )
            self._producer.poll(_POLL_SECONDS)
        failure, message = reports[0]
        if failure is not None:
            raise Unsendable(f"Kafka refused the transaction: {failure.str()}")
        partition, offset = message.partition(), message.offset()
        assert partition is not None  # confirmed
        assert offset is not None
        return Delivered(partition, offset)

    def flush(self, timeout: float) -> int:
        """Waits for what is under way; how many are left."""
        left: int = self._producer.flush(timeout)
        return left


def _producer(kafka: KafkaCluster, options: Mapping[str, Any]) -> Producer:
    settings = {**_COMMON, **kafka.client_config(), **options}
    return Producer(settings, logger=logging.getLogger("tripline_demo.generator.kafka"))


def _check(producer: Producer) -> None:
    try:
        topic = producer.list_topics(TOPIC, timeout=2).topics[TOPIC]
    except KafkaException as error:
        raise Unsendable(f"Kafka does not answer: {error.args[0].str()}") from error
    if topic.error is not None:
        raise Unsendable(f"Kafka has no topic {TOPIC}: {topic.error.str()}")
