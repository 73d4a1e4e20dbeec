"""The registry's API on a real Postgres: versions of rules, settings, pages, scopes."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.integration.registry.support.rule_requests import publish
from tests.registry import DEFINITION, RegistryApi

pytestmark = pytest.mark.integration


ARTICLE_RULE = {
    "ruleId": 1,
    "ruleState": "ACTIVE",
    "groupingKeyNames": ["payeeId", "beneficiaryId"],
    "unique": [],
    "aggregateFieldName": "paymentAmount",
    "aggregatorFunctionType": "SUM",
    "limitOperatorType": "GREATER",
    "limit": 20000000,
    "windowMinutes": "43200",
}


def test_a_rule_lives_through_its_versions(client: httpx.Client) -> None:
    rule = publish(client)
    path = f"/v1/rules/{rule['ruleId']}"
    paused = client.post(f"{path}/pause", headers={"If-Match": '"1"'})
    changed = client.put(
        path, headers={"If-Match": '"2"'}, json={**DEFINITION, "windowSeconds": 60, "name": "x"}
    )
    resumed = client.post(f"{path}/resume", headers={"If-Match": '"3"'})
    assert (paused.json()["state"], paused.headers["ETag"]) == ("PAUSED", '"2"')
    # A new definition leaves a paused rule paused.
    assert (changed.json()["state"], changed.json()["definitionVersion"]) == ("PAUSED", 3)
    assert (resumed.json()["state"], resumed.json()["definitionVersion"]) == ("ACTIVE", 3)
    assert client.get(path).json() == resumed.json()
    versions = client.get(f"{path}/versions").json()["items"]
    assert [version["type"] for version in versions] == [
        "RulePublished",
        "RulePaused",
        "RulePublished",
        "RuleResumed",
    ]
    assert client.get(f"{path}/versions/1").json()["definition"]["windowSeconds"] == 1200
    deleted = client.delete(path, headers={"If-Match": '"4"'})
    assert (deleted.json()["state"], deleted.json()["version"]) == ("DELETED", 5)
    gone = client.get(path)
    assert (gone.status_code, gone.json()["type"]) == (404, "urn:tripline:problem:rule-deleted")
    history = client.get("/v1/rule-events", params={"ruleId": rule["ruleId"]}).json()["items"]
    assert [event["version"] for event in history] == [1, 2, 3, 4, 5]
    listed = client.get("/v1/rules", params={"state": "DELETED", "limit": 100}).json()["items"]
    assert rule["ruleId"] in [entry["ruleId"] for entry in listed]


def test_versions_say_why_and_are_read_from_the_newest_back(client: httpx.Client) -> None:
    path = f"/v1/rules/{publish(client)['ruleId']}"
    for step, reason in (("pause", "it floods"), ("resume", None), ("pause", "once more")):
        client.post(f"{path}/{step}", headers={"If-Match": "*"}, params={"reason": reason} if reason else {})
    seen: list[tuple[int, str | None]] = []
    address: str | None = f"{path}/versions?order=newest&limit=3"
    while address is not None:
        page = client.get(address)
        seen += [(version["version"], version["reason"]) for version in page.json()["items"]]
        address = page.links.get("next", {}).get("url")
    assert seen == [(4, "once more"), (3, None), (2, "it floods"), (1, None)]
    assert client.get(f"{path}/versions/2").json()["reason"] == "it floods"
    oldest = client.get(f"{path}/versions", params={"limit": 3}).links["next"]["url"]
    turned = client.get(oldest, params={**httpx.URL(oldest).params, "order": "newest"})
    assert turned.status_code == 400, "a cursor is of one order"


def test_the_rule_of_the_articles_is_accepted_as_it_stands(client: httpx.Client) -> None:
    answer = client.post("/v1/rules", json=ARTICLE_RULE)
    assert answer.status_code == 201, answer.text
    definition = answer.json()["definition"]
    assert (definition["limit"], definition["limitOperatorType"], definition["windowSeconds"]) == (
        "20000000",
        ">",
        2_592_000,
    )


def test_widest_windows_shrink_when_their_rule_goes(client: httpx.Client) -> None:
    grouping = ["paymentType"]
    publish(client, groupingKeyNames=grouping, windowSeconds=100)
    wide = publish(client, groupingKeyNames=grouping, windowSeconds=900)

    def widest() -> list[tuple[int, int]]:
        items = client.get("/v1/widest-windows").json()["items"]
        return [(i["windowSeconds"], i["ruleId"]) for i in items if i["groupingKeyNames"] == grouping]

    assert widest() == [(900, wide["ruleId"])]
    client.post(f"/v1/rules/{wide['ruleId']}/pause", headers={"If-Match": "*"})
    assert widest() == [(900, wide["ruleId"])], "a paused rule keeps its history"
    client.delete(f"/v1/rules/{wide['ruleId']}", headers={"If-Match": "*"})
    assert [window for window, _ in widest()] == [100]


def test_settings_are_events_with_versions(client: httpx.Client) -> None:
    before = client.get("/v1/settings")
    body = {**before.json(), "maxDisorderSeconds": 120}
    changed = client.put("/v1/settings", json=body, headers={"If-Match": before.headers["ETag"]})
    assert changed.status_code == 200
    assert (
        client.put("/v1/settings", json=body, headers={"If-Match": before.headers["ETag"]}).status_code == 412
    )
    same = client.put("/v1/settings", json=body, headers={"If-Match": changed.headers["ETag"]})
    assert same.headers["ETag"] == changed.headers["ETag"], "the same settings again are no event"
    with_text = {**body, "maxDisorderSeconds": "120"}
    assert client.put("/v1/settings", json=with_text, headers={"If-Match": "*"}).status_code == 422
    settings, last = list[dict[str, Any]](), 0
    while events := client.get("/v1/rule-events", params={"after": last, "limit": 100}).json()["items"]:
        settings += [event for event in events if event["type"] == "SettingsChanged"]
        last = events[-1]["position"]
    assert settings[-1]["settings"] == body
    assert "ruleId" not in settings[-1]


def test_pages_follow_their_links(client: httpx.Client) -> None:
    for number in range(5):
        publish(client, name=f"paged {number}")
    names, url = [], "/v1/rules?name=PAGED&limit=2"
    while url:
        page = client.get(url)
        names += [rule["name"] for rule in page.json()["items"]]
        url = page.links["next"]["url"] if "next" in page.links else ""
    assert names == [f"paged {number}" for number in range(5)]
    first = client.get("/v1/rules?name=PAGED&limit=2").links["next"]["url"]
    assert client.get(first.replace("PAGED", "other")).status_code == 400, "a cursor belongs to its filters"
    assert client.get("/v1/rules?cursor=garbage").status_code == 400


def test_scopes_are_held(api: RegistryApi) -> None:
    with api.client("viewer-key-for-tests") as viewer, api.client("unknown") as stranger:
        assert viewer.get("/v1/rules").status_code == 200
        refused = viewer.post("/v1/rules", json=dict(DEFINITION))
        assert refused.status_code == 403
        assert "insufficient_scope" in refused.headers["WWW-Authenticate"]
        assert stranger.get("/v1/rules").status_code == 401


def test_what_get_answers_can_be_changed_and_sent_back(client: httpx.Client) -> None:
    path = f"/v1/rules/{publish(client)['ruleId']}"
    first = client.get(path)
    rule = first.json()
    rule["definition"]["limit"] = "2000"
    changed = client.put(
        path, json={**rule, "name": "Sent back"}, headers={"If-Match": first.headers["ETag"]}
    )
    assert changed.status_code == 200, changed.text
    now = changed.json()
    del now["warnings"]
    assert (now["name"], now["definition"], now["effectiveFrom"]) == (
        "Sent back",
        rule["definition"],
        rule["effectiveFrom"],
    )
    assert client.get(path).json() == now
    stale = client.put(path, json=rule, headers={"If-Match": first.headers["ETag"]})
    assert stale.status_code == 412, "whoever has not seen the newest version is told that first"
    refused = client.put(path, json=rule, headers={"If-Match": "*"})
    assert refused.status_code == 422
    told = {error["field"]: error["message"] for error in refused.json()["errors"]}
    assert told["version"] == "cannot be changed: it came as 1 and is 2"
    assert set(told) == {"version", "definitionVersion", "definitionHash", "position", "changedAt"}
    gone = client.put("/v1/rules/2000000000", json=rule, headers={"If-Match": "*"})
    assert gone.status_code == 404
