"""Corrected records on their way to the event topic, each with a header that says what it corrects."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import Any, Final

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from alert_api.domain.rejected_records import Delivery, RecordPlace
from alert_api.errors import NotSent
from alert_api.service.rejected.redrive import Correction
from tripline_contracts import backfill
from tripline_contracts.kafka.cluster import KafkaCluster

CORRECTS: Final = "corrects"
SECONDS: Final = 10.0


class TransactionSender:
    """``Sender`` to one topic. A source system like others (docs/kafka-access.md), so without idempotence: a
    transaction that comes twice is one to the engine."""

    def __init__(self, kafka: KafkaCluster, topic: str) -> None:
        self._topic = topic
        self._producer = Producer(
            {
                **kafka.client_config(),
                "client.id": "tripline-redrive",
                "enable.idempotence": False,
                "max.in.flight.requests.per.connection": 1,
                "acks": "all",
                "message.timeout.ms": int(SECONDS * 1000),
                "linger.ms": 0,
                "log.connection.close": False,
            },
            logger=logging.getLogger("librdkafka"),
        )

    def send(self, corrections: Sequence[Correction]) -> Sequence[Delivery]:
        """In their order; a later one is not sent before the earlier one is confirmed. Raises NotSent."""
        confirmed: dict[int, Delivery] = {}
        failures: list[KafkaError] = []

        def report(position: int) -> Any:
            def confirm(error: KafkaError | None, message: Message) -> None:
                partition, offset = message.partition(), message.offset()
                if error is not None or partition is None or offset is None:
                    failures.append(error or KafkaError(KafkaError._FAIL))  # noqa: SLF001 - the client's public name
                    return
                confirmed[position] = Delivery(RecordPlace(partition, offset), time.time_ns() // 1_000_000)

            return confirm

        try:
            for correction in corrections:
                self._producer.produce(
                    self._topic,
                    correction.value,
                    headers=_headers(correction),
                    on_delivery=report(correction.position),
                )
        except (BufferError, KafkaException) as error:
            raise NotSent(str(error)) from error
        finally:
            left = self._producer.flush(SECONDS + 1)
        if left or failures or len(confirmed) < len(corrections):
            raise NotSent(str(failures[0]) if failures else "the broker has not confirmed in time")
        return [confirmed[correction.position] for correction in corrections]


def _headers(correction: Correction) -> list[tuple[str, str | bytes | None]]:
    headers: list[tuple[str, str | bytes | None]] = [(CORRECTS, str(correction.corrects).encode())]
    if correction.backfill is not None:
        headers.append((backfill.HEADER, correction.backfill.encode()))
    return headers
