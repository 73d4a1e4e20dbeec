"""A running generator as its tests see it: its API, its counters, and the topic that it fills."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx
from confluent_kafka import Consumer, Message, TopicPartition

from tripline_demo.generator.output.kafka_outlet import TOPIC

DEADLINE_SECONDS = 30.0


def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < end, "not within the deadline"
        time.sleep(0.02)


@dataclass(frozen=True)
class Generator:
    """A running generator's API, and a reader of its topic."""

    http: httpx.Client
    consumer: Consumer

    def end(self) -> list[int]:
        return [
            self.consumer.get_watermark_offsets(TopicPartition(TOPIC, p), timeout=10)[1] for p in range(2)
        ]

    def read(self, begin: list[int]) -> list[Message]:
        """Everything from `begin` to the end as it is now."""
        end = self.end()
        self.consumer.assign([TopicPartition(TOPIC, p, offset) for p, offset in enumerate(begin)])
        records: list[Message] = []

        def all_read() -> bool:
            records.extend(self.consumer.consume(500, 0.2))
            return len(records) >= sum(end) - sum(begin)

        until(all_read)
        return records

    def finished(self, replay: dict[str, Any]) -> dict[str, Any]:
        """The replay once it is over."""
        path = f"/v1/replays/{replay['replayId']}"
        until(lambda: self.http.get(path).json()["state"] != "running")
        answer: dict[str, Any] = self.http.get(path).json()
        return answer

    def counters(self) -> dict[str, int]:
        counters: dict[str, int] = self.http.get("/v1/traffic").json()["counters"]
        return counters

    def arrived(self, sent: int, first: int) -> tuple[int, int]:
        """Transactions counted as sent, and records in the topic, above these numbers."""
        return self.counters()["sent"] - sent, sum(self.end()) - first
