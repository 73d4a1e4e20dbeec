"""A running generator as its tests see it: its API, its counters, and the topic that it fills."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from confluent_kafka import Consumer, Message, TopicPartition
from werkzeug.serving import WSGIRequestHandler, make_server

from tripline_contracts import event_type_loader
from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_demo.generator import process
from tripline_demo.generator.output.kafka_outlet import TOPIC
from tripline_demo.generator.settings import Settings
from tripline_demo.generator.traffic import Traffic
from tripline_http.bind_address import LOOPBACK, Bind
from tripline_http.keys.key_file import ApiKey

DEADLINE_SECONDS = 120.0


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


class Quiet(WSGIRequestHandler):
    """Polling would fill the log of a failed test."""

    def log_request(self, *args: object) -> None:
        pass


@contextmanager
def running_generator(kafka: str) -> Iterator[Generator]:
    """A generator in this process, at rest, on the broker; the topics have to be there."""
    settings = Settings(
        kafka=KafkaCluster(kafka), api_keys_file=Path("not-read"), bind=Bind("127.0.0.1", 0), hosts=LOOPBACK,
        log_level="info", traffic=Traffic(rate=0), event_type=event_type_loader.load(),
    )  # fmt: skip
    digest = hashlib.sha256(b"key-for-these-tests").hexdigest()
    key = ApiKey("test", digest, frozenset({"traffic:read", "traffic:write"}))
    running = process.start(settings, [key])
    server = make_server("127.0.0.1", 0, running.app, threaded=True, request_handler=Quiet)
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    # asking for offsets waits for a fetch under way, so fetches are kept short
    consumer = Consumer(
        {"bootstrap.servers": kafka, "group.id": "test", "enable.auto.commit": False, "fetch.wait.max.ms": 10}
    )
    address = f"http://127.0.0.1:{server.server_port}"
    headers = {"Authorization": "Bearer key-for-these-tests"}
    with httpx.Client(base_url=address, headers=headers, timeout=15) as http:
        yield Generator(http, consumer)
    consumer.close()
    server.shutdown()
    serving.join()
    server.server_close()
    running.stop()
