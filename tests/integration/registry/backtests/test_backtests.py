"""Backtests over HTTP, on a real Postgres and a real prover's API; what it runs is made up."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from tests.contract.support.in_memory_prover import made_up_backtests
from tests.integration.registry.support.rule_requests import publish
from tests.registry import DEFINITION, RegistryApi, running_api
from tests.servers import PostgresServer
from tests.unit.engine.prover.support.fake_backtest import ALERTS

pytestmark = pytest.mark.integration

SPAN = {"from": 1_777_600_000_000, "to": 1_777_700_000_000}
URL = "/v1/backtests"


@pytest.fixture(scope="module")
def api(
    postgres: PostgresServer, migrated_database: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RegistryApi]:
    folder: Path = tmp_path_factory.mktemp("registry")
    with (
        made_up_backtests(folder) as prover,
        running_api(
            postgres, migrated_database, folder, {**prover, "TRIPLINE_BACKTEST_ALERTS": "1100"}
        ) as running,
    ):
        yield running


def ask(client: httpx.Client, name: str = "sums", **more: Any) -> dict[str, Any]:
    body = {**SPAN, "rule": {**DEFINITION, "name": name}, **more}
    answer = client.post(URL, json=body, params={"reason": "try it first"})
    assert answer.status_code == 202, answer.text
    backtest: dict[str, Any] = answer.json()
    assert answer.headers["Location"] == f"{URL}/{backtest['backtestId']}"
    return backtest


def when(client: httpx.Client, backtest: dict[str, Any], *states: str) -> dict[str, Any]:
    end = time.monotonic() + 120
    while True:
        now: dict[str, Any] = client.get(f"{URL}/{backtest['backtestId']}").raise_for_status().json()
        if now["state"] in states:
            return now
        assert time.monotonic() < end, now
        time.sleep(0.05)


def test_a_draft_from_request_to_alerts(api: RegistryApi, client: httpx.Client) -> None:
    live = publish(client)
    asked = ask(client, beside=live["ruleId"])
    assert (asked["state"], asked["requestedBy"], asked["result"]) == ("queued", "analyst", None)
    done = when(client, asked, "done", "failed")
    assert (done["state"], done["progress"]["percent"], done["attempts"]) == ("done", 100, 1)
    [rule] = done["result"]["rules"]
    assert (rule["triedId"], rule["alerts"], done["result"]["keptAlerts"]) == (1, ALERTS, 1_100)
    assert rule["beside"] == {"ruleId": live["ruleId"], "both": 1_000, "onlyTried": 203, "onlyLive": 12}
    assert [hour["alerts"] for hour in rule["hours"]] == [3, ALERTS - 3]
    assert rule["topGroups"] == [{"group": {"payeeId": "7"}, "alerts": ALERTS}]
    page = client.get(f"{URL}/{asked['backtestId']}/alerts", params={"limit": 100})
    seen = [alert["alertId"] for alert in page.json()["items"]]
    while following := page.links.get("next", {}).get("url"):
        page = client.get(following).raise_for_status()
        seen += [alert["alertId"] for alert in page.json()["items"]]
    assert seen == [f"a{number}" for number in range(1_100)]
    with api.client("auditor-of-role-for-tests") as auditor:
        query = {"kind": "backtest", "subject": str(asked["backtestId"])}
        [entry] = auditor.get("/v1/audit", params=query).json()["items"]
    assert (entry["type"], entry["actor"], entry["reason"]) == (
        "BacktestRequested",
        "analyst",
        "try it first",
    )


def test_a_draft_with_several_limits_is_several_rules_over_one_history(client: httpx.Client) -> None:
    asked = ask(client, limits=["5", "7.5"])
    told = [(rule["triedId"], rule["name"], rule["definition"]["limit"]) for rule in asked["rules"]]
    assert [rule["counted"] for rule in asked["rules"]] == [False, True, True]
    assert told == [
        (1, "sums", DEFINITION["limit"]),
        (2, "sums, limit 5", "5"),
        (3, "sums, limit 7.5", "7.5"),
    ]
    done = when(client, asked, "done")
    assert [rule["triedId"] for rule in done["result"]["rules"]] == [1, 2, 3]


def test_other_windows_stand_beside_other_limits(client: httpx.Client) -> None:
    asked = ask(client, limits=["5"], windows=[90, 7200])
    told = [(rule["name"], rule["definition"]["windowSeconds"]) for rule in asked["rules"]]
    as_written = asked["rules"][0]["definition"]["windowSeconds"]
    assert told == [
        ("sums", as_written), ("sums, limit 5", as_written), ("sums, window 90 s", 90), ("sums, window 2 h", 7200),
    ]  # fmt: skip
    assert {rule["definition"]["limit"] for rule in asked["rules"][2:]} == {DEFINITION["limit"]}
    when(client, asked, "done")


def test_what_is_known_today_is_another_history(client: httpx.Client) -> None:
    then, today = ask(client), ask(client, knowledge="today")
    assert (then["knowledge"], today["knowledge"]) == ("as-it-was", "today")
    assert when(client, then, "done")["result"]["microBatches"] == 3
    done = when(client, today, "done")
    assert (done["knowledge"], done["result"]["microBatches"]) == ("today", 7)


def test_versions_of_rules_and_all_that_are_active(client: httpx.Client) -> None:
    rule = publish(client)
    changed = client.put(
        f"/v1/rules/{rule['ruleId']}", json={**DEFINITION, "limit": "7"}, headers={"If-Match": "*"}
    ).json()
    body = {**SPAN, "rules": [{"ruleId": rule["ruleId"], "version": 1}, {"ruleId": rule["ruleId"]}]}
    asked = client.post(URL, json=body).raise_for_status().json()
    first, second = asked["rules"]
    assert (first["version"], first["definition"]["limit"]) == (1, DEFINITION["limit"])
    assert (second["version"], second["definition"]["limit"]) == (changed["version"], "7")
    assert (first["triedId"], second["triedId"]) == (rule["ruleId"], rule["ruleId"] + 1)
    assert {first["beside"], second["beside"]} == {rule["ruleId"]}
    active = client.post(URL, json={**SPAN, "allActive": True}).raise_for_status().json()
    assert rule["ruleId"] in [tried["ruleId"] for tried in active["rules"]]
    listed = client.get(URL, params={"ruleId": rule["ruleId"], "limit": 1})
    assert [item["backtestId"] for item in listed.json()["items"]] == [active["backtestId"]]
    assert "next" in listed.links
    when(client, active, "done")


def test_one_is_cancelled_and_the_next_has_its_turn(client: httpx.Client) -> None:
    long, waiting, last = ask(client, "never"), ask(client), ask(client)
    running = when(client, long, "running")
    while not running["progress"]["transactions"]:
        running = when(client, long, "running")
    assert (running["progress"]["percent"], running["progress"]["transactions"]) == (25, 500)
    assert client.post(f"{URL}/{waiting['backtestId']}/cancel").json()["state"] == "cancelled"
    assert client.post(f"{URL}/{long['backtestId']}/cancel").json()["state"] == "cancelling"
    when(client, long, "cancelled")
    assert when(client, last, "done")["result"] is not None
    again = client.post(f"{URL}/{long['backtestId']}/cancel")
    assert (again.status_code, again.json()["type"]) == (409, "urn:tripline:problem:illegal-step")


def test_one_that_fails_says_why(client: httpx.Client) -> None:
    failed = when(client, ask(client, "fails"), "failed")
    assert (failed["failure"], failed["result"]) == ("there is no history", None)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"rule": dict(DEFINITION), "from": 5, "to": 5}, "to"),
        ({"rule": dict(DEFINITION), "from": 5, "to": 5 + 93 * 86_400_000}, "to"),
        ({"from": 5, "to": 6}, "rule"),
        ({**SPAN, "rule": dict(DEFINITION), "allActive": True}, "rule"),
        ({**SPAN, "rule": {**DEFINITION, "limit": "x"}}, "rule.limit"),
        ({**SPAN, "rule": {**DEFINITION, "filter": {"field": "payeeId", "in": {"list": "nobody-has-it"}}}},
         "rule.filter.in"),
        ({**SPAN, "allActive": True, "knowledge": "then"}, "knowledge"),
        ({**SPAN, "rules": []}, "rules"),
        ({**SPAN, "rule": dict(DEFINITION), "limits": []}, "limits"),
        ({**SPAN, "rule": dict(DEFINITION), "limits": ["5", "x"]}, "limits.1"),
        ({**SPAN, "rule": {"conditions": {}}, "limits": ["5"]}, "limits"),
        ({**SPAN, "allActive": True, "limits": ["5"]}, "limits"),
        ({**SPAN, "rule": dict(DEFINITION), "windows": [60, 0]}, "windows.1"),
        ({**SPAN, "rule": dict(DEFINITION), "windows": [34_560_001]}, "windows.0"),
        ({**SPAN, "rule": dict(DEFINITION), "windows": 60}, "windows"),
        ({**SPAN, "rule": {"conditions": {}}, "windows": [60]}, "windows"),
        ({**SPAN, "rules": [{"ruleId": 1}], "windows": [60]}, "windows"),
        ({**SPAN, "rules": [{"ruleId": 0}]}, "rules.0.ruleId"),
        ({**SPAN, "rules": [{"ruleId": 1, "versoin": 1}]}, "rules.0.versoin"),
        ({**SPAN, "allActive": False}, "allActive"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(client: httpx.Client, body: dict[str, Any], field: str) -> None:
    answer = client.post(URL, json=body)
    assert answer.status_code == 422, answer.text
    assert field in [error["field"] for error in answer.json()["errors"]]


def test_roles_and_what_is_not_there(api: RegistryApi, client: httpx.Client) -> None:
    with api.client("viewer-key-for-tests") as viewer:
        assert viewer.post(URL, json={**SPAN, "rule": dict(DEFINITION)}).status_code == 403
        assert viewer.get(URL).status_code == 200
    assert client.get(f"{URL}/2000000000").json()["type"] == "urn:tripline:problem:backtest-not-found"
    assert client.get(f"{URL}/2000000000/alerts").status_code == 404
    unknown = client.post(URL, json={**SPAN, "rules": [{"ruleId": 2_000_000_000}]})
    assert unknown.status_code == 404


def test_the_registry_sees_decided_transactions_and_no_alerts(
    api: RegistryApi, postgres: PostgresServer
) -> None:
    with psycopg.connect(postgres.login(api.dsn, "tripline_registry_api"), autocommit=True) as connection:
        rows = connection.execute("SELECT * FROM alerts.decided_transactions('transactionId', 0, 1, 5)")
        assert rows.fetchall() == []
        for table in ("alerts", "cases", "case_events"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"SELECT 1 FROM alerts.{table}")
