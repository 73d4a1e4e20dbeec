"""Sends the workload: the preload as fast as Kafka takes it, the live part at its rate."""

from __future__ import annotations

import threading
import time
from decimal import Decimal
from typing import Final

import numpy as np
from confluent_kafka import KafkaError, Message, Producer

from bench.rules import RuleLog, Subject
from bench.workload import Workload, values

TRANSACTIONS: Final = "transactions.v1"
RULES: Final = "rules.v1"
_TICK_SECONDS: Final = 0.002
_CHUNK: Final = 10_000


def now_ms() -> int:
    """Wall clock, ms since the epoch."""
    return time.time_ns() // 1_000_000


class Sender:
    """Knows when each transaction was sent: `event_time` in ms, `sent_at` in seconds since the epoch.

    Event time and record time are one; each partition's offsets are those of the workload, because there is one
    producer and it names the partitions.
    """

    def __init__(self, bootstrap_servers: str, load: Workload) -> None:
        self._load = load
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap_servers,
                "compression.type": "lz4",
                "enable.idempotence": True,
                "linger.ms": 1,
                "queue.buffering.max.messages": 200_000,
                "delivery.report.only.error": True,
                "log_level": 3,
            }
        )
        self.event_time = np.zeros(len(load), np.int64)
        self.sent_at = np.zeros(len(load))
        self.sent = 0
        self.failures: list[str] = []

    def preload(self, until_ms: int) -> None:
        """The first part, as if it had happened at the workload's rate and ended at `until_ms`."""
        count = self._load.preloaded
        self.event_time[:count] = until_ms - (count - np.arange(count)) * 1_000 // self._load.rate
        for start in range(0, count, _CHUNK):
            stop = min(start + _CHUNK, count)
            times = self.event_time[start:stop].tolist()
            for at, (partition, value) in zip(times, values(self._load, start, stop, times), strict=True):
                self._send(partition, value, at)
            self.sent = stop
        self._producer.flush(120)

    def live(self, stop: threading.Event) -> None:
        """The rest, at the workload's rate from now on."""
        begin, first, latest = time.monotonic(), self.sent, 0
        while self.sent < len(self._load) and not stop.wait(_TICK_SECONDS):
            due = first + int((time.monotonic() - begin) * self._load.rate)
            for number in range(self.sent, min(due, len(self._load))):
                # a wall clock may step back; record times here never do
                at = max(now_ms(), latest)
                latest = at
                (row,) = values(self._load, number, number + 1, [at])
                self.event_time[number], self.sent_at[number] = at, time.time()
                self._send(*row, at)
                self.sent = number + 1
            self._producer.poll(0)
        self._producer.flush(30)

    def publish(self, log: RuleLog, subject: Subject, limit: Decimal, effective_from: int) -> None:
        """The rule's next version."""
        version = log.publish(subject, limit, effective_from)
        event = log.event(version, now_ms())
        self._producer.produce(RULES, event, str(subject.rule_id), 0, on_delivery=self._report)
        self._producer.poll(0)

    def flush(self) -> None:
        """Waits until everything is in Kafka."""
        self._producer.flush(30)

    def _send(self, partition: int, value: bytes, at: int) -> None:
        while True:
            try:
                self._producer.produce(
                    TRANSACTIONS, value, partition=partition, timestamp=at, on_delivery=self._report
                )
            except BufferError:
                self._producer.poll(0.1)
            else:
                return

    def _report(self, error: KafkaError | None, _message: Message) -> None:
        if error is not None:
            self.failures.append(error.str())
