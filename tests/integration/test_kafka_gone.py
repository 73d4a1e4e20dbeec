"""A broker that is gone: who needs it says so, with nothing to send and nothing to read."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from rules_registry.service.relay import SILENT_SECONDS
from tests.e2e.support.archiver_process import running_archiver
from tests.e2e.support.kafka_log import KafkaLog
from tests.e2e.support.waiting import eventually
from tests.integration.registry.support.relay_process import fresh_rules_topic, relay_process
from tests.servers import PostgresServer
from tripline_demo.embedded import kafka as embedded_kafka
from tripline_demo.embedded.jars import Jars
from tripline_demo.embedded.java import Java

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(240)]


def test_without_its_broker_neither_relay_nor_archiver_is_ready(
    java: Java, jars: Jars, postgres: PostgresServer, migrated_database: str, tmp_path: Path
) -> None:
    relay_dsn = postgres.login(migrated_database, "tripline_registry_relay")
    with ExitStack() as stack:
        with embedded_kafka.running(java, jars.broker, tmp_path / "kafka") as broker:
            kafka = broker.bootstrap_servers
            fresh_rules_topic(kafka)
            KafkaLog(kafka, "gone-").create()
            relay = stack.enter_context(relay_process(relay_dsn, kafka, tmp_path / "relay.log"))
            archiver = stack.enter_context(running_archiver(kafka, tmp_path / "archive", "gone-"))
            addresses = [f"{relay.metrics}/readyz", f"http://127.0.0.1:{archiver.port}/readyz"]
            eventually(lambda: statuses(addresses) == [200, 200], "both are ready")
        eventually(lambda: statuses(addresses) == [503, 503], "neither is", SILENT_SECONDS + 90)
        said = [httpx.get(address, timeout=5).text for address in addresses]
        assert '"relay"' in said[0]
        assert "Kafka" in said[1]


def statuses(addresses: list[str]) -> list[int]:
    try:
        return [httpx.get(address, timeout=5).status_code for address in addresses]
    except httpx.TransportError:
        return []
