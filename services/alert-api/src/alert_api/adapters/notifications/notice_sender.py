"""Notices on their way to `cases.v1`."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from alert_api.domain.notifications.case_notice import CaseNotice, notice_headers, notice_value
from alert_api.errors import NotSent
from tripline_contracts.kafka.cluster import KafkaCluster

SECONDS: Final = 10.0


class KafkaNoticeSender:
    """``NoticeSender`` to one topic, keyed by case. Nobody else writes there, so records are numbered."""

    def __init__(self, kafka: KafkaCluster, topic: str) -> None:
        self._topic = topic
        self._producer = Producer(
            {
                **kafka.client_config(),
                "client.id": "tripline-notifier",
                "enable.idempotence": True,
                "acks": "all",
                "message.timeout.ms": int(SECONDS * 1000),
                "linger.ms": 5,
                "log.connection.close": False,
            },
            logger=logging.getLogger("librdkafka"),
        )

    def send(self, notices: Sequence[CaseNotice]) -> None:
        """In their order. Raises NotSent."""
        confirmed = 0
        failures: list[KafkaError] = []

        def confirm(error: KafkaError | None, _message: Message) -> None:
            nonlocal confirmed
            if error is None:
                confirmed += 1
            else:
                failures.append(error)

        try:
            for notice in notices:
                self._producer.produce(
                    self._topic,
                    notice_value(notice),
                    key=str(notice.case_id),
                    headers=list(notice_headers(notice)),
                    on_delivery=confirm,
                )
        except (BufferError, KafkaException) as error:
            raise NotSent(str(error)) from error
        finally:
            left = self._producer.flush(SECONDS + 1)
        if left or failures or confirmed < len(notices):
            raise NotSent(str(failures[0]) if failures else "the broker has not confirmed in time")

    def check(self) -> None:
        """Return if the broker can be reached now and knows the topic."""
        metadata = self._producer.list_topics(self._topic, timeout=2)
        error = metadata.topics[self._topic].error
        if error is not None:
            raise KafkaException(error)
