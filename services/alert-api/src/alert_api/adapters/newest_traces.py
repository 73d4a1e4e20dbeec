"""A glance at rule-traces.v1: the newest few thousand records, of which one rule's are shown.

Each look reads what has come since the one before; what is older than those few thousand is forgotten.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from typing import Any, Final

from confluent_kafka import KafkaException, Message, TopicPartition

from alert_api.adapters.tail_consumer import ends, glancing_consumer
from alert_api.errors import UpstreamUnavailable
from tripline_contracts import schemas
from tripline_contracts.errors import SchemaViolation
from tripline_contracts.event_type import EventType
from tripline_contracts.kafka.cluster import KafkaCluster

PER_PARTITION: Final = 2_000
READ_SECONDS: Final = 2.0
KEPT_SECONDS: Final = 0.4
_AT_ONCE: Final = 500


class NewestTraces:
    """Looks when asked; several that ask at once share one look."""

    def __init__(self, kafka: KafkaCluster, topic: str, event_type: EventType) -> None:
        self._topic = topic
        self._lock = threading.Lock()
        self._looked: float | None = None
        self._next: dict[int, int] = {}
        self._kept: dict[int, deque[tuple[bytes, bytes]]] = {}
        self._check = schemas.validator("rule-traces.v1", event_type)
        self._consumer = glancing_consumer(kafka, "tripline-console-traces")

    def newest(self, rule_id: int, limit: int) -> list[dict[str, Any]]:
        """At most `limit` records of the rule, those judged last first. Raises UpstreamUnavailable."""
        with self._lock:
            if self._looked is None or time.monotonic() - self._looked >= KEPT_SECONDS:
                try:
                    self._look()
                except KafkaException as error:
                    raise UpstreamUnavailable("Kafka", str(error)) from error
                self._looked = time.monotonic()
            key = str(rule_id).encode()
            values = [
                value for records in self._kept.values() for record_key, value in records if record_key == key
            ]
        traces = [trace for trace in map(self._read, values) if trace and trace["ruleId"] == rule_id]
        # after a restart the engine says some again: the same but for judgedAt
        distinct = {
            (trace["version"], trace["partition"], trace["offset"], trace.get("side")): trace
            for trace in traces
        }
        return sorted(distinct.values(), key=_age)[:limit]

    def close(self) -> None:
        """Leave."""
        self._consumer.close()

    def _look(self) -> None:
        missing: dict[int, int] = {}
        for number, (low, high) in ends(self._consumer, self._topic).items():
            since = self._next.get(number, 0)
            if since > high:  # the topic was made anew
                self._kept.pop(number, None)
                since = 0
            records = self._kept.setdefault(number, deque(maxlen=PER_PARTITION))
            begin = max(low, high - PER_PARTITION, since)
            if begin > since:
                records.clear()
            self._next[number] = begin
            if begin < high:
                missing[number] = high
        if missing:
            self._read_up_to(missing)

    def _read_up_to(self, missing: dict[int, int]) -> None:
        self._consumer.assign([TopicPartition(self._topic, number, self._next[number]) for number in missing])
        deadline = time.monotonic() + READ_SECONDS
        try:
            while any(self._next[number] < high for number, high in missing.items()):
                messages = self._consumer.consume(_AT_ONCE, 0.1)
                for message in messages:
                    self._keep(message)
                if time.monotonic() > deadline:
                    break  # the next look goes on from here
        finally:
            self._consumer.unassign()

    def _keep(self, message: Message) -> None:
        number, offset = message.partition(), message.offset()
        if message.error() is not None or number is None or offset is None:
            return
        self._kept[number].append((message.key() or b"", message.value() or b""))
        self._next[number] = offset + 1

    def _read(self, value: bytes) -> dict[str, Any] | None:
        """The record, or None where it is not what the contract says."""
        try:
            trace: dict[str, Any] = json.loads(value)
            self._check(trace)
        except (ValueError, RecursionError, SchemaViolation):
            return None
        return trace


def _age(trace: dict[str, Any]) -> tuple[int, ...]:
    return tuple(-trace[name] for name in ("judgedAt", "recordTime", "partition", "offset"))
