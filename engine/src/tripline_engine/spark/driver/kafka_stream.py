"""The ticker's view of Kafka: ends of the transaction partitions, order records, rule events, and its own ticks."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, Final

import structlog
from confluent_kafka import (
    TIMESTAMP_LOG_APPEND_TIME,
    Consumer,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)

from tripline_contracts import cloudevents
from tripline_engine.domain.rules.event_decoder import MAX_EVENT_BYTES
from tripline_engine.domain.shard.tick import SKEW_MS
from tripline_engine.errors import KafkaSilent
from tripline_engine.kafka_log.careful_log import CarefulLog
from tripline_engine.kafka_log.topic_log import OffsetsGone
from tripline_engine.spark.checkpoint.restore_point import judged_ends
from tripline_engine.spark.settings import EngineSettings
from tripline_engine.topic_names import ORDER, RULES, TICKS, TRANSACTIONS

_log = structlog.get_logger(__name__)
_SECONDS: Final = 5.0
_SOURCE: Final = "/engine"


class KafkaStream:
    """Reads by assignment, without a consumer group: nothing of this is committed to Kafka."""

    def __init__(self, settings: EngineSettings, engine_id: str) -> None:
        common: dict[str, Any] = {**settings.kafka.client_config(), "log_level": 3}
        self._consumer = Consumer(
            {
                **common,
                "group.id": f"tripline-engine-{engine_id}",
                "enable.auto.commit": False,
                # where a position has been deleted by retention
                "auto.offset.reset": "earliest",
            }
        )
        self._producer = Producer({**common, "enable.idempotence": True, "linger.ms": 0})
        self._settings = settings
        self._caught_up: set[str] = set()
        self._rules_position = 0
        self.order_position = 0

    def transaction_ends(self) -> Mapping[int, int]:
        topic = self._settings.topic(TRANSACTIONS)
        partitions = self._consumer.list_topics(topic, _SECONDS).topics[topic].partitions
        return {partition: self._end(topic, partition) for partition in partitions}

    def committed(self) -> Mapping[int, int]:
        return judged_ends(self._settings.checkpoint).get(self._settings.topic(TRANSACTIONS), {})

    def order_records(self) -> Iterator[Any]:
        for offset, loaded in self._read(self._settings.topic(ORDER), self.order_position):
            self.order_position = offset + 1
            yield from loaded

    def rule_events(self) -> Iterator[Any]:
        for offset, loaded in self._read(self._settings.topic(RULES), self._rules_position):
            self._rules_position = offset + 1
            yield from loaded

    def send_tick(self, clock: int) -> None:
        headers: list[Any] = cloudevents.headers(
            str(uuid.uuid4()), cloudevents.type_of("ClockTicked"), _SOURCE, time.time_ns() // 1_000_000
        )
        value = json.dumps({"clock": clock}, separators=(",", ":")).encode()
        delivered: list[Message] = []
        self._producer.produce(
            self._settings.topic(TICKS),
            value,
            headers=headers,
            on_delivery=lambda _error, message: delivered.append(message),
        )
        if self._producer.flush(_SECONDS):
            raise KafkaException(f"a tick wasn't delivered within {_SECONDS:g} s")
        for message in delivered:
            kind, appended = message.timestamp()
            if kind == TIMESTAMP_LOG_APPEND_TIME and clock > appended + SKEW_MS:
                _log.error(
                    "clock_ahead",
                    reason=f"this machine's clock is {clock - appended} ms ahead of the broker's: ticks that far"
                    " ahead are refused, and the record clock stands still. Set the clocks",
                )

    def close(self) -> None:
        self._consumer.close()

    def _end(self, topic: str, partition: int) -> int:
        watermarks = self._consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=_SECONDS)
        if watermarks is None:
            raise KafkaException(f"no end of {topic} partition {partition} within {_SECONDS:g} s")
        end: int = watermarks[1]
        return end

    def _read(self, topic: str, position: int) -> Iterator[tuple[int, list[Any]]]:
        """Records of a one-partition topic from `position` to its present end: offset and JSON value."""
        end = self._end(topic, 0)
        if position >= end:
            return
        if topic not in self._caught_up:
            # what an earlier release let in may be more than a client library should unfold
            yield from self._read_with_care(topic, position, end)
            self._caught_up.add(topic)
            return
        self._consumer.assign([TopicPartition(topic, 0, position)])
        while position < end:
            # never more than the topic has: consume waits until it has as many as requested
            messages = self._consumer.consume(min(10_000, end - position), _SECONDS)
            if not messages:
                raise KafkaException(f"nothing of {topic} from offset {position} within {_SECONDS:g} s")
            for message in messages:
                if message.error():
                    raise KafkaException(message.error())
                offset = message.offset()
                assert offset is not None  # a record without an error has one
                position = offset + 1
                yield offset, list(_loaded(topic, offset, message.value()))
        self._consumer.unassign()

    def _read_with_care(self, topic: str, position: int, end: int) -> Iterator[tuple[int, list[Any]]]:
        try:
            with CarefulLog(self._settings.kafka, topic) as log:
                # deleted by retention meanwhile: as a consumer goes on from the oldest
                first = max(position, log.span(0).first)
                for record in chain.from_iterable(log.records(0, first, end)):
                    yield record.offset, list(_loaded(topic, record.offset, record.value))
        except (KafkaSilent, OffsetsGone) as error:
            raise KafkaException(str(error)) from error


def _loaded(topic: str, offset: int, value: Any) -> Iterator[Any]:
    """The record's JSON; a value that is not JSON, or too long, is skipped, and the shards report it."""
    try:
        if len(value or b"") <= MAX_EVENT_BYTES:
            yield json.loads(value or b"")
    except (ValueError, RecursionError):
        _log.debug("not_json", topic=topic, offset=offset)
