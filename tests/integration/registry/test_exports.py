"""EXPORT_RULES_CURRENT: what shards say they hold, through a real Kafka, beside what the registry has published."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.integration.registry.support.relay_process import until
from tests.integration.registry.support.status_projector_process import projector, say
from tests.registry import DEFINITION, RegistryApi
from tests.servers import PostgresServer
from tripline_contracts import schemas, topics
from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_demo import topics as embedded_topics

pytestmark = [pytest.mark.integration, pytest.mark.slow]


def export(command: dict[str, Any], shard: int, rules: list[dict[str, Any]]) -> dict[str, Any]:
    record = {
        "kind": "export",
        "commandId": command["commandId"],
        "position": command["position"],
        "shard": shard,
        "shards": 2,
        "exportedAt": command["occurredAt"] + 5,
        "rules": [
            {name: rule[name] for name in ("ruleId", "version", "definitionHash", "state")} for rule in rules
        ],
    }
    schemas.validator("rule-status.v1")(record)
    return record


def test_each_shard_s_rules_beside_the_registry_s(
    postgres: PostgresServer, api: RegistryApi, client: httpx.Client, kafka: str, tmp_path: Path
) -> None:
    embedded_topics.create(KafkaCluster(kafka), [topics.load("rule-status.v1")])
    kept, gone, paused = (client.post("/v1/rules", json=dict(DEFINITION)).json() for _ in range(3))
    client.delete(f"/v1/rules/{gone['ruleId']}", headers={"If-Match": "*"}).raise_for_status()
    now_paused = client.post(f"/v1/rules/{paused['ruleId']}/pause", headers={"If-Match": "*"}).json()
    issued = client.post("/v1/control-commands", json={"command": "EXPORT_RULES_CURRENT"})
    command, path = issued.json(), issued.headers["Location"]
    assert command["export"] == {"shards": None, "complete": False, "equal": None, "answers": []}
    # What is published behind the command is not what was asked for.
    client.post("/v1/rules", json=dict(DEFINITION)).raise_for_status()

    def answers() -> list[dict[str, Any]]:
        answers: list[dict[str, Any]] = client.get(path).json()["export"]["answers"]
        return answers

    with projector(postgres, api, kafka, tmp_path / "projector.log"):
        say(kafka, b"{", export(command, 0, [kept, now_paused]))
        until(lambda: len(answers()) == 1, "the first shard's answer")
        seen = client.get(path).json()["export"]
        assert (seen["shards"], seen["complete"], seen["equal"]) == (2, False, None)
        assert seen["answers"][0]["equal"] is True
        assert [rule["ruleId"] for rule in seen["answers"][0]["rules"]] == [kept["ruleId"], paused["ruleId"]]
        say(kafka, export(command, 1, [gone, paused]))
        until(lambda: len(answers()) == 2, "the other's")
        seen = client.get(path).json()["export"]
        assert (seen["complete"], seen["equal"]) == (True, False)
        other = seen["answers"][1]
        assert (other["shard"], other["equal"]) == (1, False)
        assert (other["missing"], other["unexpected"], other["different"]) == (
            [kept["ruleId"]],
            [gone["ruleId"]],
            [paused["ruleId"]],
        )
        # After a crash a shard takes the command again, and says the same or better.
        say(kafka, {**export(command, 1, [kept, now_paused]), "exportedAt": command["occurredAt"] + 9})
        until(lambda: client.get(path).json()["export"]["equal"] is True, "both agree with the registry")
