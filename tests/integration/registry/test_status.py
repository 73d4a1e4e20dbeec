"""The status projector on a real Kafka, and published beside applied."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from tests.integration.registry.support.relay_process import until
from tests.integration.registry.support.status_projector_process import projector, say
from tests.registry import DEFINITION, RegistryApi
from tests.servers import PostgresServer
from tripline_contracts import topics
from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_demo import topics as embedded_topics

pytestmark = [pytest.mark.integration, pytest.mark.slow]


@pytest.fixture(scope="module")
def status_topic(kafka: str) -> str:
    embedded_topics.create(KafkaCluster(kafka), [topics.load("rule-status.v1")])
    return kafka


def applied(rule: dict[str, Any], shard: int, shards: int, **more: Any) -> dict[str, Any]:
    word = {
        "ruleId": rule["ruleId"],
        "version": rule["version"],
        "position": rule["position"],
        "shard": shard,
        "shards": shards,
        "appliedAt": 1000 + shard,
        "warmFrom": None,
    }
    return {**word, **more}


def status_of(client: httpx.Client, rule: dict[str, Any]) -> dict[str, Any]:
    (item,) = client.get("/v1/rule-status", params={"ruleId": rule["ruleId"]}).json()["items"]
    status: dict[str, Any] = item
    return status


def test_applied_means_by_all_shards(
    postgres: PostgresServer, api: RegistryApi, client: httpx.Client, status_topic: str, tmp_path: Path
) -> None:
    first = client.post("/v1/rules", json=dict(DEFINITION)).json()
    path = f"/v1/rules/{first['ruleId']}"
    with projector(postgres, api, status_topic, tmp_path / "projector.log") as process:
        say(status_topic, applied(first, 0, 2))
        until(lambda: _words(api, first) == 1, "one shard's word")
        assert status_of(client, first)["appliedVersion"] is None, "one of two shards is not all"
        say(status_topic, b"\xff", b"{}", b"[", None, applied(first, 5, 2), applied(first, 1, 2, warmFrom=77))
        until(lambda: _words(api, first) == 2, "the other's, past broken records")
        status = status_of(client, first)
        assert (status["appliedVersion"], status["appliedPosition"], status["appliedAt"]) == (
            1,
            first["position"],
            1001,
        )
        assert status["warmFrom"] is None, "one shard is before its first tick"
        second = client.post(f"{path}/pause", headers={"If-Match": "*"}).json()
        say(status_topic, applied(second, 1, 2, warmFrom=80))
        until(
            lambda: status_of(client, first)["appliedAt"] == 1001 and _newest(api, first) == 2,
            "half of version 2",
        )
        assert status_of(client, first)["appliedVersion"] == 1
        # An older word that comes again changes nothing.
        say(status_topic, applied(first, 1, 2, appliedAt=9999), applied(second, 0, 2, warmFrom=90))
        until(lambda: status_of(client, first)["appliedVersion"] == 2, "version 2 by all")
        status = status_of(client, first)
        assert (status["appliedAt"], status["warmFrom"], status["publishedVersion"]) == (1001, 90, 2)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


def test_a_smaller_engine_is_not_waited_for_in_vain(api: RegistryApi, client: httpx.Client) -> None:
    rule = client.post("/v1/rules", json=dict(DEFINITION)).json()
    changed = client.post(f"/v1/rules/{rule['ruleId']}/pause", headers={"If-Match": "*"}).json()
    insert = """
    INSERT INTO registry.rule_status (rule_id, shard, shards, version, position, applied_at, warm_from)
    VALUES (%s, %s, %s, %s, %s, %s, NULL)
    """
    with psycopg.connect(api.dsn) as connection:
        for shard in (1, 2, 3):
            connection.execute(insert, [rule["ruleId"], shard, 4, 1, rule["position"], 1])
        connection.execute(insert, [rule["ruleId"], 0, 1, 2, changed["position"], 5])
    assert status_of(client, rule)["appliedVersion"] == 2


def test_it_begins_again_where_it_was_killed(
    postgres: PostgresServer, api: RegistryApi, client: httpx.Client, status_topic: str, tmp_path: Path
) -> None:
    rules = [client.post("/v1/rules", json=dict(DEFINITION)).json() for _ in range(3)]
    with projector(postgres, api, status_topic, tmp_path / "first.log"):
        say(status_topic, applied(rules[0], 0, 1))
        until(lambda: status_of(client, rules[0])["appliedVersion"] == 1, "the first")
        say(status_topic, applied(rules[1], 0, 1))
    say(status_topic, applied(rules[2], 0, 1))
    with projector(postgres, api, status_topic, tmp_path / "second.log"):
        for rule in rules[1:]:
            until(lambda rule=rule: status_of(client, rule)["appliedVersion"] == 1, "the others")  # type: ignore[misc]


def test_each_word_is_told_without_waiting_for_the_next(
    postgres: PostgresServer,
    api: RegistryApi,
    client: httpx.Client,
    status_topic: str,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    rules = [client.post("/v1/rules", json=dict(DEFINITION)).json() for _ in range(6)]
    with projector(postgres, api, status_topic, tmp_path / "quick.log"):
        say(status_topic, applied(rules[0], 0, 1))
        until(lambda: status_of(client, rules[0])["appliedVersion"] == 1, "it runs")
        taken = []
        for rule in rules[1:]:
            began = time.monotonic()
            say(status_topic, applied(rule, 0, 1))
            until(lambda rule=rule: status_of(client, rule)["appliedVersion"] == 1, "applied")  # type: ignore[misc]
            taken.append(time.monotonic() - began)
    record_property("told", f"applied after {sorted(taken)[len(taken) // 2]:.2f} s")


def _words(api: RegistryApi, rule: dict[str, Any]) -> int:
    return _ask(api, "SELECT count(*) FROM registry.rule_status WHERE rule_id = %s", rule)


def _newest(api: RegistryApi, rule: dict[str, Any]) -> int:
    return _ask(api, "SELECT max(version) FROM registry.rule_status WHERE rule_id = %s", rule)


def _ask(api: RegistryApi, statement: str, rule: dict[str, Any]) -> int:
    with psycopg.connect(api.dsn) as connection:
        (value,) = connection.execute(statement, [rule["ruleId"]]).fetchone() or (0,)
    return int(value or 0)
