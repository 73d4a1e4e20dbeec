"""Records that unfold to more than the broker's heap: it refuses them, goes on, and has lost no thread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from confluent_kafka import Producer

from tests.integration.test_decompression_bombs import MEBIBYTE, sent
from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_demo import topics
from tripline_demo.embedded import kafka as embedded_kafka
from tripline_demo.embedded.jars import Jars
from tripline_demo.embedded.java import Java

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(500)]

Bombs = list[tuple[int, str]]
SOME: Bombs = [(400, "gzip"), (200, "zstd"), (400, "lz4")]
EACH: Bombs = [(mebibytes, codec) for mebibytes in (200, 400) for codec in ("gzip", "zstd", "lz4")]
AT_ONCE = 2
PASSING = ("pool-", "ForkJoin", "Attach", "process reaper", "C1 ", "C2 ")


@pytest.fixture
def broker(java: Java, jars: Jars, servers_folder: Path) -> Iterator[embedded_kafka.Broker]:
    with embedded_kafka.running(java, jars.broker, servers_folder / "kafka-out-of-memory") as running:
        topics.create(KafkaCluster(running.bootstrap_servers))
        yield running


def process_of(broker: embedded_kafka.Broker) -> psutil.Process:
    """The broker's own process."""
    (process,) = [
        process
        for process in psutil.process_iter(["name", "cmdline"])
        if process.info["name"] == "java" and str(broker.properties_file) in (process.info["cmdline"] or [])
    ]
    return process


def threads(process: psutil.Process) -> Counter[str]:
    """Its threads by name, but for those of pools and compilers, which come and go."""
    names = [path.read_text().strip() for path in Path(f"/proc/{process.pid}/task").glob("*/comm")]
    return Counter(name for name in names if not name.startswith(PASSING))


@pytest.mark.parametrize(
    "bombs", [pytest.param(SOME, id="some"), pytest.param(EACH, id="each", marks=pytest.mark.soak)]
)
def test_the_broker_goes_on_with_all_of_its_threads(broker: embedded_kafka.Broker, bombs: Bombs) -> None:
    kafka, process = broker.bootstrap_servers, process_of(broker)
    assert sent(kafka, "transactions.v1", "lz4", 60_000) is None
    before = threads(process)
    for codec in ("gzip", "zstd", "lz4"):
        # the first of each codec loads what it needs, threads too perhaps
        assert sent(kafka, "alerts.v1", codec, 60_000) is None
    taken = 0
    for mebibytes, codec in bombs:
        together = [bomb(kafka, codec, mebibytes) for _ in range(AT_ONCE)]
        taken += sent(kafka, "transactions.v1", "none", 60_000) is None
        for producer, outcomes in together:
            assert producer.flush(60) == 0
            assert outcomes[0] is not None, f"{mebibytes} MB in {codec} was taken"
        assert sent(kafka, "transactions.v1", codec, 60_000) is None
    assert taken == len(bombs), "good ones in between are taken"
    assert process.is_running()
    log = (broker.home / "broker.log").read_text(encoding="utf-8", errors="replace")
    assert "OutOfMemoryError" in log, "the heap was too small for none of them: this shows nothing"
    lost = before - threads(process)
    assert not lost, lost


def bomb(kafka: str, codec: str, mebibytes: int) -> tuple[Producer, list[object]]:
    """A record on its way, and what becomes of it."""
    outcomes: list[object] = []
    producer = Producer(
        {
            "bootstrap.servers": kafka,
            "compression.type": codec,
            "message.max.bytes": 1_000_000_000,
            "retries": 0,
            "log_level": 0,
        }
    )
    value = b'{"a":"' + b"x" * (mebibytes * MEBIBYTE) + b'"}'
    producer.produce("transactions.v1", value, on_delivery=lambda error, _: outcomes.append(error))
    producer.poll(0)
    return producer, outcomes
