"""Sends the workload: the preload as fast as Kafka takes it, the live part at its rate."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt
from confluent_kafka import KafkaError, Message, Producer

from bench.harness.output_reader import PROBE
from bench.workload.workload import Column, Workload, values
from tripline_contracts.kafka.cluster import KafkaCluster

TRANSACTIONS: Final = "transactions.v1"
_TICK_SECONDS: Final = 0.005
_PROBE_SECONDS: Final = 0.05
_CHUNK: Final = 10_000


def now_ms() -> int:
    """Wall clock, ms since the epoch."""
    return time.time_ns() // 1_000_000


class Sender:
    """Knows when each transaction was sent.

    Event time and record time are one; each partition's offsets are those of the workload, because there is one
    producer and it names the partitions.

    :ivar event_time: of each transaction, ms since the epoch
    :ivar due_at: when each live transaction was to be sent, in seconds of the monotonic clock. Latency is counted
        from there: a sender that is held up sends later, and that must not hide what it waits for
    :ivar called_at: when the producer was really called
    """

    def __init__(self, kafka: KafkaCluster, load: Workload) -> None:
        self._load = load
        self._producer = Producer(
            {
                **kafka.client_config(),
                "compression.type": "lz4",
                "enable.idempotence": True,
                # librdkafka's own default; with 1 ms, a thousand requests a second keep the broker busy
                "linger.ms": 5,
                "queue.buffering.max.messages": 200_000,
                "delivery.report.only.error": True,
                "log_level": 3,
            }
        )
        self.event_time: Column = np.zeros(len(load), np.int64)
        self.due_at: npt.NDArray[np.float64] = np.zeros(len(load))
        self.called_at: npt.NDArray[np.float64] = np.zeros(len(load))
        self.sent = 0
        self.failures: list[str] = []

    def preload(self, until_ms: int) -> None:
        """The first part, as if it had happened at the workload's rate and ended at `until_ms`."""
        count = self._load.preloaded
        self.send(until_ms - (count - np.arange(count)) * 1_000 // self._load.rate)

    def send(self, times: Column) -> None:
        """As many more as there are times (event and record times, ms), as fast as Kafka takes them."""
        first, count = self.sent, self.sent + len(times)
        self.event_time[first:count] = times
        for start in range(first, count, _CHUNK):
            stop = min(start + _CHUNK, count)
            chunk = self.event_time[start:stop].tolist()
            for due, (partition, value) in zip(chunk, values(self._load, start, stop, chunk), strict=True):
                self._send(TRANSACTIONS, partition, value, due)
            self.sent = stop
        self._producer.flush(120)

    def live(self, stop: threading.Event) -> None:
        """The rest, at the workload's rate from now on, and now and then a probe of Kafka alone."""
        first, count, begin = self.sent, len(self._load), time.monotonic()
        self.due_at[first:] = begin + np.arange(1, count - first + 1) / self._load.rate
        latest, probe_at = 0, begin
        while self.sent < count and not stop.wait(_TICK_SECONDS):
            due = first + int((time.monotonic() - begin) * self._load.rate)
            # a wall clock may step back; record times here never do
            latest = max(now_ms(), latest)
            self._send_until(min(due, count), latest)
            if time.monotonic() >= probe_at:
                probe_at = time.monotonic() + _PROBE_SECONDS
                self._send(PROBE, 0, repr(time.monotonic()).encode(), latest)
            self._producer.poll(0)
        self.close()

    def close(self) -> None:
        """Leaves Kafka; to be called by whoever sends nothing live."""
        self._producer.close()

    def late_ms(self, timed_from: int) -> npt.NDArray[np.float64]:
        """How much later than due the producer was called, of the transactions from `timed_from` on."""
        late: npt.NDArray[np.float64] = (self.called_at[timed_from:] - self.due_at[timed_from:]) * 1_000
        return late

    def _send_until(self, stop: int, due: int) -> None:
        start = self.sent
        self.event_time[start:stop] = due
        for number, (partition, value) in self._numbered(start, stop, due):
            self.called_at[number] = time.monotonic()
            self._send(TRANSACTIONS, partition, value, due)
        self.sent = max(start, stop)

    def _numbered(self, start: int, stop: int, due: int) -> Iterator[tuple[int, tuple[int, bytes]]]:
        rows = values(self._load, start, stop, [due] * (stop - start))
        return zip(range(start, stop), rows, strict=True)

    def _send(self, topic: str, partition: int, value: bytes, due: int) -> None:
        while True:
            try:
                self._producer.produce(
                    topic, value, partition=partition, timestamp=due, on_delivery=self._report
                )
            except BufferError:
                self._producer.poll(0.1)
            else:
                return

    def _report(self, error: KafkaError | None, _message: Message) -> None:
        if error is not None:
            self.failures.append(error.str())
