"""The embedded broker is a real one: it keeps what it is given, and leaves nothing behind."""

from __future__ import annotations

import secrets
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from confluent_kafka import Consumer, KafkaError, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._config import ConfigResource
from confluent_kafka.admin._resource import ResourceType

from tripline_contracts import topics as contract
from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_demo import topics
from tripline_demo.embedded import kafka as embedded
from tripline_demo.embedded.jars import Jars
from tripline_demo.embedded.java import Java
from tripline_demo.errors import KafkaFailed
from tripline_demo.processes import ports

pytestmark = pytest.mark.integration


def test_topics_are_created_as_the_contracts_say_and_only_once(kafka: str) -> None:
    wanted = {topic.name: topic.partitions for topic in contract.all_topics()}
    topics.create(KafkaCluster(kafka))
    assert topics.create(KafkaCluster(kafka)) == []
    admin = AdminClient({"bootstrap.servers": kafka})
    listed = admin.list_topics(timeout=10).topics
    assert {name: len(listed[name].partitions) for name in wanted} == wanted
    resource = ConfigResource(ResourceType.TOPIC, "rules.v1")
    answer = admin.describe_configs([resource])[resource].result(10)
    for name, value in contract.load("rules.v1").creation_config().items():
        assert answer[name].value == value


def test_what_is_produced_is_consumed_in_order_with_its_headers(kafka: str) -> None:
    topics.create(KafkaCluster(kafka))
    mark = secrets.token_bytes(8)
    producer = Producer({"bootstrap.servers": kafka, "enable.idempotence": True})
    past = time.time_ns() // 1_000_000 - 86_400_000
    for number in range(100):
        producer.produce(
            "transactions.v1", str(number), key=mark, headers=[("n", bytes([number]))], timestamp=past
        )
    assert producer.flush(20) == 0
    consumer = Consumer(
        {"bootstrap.servers": kafka, "group.id": mark.hex(), "auto.offset.reset": "earliest"},
    )
    consumer.subscribe(["transactions.v1"])
    records: list[tuple[bytes | None, int]] = []
    deadline = time.monotonic() + 120
    while len(records) < 100 and time.monotonic() < deadline:
        message = consumer.poll(1)
        if message is not None and message.error() is None and message.key() == mark:
            records.append((message.value(), message.timestamp()[1]))
    consumer.close()
    assert records == [(str(number).encode(), past) for number in range(100)]


def test_a_misspelt_topic_is_an_error_not_a_new_topic(kafka: str) -> None:
    failures: list[object] = []
    producer = Producer({"bootstrap.servers": kafka, "message.timeout.ms": 3000, "log_level": 0})
    producer.produce("transactons.v1", b"x", on_delivery=lambda error, _: failures.append(error))
    producer.flush(25)
    assert len(failures) == 1
    assert failures[0] is not None
    admin = AdminClient({"bootstrap.servers": kafka})
    assert "transactons.v1" not in admin.list_topics(timeout=10).topics


def test_data_survives_a_restart_on_other_ports_and_nothing_is_left(
    java: Java, jars: Jars, tmp_path: Path
) -> None:
    with embedded.running(java, jars.broker, tmp_path / "kafka") as first:
        topics.create(KafkaCluster(first.bootstrap_servers), [contract.load("rules.v1")])
        producer = Producer({"bootstrap.servers": first.bootstrap_servers})
        producer.produce("rules.v1", b"kept")
        assert producer.flush(20) == 0
    with embedded.running(java, jars.broker, tmp_path / "kafka") as second:
        consumer = Consumer(
            {"bootstrap.servers": second.bootstrap_servers, "group.id": "x", "auto.offset.reset": "earliest"}
        )
        consumer.subscribe(["rules.v1"])
        message = consumer.poll(20)
        consumer.close()
        assert message is not None
        assert message.value() == b"kept"
    assert not ports.is_open(second.port)
    assert running_in(tmp_path) == []


def test_a_broker_does_not_outlive_a_killed_parent(java: Java, jars: Jars, tmp_path: Path) -> None:
    program = (
        "import time\nfrom pathlib import Path\nfrom tripline_demo.embedded import kafka\n"
        "from tripline_demo.embedded.java import Java\n"
        f"java = Java(Path({str(java.home)!r}), {java.version}, 'test')\n"
        f"with kafka.running(java, Path({str(jars.broker)!r}), Path({str(tmp_path / 'kafka')!r})) as broker:\n"
        "    print(broker.port, flush=True)\n"
        "    time.sleep(600)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    with parent.stdout as output:
        port = int(output.readline())
    assert running_in(tmp_path) != []
    parent.kill()
    parent.wait()
    deadline = time.monotonic() + 120
    while running_in(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert running_in(tmp_path) == []
    assert not ports.is_open(port)


def test_a_broker_that_cannot_start_says_why(java: Java, tmp_path: Path) -> None:
    with pytest.raises(KafkaFailed, match="could not format its storage"):
        embedded.Broker(java, tmp_path / "no-jars", tmp_path / "kafka", 1, 2).prepare()


def running_in(folder: Path) -> list[int]:
    """The processes whose command line names this folder."""
    partitions = []
    for process in psutil.process_iter(["cmdline", "status"]):
        words = process.info["cmdline"] or []
        if process.info["status"] != psutil.STATUS_ZOMBIE and any(str(folder) in word for word in words):
            partitions.append(process.pid)
    return partitions


def test_no_broker_is_not_ready() -> None:
    (port,) = ports.free_ports(1)
    assert not embedded.is_ready(KafkaCluster(f"127.0.0.1:{port}"))


def test_a_time_that_no_reader_can_hold_is_refused(kafka: str) -> None:
    """And those far apart, each of which would begin a file; an old topic is mended."""
    cluster, topic = KafkaCluster(kafka), replace(contract.load("transactions.v1"), name="times.v1")
    old = replace(topic, config={"message.timestamp.after.max.ms": str(2**63 - 1)})
    topics.create(cluster, [old])
    assert refused(kafka, "times.v1", 2**63 - 1) is None
    topics.create(cluster, [topic])
    now, year = time.time_ns() // 1_000_000, 366 * 86_400_000
    for wrong in (2**63 - 1, now + year + 60_000, 1, now - 10 * year):
        assert refused(kafka, "times.v1", wrong) == KafkaError.INVALID_TIMESTAMP, wrong
    for right in (now, now + year - 60_000, now - 9 * year):
        assert refused(kafka, "times.v1", right) is None, right


def refused(kafka: str, topic: str, timestamp: int) -> int | None:
    outcome: list[int | None] = []
    producer = Producer({"bootstrap.servers": kafka, "log_level": 0})
    producer.produce(
        topic, b"{}", timestamp=timestamp, partition=0,
        on_delivery=lambda error, _: outcome.append(None if error is None else error.code()),
    )  # fmt: skip
    producer.flush(30)
    return outcome[0]
