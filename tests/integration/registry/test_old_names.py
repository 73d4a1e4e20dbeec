"""Rules that got their names before names were checked: read, paused and changed as ever, and replayed by engines."""

from __future__ import annotations

from typing import Any

import httpx
import psycopg
import pytest

from tests.registry import DEFINITION, RegistryApi
from tripline_contracts import schemas

pytestmark = pytest.mark.integration

OLD = "\u202egnp.exe\r\nsecond line\u200b"


@pytest.fixture
def old_rule(api: RegistryApi, client: httpx.Client) -> dict[str, Any]:
    """A rule of that name, in the projection and in the log, which nobody but the superuser can change."""
    published = client.post("/v1/rules", json=DEFINITION).json()
    with psycopg.connect(api.dsn) as connection:
        connection.execute("ALTER TABLE registry.rule_events DISABLE TRIGGER USER")
        connection.execute(
            "UPDATE registry.rule_events SET body = jsonb_set(body, '{name}', to_jsonb(%s::text)) WHERE rule_id = %s",
            [OLD, published["ruleId"]],
        )
        connection.execute(
            "UPDATE registry.rules SET name = %s WHERE rule_id = %s", [OLD, published["ruleId"]]
        )
        connection.execute("ALTER TABLE registry.rule_events ENABLE TRIGGER USER")
    return {**published, "name": OLD}


def test_it_is_read_and_changed_under_its_name(client: httpx.Client, old_rule: dict[str, Any]) -> None:
    address = f"/v1/rules/{old_rule['ruleId']}"
    assert client.get(address).json()["name"] == OLD
    paused = client.post(f"{address}/pause", headers={"If-Match": "*"})
    assert (paused.status_code, paused.json()["name"]) == (200, OLD)
    nameless = {name: value for name, value in DEFINITION.items() if name != "name"}
    changed = client.put(address, json={**nameless, "limit": "7"}, headers={"If-Match": "*"})
    assert (changed.status_code, changed.json()["name"]) == (200, OLD)
    refused = client.put(address, json={**DEFINITION, "name": OLD}, headers={"If-Match": "*"})
    assert [error["field"] for error in refused.json()["errors"]] == ["name"]
    validate = schemas.validator("rules.v1")
    events = client.get("/v1/rule-events", params={"ruleId": old_rule["ruleId"]}).json()["items"]
    assert [event["name"] for event in events] == [OLD] * 3
    for event in events:
        validate(event)
