"""Estimates of changes on a real Postgres and a real prover's API; what it runs is made up."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from psycopg.rows import dict_row

from rules_registry.adapters.backtests.estimate_store import GRACE_MS, PostgresEstimates
from tests.contract.support.in_memory_prover import made_up_backtests
from tests.registry import DEFINITION, RegistryApi, running_api
from tests.servers import PostgresServer

pytestmark = pytest.mark.integration

DAY_MS = 86_400_000
SPAN = {"from": 1_777_600_000_000, "to": 1_777_700_000_000}
RAISE = """
INSERT INTO alerts.alerts (alert_id, rule_id, rule_version, group_values, event_time, detected_at, amount, content)
SELECT gen_random_uuid(), %s, 1, jsonb_build_object('payeeId', n %% 3), %s + n * 3600000, 0, 1,
       '{"windowStart": 1, "windowEnd": 2}'
  FROM generate_series(-2, 30) n
"""


@pytest.fixture(scope="module")
def api(
    postgres: PostgresServer, migrated_database: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RegistryApi]:
    folder: Path = tmp_path_factory.mktemp("registry")
    with (
        made_up_backtests(folder) as prover,
        running_api(postgres, migrated_database, folder, {**prover, "TRIPLINE_FOUR_EYES": "true"}) as running,
    ):
        yield running


def drafted(client: httpx.Client, name: str, **changes: Any) -> dict[str, Any]:
    answer = client.post("/v1/rules", json={**DEFINITION, "name": name, **changes})
    assert answer.status_code == 202, answer.text
    change: dict[str, Any] = answer.json()
    return change


def when(client: httpx.Client, change: dict[str, Any], *states: str) -> dict[str, Any]:
    """The estimate of the change, once it stands so."""
    end = time.monotonic() + 60
    while True:
        now = client.get(f"/v1/changes/{change['changeId']}").raise_for_status().json()
        estimate: dict[str, Any] = now["estimate"]
        if estimate["state"] in states:
            return estimate
        assert time.monotonic() < end, now
        time.sleep(0.05)


def test_from_draft_to_the_first_day(
    api: RegistryApi, client: httpx.Client, postgres: PostgresServer
) -> None:
    change = drafted(client, "sums")
    done = when(client, change, "done", "failed")
    assert (done["state"], done["note"], done["failure"], done["actual"]) == ("done", None, None, None)
    assert done["sample"]["parts"] == 4
    assert (done["sample"]["grouped"], done["sample"]["transactions"]) == (True, 2_000)
    figures = done["figures"]
    assert figures["alertsPerDay"]["value"] == "60.0"
    assert figures["groupsPerDay"]["value"] == "30.0"
    for figure in figures.values():
        assert float(figure["low"]) < float(figure["value"]) < float(figure["high"])
    listed = client.get("/v1/changes", params={"limit": 1}).json()["items"]
    assert [item["estimate"] for item in listed] == [done]

    submitted = client.post(f"/v1/changes/{change['changeId']}/submit").raise_for_status().json()
    with api.client("approver-of-role-for-tests") as approver:
        body = {"contentHash": submitted["contentHash"]}
        approved = (
            approver.post(f"/v1/changes/{change['changeId']}/approve", json=body).raise_for_status().json()
        )
    rule = client.get(f"/v1/rules/{change['ruleId']}").raise_for_status().json()
    since = rule["effectiveFrom"]
    with psycopg.connect(api.dsn, autocommit=True) as owner:
        owner.execute(RAISE, [rule["ruleId"], since])
    login = postgres.login(api.dsn, "tripline_registry_api")
    with psycopg.connect(login, row_factory=dict_row, autocommit=True) as connection:
        rows = PostgresEstimates(connection)
        assert rows.keep_actual(since + DAY_MS + GRACE_MS - 1) == 0, "the day is not over"
        # it begins when the event was written, milliseconds after what the event says at most
        assert rows.keep_actual(since + DAY_MS + GRACE_MS + 60_000) == 1
        assert rows.keep_actual(since + 2 * DAY_MS) == 0, "it is looked at once"
    after = client.get(f"/v1/changes/{change['changeId']}").json()
    assert after["decidedAt"] == approved["decidedAt"]
    actual = after["estimate"]["actual"]
    assert 0 <= actual["from"] - since < 60_000
    assert (actual["to"] - actual["from"], actual["alerts"], actual["groups"]) == (DAY_MS, 24, 3)


def test_a_rule_that_was_changed_again_is_compared_until_then(
    api: RegistryApi, client: httpx.Client, postgres: PostgresServer
) -> None:
    change = drafted(client, "short-lived")
    when(client, change, "done")
    submitted = client.post(f"/v1/changes/{change['changeId']}/submit").raise_for_status().json()
    with api.client("approver-of-role-for-tests") as approver:
        body = {"contentHash": submitted["contentHash"]}
        approver.post(f"/v1/changes/{change['changeId']}/approve", json=body).raise_for_status()
    paused = {"breakGlass": "true", "reason": "it floods"}
    path = f"/v1/rules/{change['ruleId']}"
    client.post(f"{path}/pause", params=paused, headers={"If-Match": "*"}).raise_for_status()
    at_once = client.get(path).raise_for_status().json()["changedAt"]
    login = postgres.login(api.dsn, "tripline_registry_api")
    with psycopg.connect(login, row_factory=dict_row, autocommit=True) as connection:
        assert PostgresEstimates(connection).keep_actual(at_once + GRACE_MS) == 1
    actual = when(client, change, "done")["actual"]
    assert actual["to"] == at_once
    assert (actual["alerts"], actual["groups"]) == (0, 0)


def test_an_edit_has_its_own_and_users_go_first(client: httpx.Client) -> None:
    change = drafted(client, "never", limit="7")
    when(client, change, "running")
    asked = client.post("/v1/backtests", json={**SPAN, "rule": {**DEFINITION, "name": "sums"}})
    backtest = f"/v1/backtests/{asked.raise_for_status().json()['backtestId']}"
    end = time.monotonic() + 60
    while (now := client.get(backtest).raise_for_status().json())["state"] != "done":
        assert now["state"] in ("queued", "running"), now
        assert time.monotonic() < end, now
        time.sleep(0.05)
    assert when(client, change, "running")["note"] is None
    edited = client.put(
        f"/v1/changes/{change['changeId']}",
        json={**DEFINITION, "name": "fails"},
        headers={"If-Match": '"1"'},
    )
    assert edited.raise_for_status().json()["revision"] == 2
    failed = when(client, change, "failed")
    assert (failed["failure"], failed["figures"]) == ("there is no history", None)
    client.post(f"/v1/changes/{change['changeId']}/withdraw").raise_for_status()


def test_what_publishes_no_rule_has_none_and_what_was_given_up_gets_none(client: httpx.Client) -> None:
    parameter = client.put("/v1/parameters/estimated", json={"value": "5"}).json()
    assert client.get(f"/v1/changes/{parameter['changeId']}").json()["estimate"] is None
    change = drafted(client, "never", limit="8")
    when(client, change, "running")
    client.post(f"/v1/changes/{change['changeId']}/withdraw").raise_for_status()
    gone = when(client, change, "unavailable")
    assert "before the change was decided on" in gone["note"]


def test_the_registry_counts_alerts_and_sees_none(api: RegistryApi, postgres: PostgresServer) -> None:
    with psycopg.connect(postgres.login(api.dsn, "tripline_registry_api"), autocommit=True) as connection:
        rows = connection.execute("SELECT * FROM alerts.figures_of_rule(2000000000, 0, 1)")
        assert rows.fetchall() == [(0, 0)]
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("SELECT 1 FROM alerts.alerts")
