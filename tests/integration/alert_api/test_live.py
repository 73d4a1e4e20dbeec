"""The API as it runs: over HTTP, on a real database, beside a real registry."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from alert_api.api.stream_seats import MAX_PER_ACTOR
from alert_api.service.alert_stream import StreamTiming
from tests.integration.alert_api.conftest import AlertsDatabase
from tests.integration.alert_api.support.api_process import LiveApi, live_api, seed
from tests.integration.alert_api.support.servers import eventually
from tests.registry import DEFINITION, RegistryApi, running_api
from tests.servers import PostgresServer
from tests.unit.alert_api.support.samples import EPOCH, alert, alert_id

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def registry(
    postgres: PostgresServer, migrated_database: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RegistryApi]:
    """On a database of its own: that of the alerts has a log that no registry wrote."""
    with running_api(postgres, migrated_database, tmp_path_factory.mktemp("registry")) as running:
        yield running


@pytest.fixture(scope="module")
def api(
    module_database: AlertsDatabase, registry: RegistryApi, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LiveApi]:
    with live_api(module_database.api, tmp_path_factory.mktemp("alert-api"), registry.url) as running:
        yield running


def test_an_alert_is_found_acknowledged_and_told_about(alerts_database: AlertsDatabase, api: LiveApi) -> None:
    seed(alerts_database.projector, [alert(1), alert(2, group={"paymentType": "CSH"}), alert(3)])
    with api.client() as ada, api.client("bob-key-for-tests") as bob:
        items = ada.get("/v1/alerts", params={"group": "paymentType:CSH"}).json()["items"]
        assert [item["alertId"] for item in items] == [alert_id(2)]
        address = f"/v1/alerts/{alert_id(2)}"
        done = ada.post(f"{address}/acknowledge", json={"comment": "called the payer"})
        assert (done.status_code, done.json()["state"], done.json()["acknowledgedBy"]) == (
            200,
            "acknowledged",
            "ada",
        )
        again = ada.post(f"{address}/acknowledge", json={"comment": "something else"})
        assert (again.status_code, again.json()) == (200, done.json())
        late = bob.post(f"{address}/acknowledge")
        assert (late.status_code, late.json()["acknowledgedBy"]) == (409, "ada")
        events = bob.get(f"{address}/events").json()["items"]
        assert [(event["type"], event["actor"], event["comment"]) for event in events] == [
            ("AlertRaised", None, None),
            ("AlertAcknowledged", "ada", "called the payer"),
        ]
        assert [item["alertId"] for item in bob.get("/v1/alerts?state=open").json()["items"]] == [
            alert_id(3),
            alert_id(1),
        ]


def test_of_two_people_at_once_one_gets_the_alert(alerts_database: AlertsDatabase, api: LiveApi) -> None:
    numbers = range(10, 30)
    seed(alerts_database.projector, [alert(number) for number in numbers])
    with api.client() as ada, api.client("bob-key-for-tests") as bob, ThreadPoolExecutor(8) as pool:
        attempts = [
            (number, pool.submit(person.post, f"/v1/alerts/{alert_id(number)}/acknowledge"))
            for number in numbers
            for person in (ada, bob)
        ]
        answers = [(number, attempt.result()) for number, attempt in attempts]
        for number in numbers:
            of_this = [answer for which, answer in answers if which == number]
            assert sorted(answer.status_code for answer in of_this) == [200, 409]
            assert len({answer.json()["acknowledgedBy"] for answer in of_this}) == 1


def test_links_lead_through_all_pages(alerts_database: AlertsDatabase, api: LiveApi) -> None:
    seed(alerts_database.projector, [alert(number) for number in range(100, 125)])
    listed: list[str] = []
    with api.client("viewer-key-for-tests") as viewer:
        address = "/v1/alerts?limit=10&state=open"
        while address:
            page = viewer.get(address)
            listed += [item["alertId"] for item in page.json()["items"]]
            address = page.links.get("next", {}).get("url", "")
    assert listed == [alert_id(number) for number in range(124, 99, -1)]


def test_the_console_reads_the_registry_through_this_service(api: LiveApi, registry: RegistryApi) -> None:
    with registry.client() as analyst:
        published = analyst.post("/v1/rules", json=dict(DEFINITION)).raise_for_status().json()
    with api.client("analyst-key-for-tests") as browser:
        rules = browser.get("/console/registry/rules?limit=100")
        statuses = browser.get("/console/registry/rule-status?limit=100")
    assert published["ruleId"] in [rule["ruleId"] for rule in rules.json()["items"]]
    # What the console's scripts read of a rule and of its status.
    rule = rules.json()["items"][0]
    assert {"ruleId", "version", "state", "name", "definition"} <= rule.keys()
    assert {"groupingKeyNames", "aggregatorFunctionType", "aggregateFieldName", "windowSeconds"} <= rule[
        "definition"
    ].keys()
    status = statuses.json()["items"][0]
    assert {"ruleId", "appliedVersion", "appliedAt", "warmFrom"} <= status.keys()
    with api.client("no-such-key") as stranger:
        assert stranger.get("/console/registry/rules").status_code == 401


def test_a_registry_that_is_away_leaves_the_alerts_alone(
    alerts_database: AlertsDatabase, tmp_path: Path
) -> None:
    with live_api(alerts_database.api, tmp_path) as alone, alone.client() as client:
        answer = client.get("/console/registry/rules")
        assert (answer.status_code, answer.headers["Content-Type"]) == (503, "application/problem+json")
        assert client.get("/v1/alerts").status_code == 200
        assert httpx.get(f"{alone.url}/").status_code == 200


def hear(client: httpx.Client, number: int, last: str | None = None) -> list[tuple[str, str, str]]:
    """(event, alert id, message id) of the first messages of the stream after `last`."""
    headers = {} if last is None else {"Last-Event-ID": last}
    changes: list[tuple[str, str, str]] = []
    with client.stream("GET", "/v1/alerts/stream", headers=headers) as response:
        assert response.status_code == 200, response.read()
        fields: dict[str, str] = {}
        for line in response.iter_lines():
            name, _, value = line.partition(": ")
            if line:
                fields[name] = value
                continue
            if "event" in fields:
                changes.append((fields["event"], json.loads(fields["data"])["alertId"], fields["id"]))
            if len(changes) == number:
                break
            fields = {}
    return changes


def test_the_stream_tells_what_happens_and_goes_on_where_it_stopped(
    alerts_database: AlertsDatabase, api: LiveApi
) -> None:
    seed(alerts_database.projector, [alert(1)])
    with api.client() as ada, api.client("viewer-key-for-tests") as reader:
        # Two places from the past, to begin at: nothing depends on who is quicker.
        [first] = hear(reader, 1, "1-0")
        assert first[:2] == ("AlertRaised", alert_id(1))
        seed(alerts_database.projector, [alert(2)])
        ada.post(f"/v1/alerts/{alert_id(1)}/acknowledge").raise_for_status()
        after = hear(reader, 2, first[2])
        assert [change[:2] for change in after] == [
            ("AlertRaised", alert_id(2)),
            ("AlertAcknowledged", alert_id(1)),
        ]
        assert hear(reader, 1, after[0][2]) == after[1:]


def test_alerts_are_counted_by_rule_state_and_hour(alerts_database: AlertsDatabase, api: LiveApi) -> None:
    seed(alerts_database.projector, [alert(number) for number in (1, 2, 3)])
    with api.client() as ada:
        ada.post(f"/v1/alerts/{alert_id(1)}/acknowledge").raise_for_status()
        summary = ada.get("/v1/alerts/summary", params={"from": EPOCH, "to": EPOCH + 3}).json()
    assert summary["byState"] == {"open": 2, "acknowledged": 1}
    assert summary["byRule"] == [{"ruleId": 1, "ruleName": "Large sums", "open": 2, "acknowledged": 1}]


def test_who_leaves_gives_the_seat_back_at_once(api: LiveApi) -> None:
    def is_seated(client: httpx.Client) -> bool:
        with client.stream("GET", "/v1/alerts/stream") as response:
            return response.status_code == 200

    with api.client("viewer-key-for-tests") as reader:
        # By its next message alone a stream would notice after its silence: then so many seats take twice as long.
        begun = time.monotonic()
        for _ in range(40):
            eventually(lambda: is_seated(reader), "a seat")
        assert time.monotonic() - begun < 40 / MAX_PER_ACTOR * StreamTiming().silence / 2
