"""Rejected records between a real Kafka and a real Postgres: in, decided about, and out again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from hashlib import sha256

import pytest
from confluent_kafka import Consumer, Message, Producer
from prometheus_client import CollectorRegistry

from alert_api.adapters.kafka_source import KafkaAlertSource
from alert_api.adapters.metrics import RedriveMetrics
from alert_api.adapters.rejected.postgres_redrive import PostgresRedrive
from alert_api.adapters.rejected.postgres_rejected_records import PostgresRejectedRecords
from alert_api.adapters.rejected.transaction_sender import TransactionSender
from alert_api.domain.rejected_records import Delivery, RecordPlace
from alert_api.errors import Stopped
from alert_api.service.projector import RetryPolicy
from alert_api.service.rejected.reading import read_reject
from alert_api.service.rejected.redrive import Correction, Redrive
from tests.integration.alert_api.conftest import AlertsDatabase
from tests.integration.alert_api.rejected.conftest import BACKFILL, EVENTS, NOW, again, reject
from tests.integration.alert_api.support.servers import SECONDS, eventually, new_topic
from tests.servers import PostgresServer
from tripline_contracts import schemas
from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_engine.domain.shard.kafka_records import reject_record

pytestmark = pytest.mark.integration


class Line:
    """Topics of this test's own, and the redrive between them."""

    def __init__(self, kafka: str, store: PostgresRedrive) -> None:
        self.kafka, self.store = kafka, store
        self.rejected, self.events = new_topic(kafka, "rejected-transactions.v1"), new_topic(kafka, EVENTS)

    def reject(self, values: Sequence[tuple[bytes, int]], *, garbage: bool = False) -> None:
        producer = Producer({"bootstrap.servers": self.kafka, "log_level": 3})
        if garbage:
            producer.produce(self.rejected, b"no headers")
        for value, offset in values:
            made = reject_record(
                value, "unparseable", "not JSON", 0, offset, len(value), sha256(value).hexdigest(), NOW
            )
            producer.produce(self.rejected, made.value, headers=list(made.headers))
        assert producer.flush(SECONDS) == 0

    @contextmanager
    def redrive(self, store: PostgresRedrive | None = None) -> Iterator[CollectorRegistry]:
        stop, registry = threading.Event(), CollectorRegistry()
        metrics = RedriveMetrics(registry)
        read = partial(read_reject, check=schemas.validator("rejected-transactions.v1"))
        cluster = KafkaCluster(self.kafka)
        with KafkaAlertSource(cluster, [self.rejected], metrics.lag, group=self.rejected) as source:
            redrive = Redrive(
                source, store or self.store, TransactionSender(cluster, self.events), read, metrics, stop,
                RetryPolicy(0.05, 0.5),
            )  # fmt: skip
            thread = threading.Thread(target=redrive.run)
            thread.start()
            try:
                yield registry
            finally:
                stop.set()
                thread.join(SECONDS)

    def sent(self, number: int) -> list[Message]:
        """The first so many of the event topic."""
        consumer = Consumer(
            {"bootstrap.servers": self.kafka, "group.id": self.events, "auto.offset.reset": "earliest"}
        )
        consumer.subscribe([self.events])
        taken: list[Message] = []

        def enough() -> bool:
            taken.extend(message for message in consumer.consume(10, 0.2) if message.error() is None)
            return len(taken) >= number

        try:
            eventually(enough, f"{number} are sent")
        finally:
            consumer.close()
        return taken


@pytest.fixture
def line(kafka: str, store: PostgresRedrive) -> Line:
    return Line(kafka, store)


def has(records: PostgresRejectedRecords, state: str, number: int) -> Callable[[], bool]:
    return lambda: sum(c.count for c in records.counts() if c.state == state) == number


def test_in_and_out_again(line: Line, records: PostgresRejectedRecords) -> None:
    line.reject([(b"{", 5), (b"\x00\xff", 6)], garbage=True)
    with line.redrive() as registry:
        eventually(has(records, "open", 2), "they are stored")
        records.decide(RecordPlace(0, 5), again(b'{"a": 1}  ', BACKFILL))
        eventually(has(records, "sent", 1), "it is sent")
        assert registry.get_sample_value("tripline_rejected_records_unreadable_total") == 1
    [message] = line.sent(1)
    assert message.value() == b'{"a": 1}  '
    assert message.headers() == [("corrects", b"0-5"), ("backfill", BACKFILL.encode())]
    sent = records.get(RecordPlace(0, 5))
    assert sent is not None
    assert sent.delivery is not None
    assert sent.delivery.place == RecordPlace(message.partition() or 0, message.offset() or 0)


class Dying(PostgresRedrive):
    """Ends between the broker's word and the database's."""

    def delivered(self, deliveries: Sequence[tuple[Correction, Delivery]]) -> None:
        raise Stopped(f"{len(deliveries)} were sent")


def test_a_kill_before_the_delivery_is_stored_sends_it_again(
    postgres: PostgresServer, database: AlertsDatabase, line: Line, records: PostgresRejectedRecords
) -> None:
    line.store.store([reject(4)])
    records.decide(RecordPlace(0, 4), again())
    with (
        closing(Dying(postgres.login(database.owner, "tripline_alert_redrive"))) as dying,
        line.redrive(dying),
    ):
        line.sent(1)
    assert has(records, "queued", 1)()
    with line.redrive():
        eventually(has(records, "sent", 1), "it is sent")
    assert [message.value() for message in line.sent(1)] == [b'{"a": 1}']
