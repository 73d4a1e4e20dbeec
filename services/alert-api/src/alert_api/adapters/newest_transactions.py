"""A glance at transactions.v1: how much has been written, and the newest few records.

It reads a handful of records per look, whatever the rate: no consumer group, nothing committed, nothing kept.
"""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass
from typing import Any, Final

from confluent_kafka import KafkaException, Message, TopicPartition

from alert_api.adapters.tail_consumer import ends, glancing_consumer
from alert_api.errors import UpstreamUnavailable
from tripline_contracts.event_type import EventType, Field
from tripline_contracts.kafka.cluster import KafkaCluster

PER_PARTITION: Final = 4
KEPT_SECONDS: Final = 0.4
_MAX_SHOWN_BYTES: Final = 4_096


@dataclass(frozen=True, slots=True)
class Glance:
    """`written` is the sum of the end offsets; `newest` are the last records of each partition, newest first."""

    written: int
    newest: tuple[dict[str, Any], ...]


class NewestTransactions:
    """Looks when asked; several that ask at once share one look."""

    def __init__(self, kafka: KafkaCluster, topic: str, event_type: EventType) -> None:
        self._topic, self._fields = topic, event_type.fields
        self._lock = threading.Lock()
        self._seen: tuple[float, Glance] | None = None
        self._consumer = glancing_consumer(kafka, "tripline-console-glance")

    def look(self) -> Glance:
        """The topic as it is now, at most KEPT_SECONDS old. Raises UpstreamUnavailable."""
        with self._lock:
            if self._seen is not None and time.monotonic() - self._seen[0] < KEPT_SECONDS:
                return self._seen[1]
            try:
                glance = self._look()
            except KafkaException as error:
                raise UpstreamUnavailable("Kafka", str(error)) from error
            self._seen = (time.monotonic(), glance)
            return glance

    def close(self) -> None:
        """Leave."""
        self._consumer.close()

    def _look(self) -> Glance:
        written, starts = 0, []
        for number, (low, high) in ends(self._consumer, self._topic).items():
            written += high
            if high > low:
                starts.append(TopicPartition(self._topic, number, max(low, high - PER_PARTITION)))
        return Glance(written, self._newest(starts))

    def _newest(self, starts: list[TopicPartition]) -> tuple[dict[str, Any], ...]:
        if not starts:
            return ()
        self._consumer.assign(starts)
        record_count = PER_PARTITION * len(starts)
        messages = [
            message for message in self._consumer.consume(record_count, 0.3) if message.error() is None
        ]
        self._consumer.unassign()
        messages.sort(key=lambda message: message.timestamp()[1], reverse=True)
        return tuple(_shown(message, self._fields) for message in messages)


def _shown(message: Message, declared: tuple[Field, ...]) -> dict[str, Any]:
    """The record in short: its place and time and, where it can be read, the transaction's own fields as texts.

    They are under their canonical names, whichever they have there.
    """
    raw = message.value() or b""
    head = {
        "partition": message.partition(),
        "offset": message.offset(),
        "recordTime": message.timestamp()[1],
        "bytes": len(raw),
    }
    try:
        value = json.loads(raw, parse_float=str) if len(raw) <= _MAX_SHOWN_BYTES else None
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        return {**head, "transaction": None}
    fields = {
        field.name: value[name]
        for field in declared
        for name in reversed(field.names)
        if isinstance(value.get(name), str | int)
    }
    return {**head, "transaction": fields}
