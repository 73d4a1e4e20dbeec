"""Topics read from an offset to their end as it is now, in no group."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping
from typing import Final, Self

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_demo.generator.errors import Unheard

_SECONDS: Final = 10.0
_SILENCE_SECONDS: Final = 20.0
_NAME: Final = "tripline-generator-reception"


class TopicReader:
    """One client; close it by leaving its block."""

    def __init__(self, kafka: KafkaCluster) -> None:
        self._consumer = Consumer(
            {
                **kafka.client_config(),
                "group.id": _NAME,  # the client wants one; nothing is ever committed to it
                "client.id": _NAME,
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "fetch.wait.max.ms": 20,
                "allow.auto.create.topics": False,
                "log.connection.close": False,
            },
            logger=logging.getLogger("tripline_demo.generator.kafka"),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._consumer.close()

    def ends(self, topic: str) -> dict[int, int]:
        """By partition the offset after the last. Raises Unheard."""
        try:
            metadata = self._consumer.list_topics(topic, timeout=_SECONDS).topics[topic]
            if metadata.error is not None:
                raise Unheard(f"{topic}: {metadata.error.str()}")
            return {
                number: self._consumer.get_watermark_offsets(TopicPartition(topic, number), timeout=_SECONDS)[
                    1
                ]
                for number in sorted(metadata.partitions)
            }
        except KafkaException as error:
            raise Unheard(f"{topic}: {error.args[0].str()}") from error

    def since(self, topic: str, time_ms: int) -> dict[int, int]:
        """By partition the first offset with that record time or a later one, else the end. Raises Unheard."""
        ends = self.ends(topic)
        wanted = [TopicPartition(topic, number, max(0, time_ms)) for number in ends]
        try:
            answers = self._consumer.offsets_for_times(wanted, timeout=_SECONDS)
        except KafkaException as error:
            raise Unheard(f"{topic}: {error.args[0].str()}") from error
        return {
            answer.partition: answer.offset if answer.offset >= 0 else ends[answer.partition]
            for answer in answers
        }

    def records(self, topic: str, first: Mapping[int, int], until: Mapping[int, int]) -> Iterator[Message]:
        """Partition by partition, in order. Raises Unheard."""
        for number in sorted(first):
            if first[number] < until.get(number, 0):
                yield from self._partition(TopicPartition(topic, number, first[number]), until[number])

    def _partition(self, start: TopicPartition, until: int) -> Iterator[Message]:
        self._consumer.assign([start])
        deadline = time.monotonic() + _SILENCE_SECONDS
        while True:
            for message in self._consumer.consume(500, 0.2):
                deadline = time.monotonic() + _SILENCE_SECONDS
                _refuse(message.error(), start.topic)
                offset = message.offset()
                if offset is not None and offset < until:
                    yield message
            (position,) = self._consumer.position([TopicPartition(start.topic, start.partition)])
            if position.offset >= until:
                return
            if time.monotonic() > deadline:
                raise Unheard(f"{start.topic}: the broker sends nothing")


def _refuse(error: KafkaError | None, topic: str) -> None:
    if error is not None and not error.retriable():
        raise Unheard(f"{topic}: {error.str()}")
