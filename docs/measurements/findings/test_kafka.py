"""Findings about Kafka and the engine (F1, F2, F4), as bb01e79's names have it."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import psutil
import pytest
from confluent_kafka import KafkaError, KafkaException, Message, Producer

from alert_api.adapters.postgres_intake import PostgresIntake
from alert_api.errors import RecordNotStorable
from tests.e2e.engine_process import Queries, Workplace, queries
from tests.e2e.kafka_log import KafkaLog
from tests.oracle.registry import Registry
from tests.oracle.scripting import batch, draft, payment
from tests.servers import PostgresServer
from tests.unit.alert_api.samples import alert, commanded, received, void
from tests.unit.engine.harness import Engine
from tripline_contracts import topics as contract
from tripline_contracts.event_type import load
from tripline_demo import topics
from tripline_demo.jars import Jars
from tripline_demo.java import Java
from tripline_engine.domain.records import Kind, Payload
from tripline_engine.domain.rule_book import RuleBook, UnreadableRuleEvent

NOW = 1_763_690_000_000
ONE = draft("COUNT", ">=", "1", by=())
MEBIBYTE = 1 << 20


def sent(kafka: str, topic: str, size: int, **config: object) -> KafkaError | None:
    outcomes: list[KafkaError | None] = []

    def told(error: KafkaError | None, _message: Message) -> None:
        outcomes.append(error)

    most = {"bootstrap.servers": kafka, "log_level": 0, "message.max.bytes": 1_000_000_000}
    sender = Producer({**most, **config})
    sender.produce(topic, b'{"a":"' + b"x" * size + b'"}', on_delivery=told)
    assert sender.flush(60) == 0
    return outcomes[0]


@contextmanager
def opened(postgres: PostgresServer) -> Iterator[PostgresIntake]:
    with ExitStack() as stack:
        dsn = stack.enter_context(postgres.database(migrated=True))
        yield stack.enter_context(PostgresIntake(postgres.login(dsn, "tripline_alert_projector")))


class TestF1:
    def test_nobody_without_a_name_is_let_in(self, kafka: str) -> None:
        """tests/integration/test_kafka_access.py::TestWhoIsNotLetIn"""
        topics.create(kafka)
        taken = [topic.name for topic in contract.all_topics() if sent(kafka, topic.name, 2) is None]
        assert taken == []

    def test_nobody_takes_a_transactional_id(self, kafka: str) -> None:
        """tests/integration/kafka/test_producer_ids.py"""
        producer = Producer(
            {"bootstrap.servers": kafka, "transactional.id": "tripline-relay", "log_level": 0}
        )
        with pytest.raises(KafkaException):
            producer.init_transactions(30)

    def test_a_setting_says_who_a_client_is(self) -> None:
        """tests/unit/contracts/kafka/test_cluster.py"""
        __import__("tripline_contracts.kafka.cluster")

    def test_a_forged_tick_leaves_a_shard_its_eyes(self) -> None:
        """tests/unit/engine/shard/test_tick.py"""
        engine = Engine()
        engine.take(batch(events=[Registry().publish(1, ONE, 0, 0)]))
        ticks = [b'{"clock":%d}' % clock for clock in (NOW, NOW + 86_400_000)]
        engine.attempt(0, [Payload(Kind.TICK, tick, n) for n, tick in enumerate(ticks)])
        engine.logs[0].commit()
        engine.take(batch(records=[payment(1, NOW)]))
        assert [alert["transaction"]["transactionId"] for alert in engine.alerts()] == ["t1"]
        assert engine.rejects() == []

    @pytest.mark.parametrize("position", [2**53 - 1, 2**31, 3])
    def test_a_forged_position_ahead_silences_nothing(self, position: int) -> None:
        """tests/unit/engine/rules/test_rule_book.py"""
        registry = Registry()
        first, second = (registry.publish(number, ONE, 0, 0) for number in (1, 2))
        book = RuleBook(load("transaction"))
        book.take(first)
        with suppress(UnreadableRuleEvent):
            book.take(json.dumps({"type": "SettingsChanged", "position": position}).encode())
        book.take(second)
        assert set(book.rules) == {1, 2}

    def test_an_alert_of_a_rule_that_never_was(self, postgres: PostgresServer) -> None:
        """tests/integration/alert_api/test_forged_records.py"""
        with opened(postgres) as intake, pytest.raises(RecordNotStorable, match="was never published"):
            intake.store([received(alert(3, ruleId=424_242))], [])

    def test_a_void_that_was_never_issued(self, postgres: PostgresServer) -> None:
        """tests/integration/alert_api/test_forged_records.py"""
        with opened(postgres) as intake, pytest.raises(RecordNotStorable, match="was never issued"):
            intake.store([], [], [commanded(void(1, 1, actor="ghost"))])

    def test_relays_compare_log_and_topic(self) -> None:
        """tests/unit/rules_registry/test_log_watch.py"""
        __import__("tripline_contracts.log_digest")


@pytest.mark.parametrize(
    ("codec", "mebibytes"), [("gzip", 64), ("zstd", 64), ("lz4", 64), ("gzip", 2), ("zstd", 200)]
)
def test_f2_the_broker_measures_what_it_stores(kafka: str, codec: str, mebibytes: int) -> None:
    """tests/integration/test_decompression_bombs.py"""
    topics.create(kafka)
    bombs = {"compression.type": codec}
    names = ("transactions.v1", "alerts.v1", "engine-ticks.v1")
    assert [name for name in names if sent(kafka, name, mebibytes * MEBIBYTE, **bombs) is None] == []


def text(value: str) -> bytes:
    return struct.pack(">H", len(value)) + value.encode()


def answer(port: int) -> bytes:
    receiver = b"\x01" + text("127.0.0.1") + struct.pack(">i", port) + text("BlockManagerMaster")
    body = b"\x00" + receiver + bytes.fromhex("aced0005740001") + b"x"
    message = struct.pack(">bqi", 3, 7, len(body)) + body
    said = b""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        connection.sendall(struct.pack(">q", 8 + len(message)) + message)
        try:
            while more := connection.recv(65_536):
                said += more
        except (TimeoutError, ConnectionResetError):
            pass
    return said


@pytest.fixture
def spark_queries(java: Java, jars: Jars, kafka: str, tmp_path: Path) -> Iterator[Queries]:
    with queries(Workplace(java, jars, kafka, tmp_path)) as running:
        yield running


def test_f4_no_port_of_the_driver_reads_objects_of_strangers(spark_queries: Queries, kafka: str) -> None:
    """tests/e2e/test_spark_rpc.py; the ports are found here, bb01e79's support does not list them"""
    log = KafkaLog(kafka, "spark-rpc-")
    log.create()
    with spark_queries.query(log.prefix, 1, 1_000):
        ports = {
            connection.laddr.port
            for process in psutil.Process().children(recursive=True)
            if process.name() == "java" and any("pyspark" in word for word in process.cmdline())
            for connection in process.net_connections("tcp")
            if connection.status == psutil.CONN_LISTEN
        }
        assert len(ports) >= 2
        said = {port: answer(port) for port in sorted(ports)}
    assert not [
        port for port, words in said.items() if b"RpcMessage" in words or b"Unsupported message" in words
    ]
