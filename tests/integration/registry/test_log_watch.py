"""The log, a real topic and what shards report, compared with the rights of the relay."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator

import pytest
from confluent_kafka import Producer
from prometheus_client import CollectorRegistry

from rules_registry.adapters.outbox import open_outbox
from rules_registry.adapters.publisher import TOPIC, open_publisher
from rules_registry.adapters.rules_reader import open_rules_reader
from rules_registry.adapters.status_store import open_status_store
from rules_registry.domain.reports.position_report import PositionReport
from rules_registry.errors import LogDiffers
from rules_registry.service.log_watch import LogWatch
from rules_registry.service.republisher import republish
from tests.integration.registry.support.relay_process import fresh_rules_topic
from tests.registry import DEFINITION, RegistryApi, running_api
from tests.servers import PostgresServer
from tests.unit.rules_registry.test_republisher import FakeTopic
from tripline_contracts.event_type_loader import load
from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_engine.domain.rules.rule_book import RuleBook

TRANSACTION = load("transaction")

pytestmark = [pytest.mark.integration, pytest.mark.slow]


@pytest.fixture(scope="module")
def api(
    postgres: PostgresServer, migrated_database: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RegistryApi]:
    with running_api(postgres, migrated_database, tmp_path_factory.mktemp("registry")) as running:
        yield running


def reported(book: RuleBook, digest: str | None = None) -> PositionReport:
    """What a shard with that book reports now."""
    now = time.time_ns() // 1_000_000
    return PositionReport(
        "engine", 0, 1, book.position, digest or book.digest, book.digest_from, book.is_waiting, now
    )


def forge_a_pause(kafka: str, rule_id: int, position: int) -> None:
    """What anybody can send who may write to the topic."""
    pause = {
        "eventId": "00000000-0000-4000-8000-000000000000",
        "type": "RulePaused",
        "position": position,
        "occurredAt": 0,
        "actor": "admin",
        "widestWindows": [],
        "ruleId": rule_id,
        "version": 2,
        "state": "PAUSED",
    }
    producer = Producer({"bootstrap.servers": kafka})
    producer.produce(TOPIC, json.dumps(pause).encode())
    producer.flush(10)


def test_a_forged_record_and_an_engine_that_took_it_are_told(
    postgres: PostgresServer, api: RegistryApi, kafka: str
) -> None:
    relay = postgres.login(api.dsn, "tripline_registry_relay")
    status = postgres.login(api.dsn, "tripline_registry_status")
    with api.client() as client:
        rule = client.post("/v1/rules", json=dict(DEFINITION)).json()
        client.put("/v1/lists/watched", json={"values": ["ü😀", 25]}).raise_for_status()
        client.put("/v1/parameters/high", json={"value": "1.50"}).raise_for_status()
        client.post("/v1/control-commands", json={"command": "EXPORT_RULES_CURRENT"}).raise_for_status()
    fresh_rules_topic(kafka)
    with (
        open_outbox(relay) as outbox,
        open_rules_reader(KafkaCluster(kafka)) as topic,
        open_publisher(KafkaCluster(kafka)) as publisher,
        open_status_store(status) as store,
        open_rules_reader(KafkaCluster(kafka)) as engines_view,
    ):
        republish(outbox, FakeTopic(), publisher)
        honest, deceived = RuleBook(TRANSACTION), RuleBook(TRANSACTION)
        for _, value in engines_view.new_records():
            honest.apply(value)
            deceived.apply(value)
        assert (honest.position, set(honest.rules)) == (4, {rule["ruleId"]})
        assert store.put([reported(honest)]) == 0
        watch = LogWatch(
            lambda: open_outbox(relay),
            lambda: open_rules_reader(KafkaCluster(kafka)),
            CollectorRegistry(),
            threading.Event(),
        )
        watch.step(outbox, topic)
        watch.check()

        forge_a_pause(kafka, rule["ruleId"], 5)
        for _, value in engines_view.new_records():
            deceived.apply(value)
        assert deceived.rules[rule["ruleId"]].paused, "a record at the next position is like a real one"
        watch.step(outbox, topic)
        with pytest.raises(LogDiffers, match="not in the registry's log"):
            watch.check()
        store.put([reported(deceived)])
        watch.step(outbox, topic)
        with pytest.raises(LogDiffers, match="has applied position 5, and the log ends at 4"):
            watch.check()

        # the registry's own event at that position: the engine that was deceived has another digest
        with api.client() as client:
            client.put(
                "/v1/parameters/high", json={"value": "2"}, headers={"If-Match": "*"}
            ).raise_for_status()
        watch.step(outbox, topic)
        with pytest.raises(LogDiffers, match="has applied other events than the log holds"):
            watch.check()
