"""Control commands, differences and times of effect over HTTP, on a real Postgres."""

from __future__ import annotations

import time
import uuid
from typing import Any

import httpx
import pytest

from tests.integration.registry.support.rule_requests import publish
from tests.registry import DEFINITION, RegistryApi
from tripline_contracts import schemas

pytestmark = pytest.mark.integration


def issue(client: httpx.Client, command: str, /, *, headers: Any = None, **more: object) -> dict[str, Any]:
    answer = client.post("/v1/control-commands", json={"command": command, **more}, headers=headers)
    assert answer.status_code == 201, answer.text
    issued: dict[str, Any] = answer.json()
    assert client.get(answer.headers["Location"]).json() == issued
    return issued


def events_after(client: httpx.Client, position: int) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = client.get("/v1/rule-events", params={"after": position}).json()["items"]
    for item in items:
        schemas.validator("rules.v1")(item)
    return items


def test_a_command_takes_its_place_in_the_log(client: httpx.Client) -> None:
    before = publish(client)
    commands = ["CLEAR_STATE_ALL", "CLEAR_STATE_ALL_STOP", "EXPORT_RULES_CURRENT"]
    issued = [issue(client, command) for command in commands]
    events = events_after(client, before["position"])
    assert [(event["type"], event["command"], event["commandId"]) for event in events] == [
        ("ControlCommand", command, taken["commandId"])
        for command, taken in zip(commands, issued, strict=True)
    ]
    assert [event["position"] for event in events] == [before["position"] + n for n in (1, 2, 3)]
    assert issued[1]["effect"].startswith("Nothing changes")
    assert issued[0]["export"] is None
    assert client.get(f"/v1/rules/{before['ruleId']}").json() == before
    listed = client.get("/v1/control-commands?limit=2")
    assert [item["commandId"] for item in listed.json()["items"]] == [
        taken["commandId"] for taken in issued[:0:-1]
    ]
    more = client.get(listed.links["next"]["url"]).json()["items"]
    assert more[0]["commandId"] == issued[0]["commandId"]


def test_settings_and_commands_do_not_mix_their_versions(client: httpx.Client) -> None:
    before = client.get("/v1/settings")
    issue(client, "CLEAR_STATE_ALL")
    issue(client, "CLEAR_STATE_ALL")
    assert client.get("/v1/settings").headers["ETag"] == before.headers["ETag"]
    body = {**before.json(), "maxDisorderSeconds": before.json()["maxDisorderSeconds"] + 1}
    changed = client.put("/v1/settings", json=body, headers={"If-Match": before.headers["ETag"]})
    assert changed.status_code == 200
    assert client.get("/v1/settings").json() == body


def test_delete_all_retires_every_rule_and_says_how_many(client: httpx.Client) -> None:
    rules = [publish(client), publish(client, groupingKeyNames=["paymentType"])]
    client.post(f"/v1/rules/{rules[0]['ruleId']}/pause", headers={"If-Match": "*"}).raise_for_status()
    left = []
    page = client.get("/v1/rules?limit=100")
    left += [rule["ruleId"] for rule in page.json()["items"]]
    issued = issue(client, "DELETE_RULES_ALL")
    assert issued["deletedRules"] == len(left)
    assert client.get("/v1/rules").json()["items"] == []
    assert client.get("/v1/widest-windows").json() == {"position": issued["lastPosition"], "items": []}
    following = events_after(client, issued["position"])
    assert [(event["type"], event["ruleId"]) for event in following] == [("RuleDeleted", id_) for id_ in left]
    assert following[-1]["position"] == issued["lastPosition"]
    assert publish(client)["ruleId"] > max(left)


def test_a_repeated_command_happens_once(client: httpx.Client) -> None:
    headers = {"Idempotency-Key": uuid.uuid4().hex}
    issued = [issue(client, "CLEAR_STATE_ALL", headers=headers) for _ in range(2)]
    assert issued[0] == issued[1]
    other = client.post("/v1/control-commands", json={"command": "DELETE_RULES_ALL"}, headers=headers)
    assert other.status_code == 422


def test_who_may_command(api: RegistryApi) -> None:
    with api.client("second-key-for-tests") as second:
        refused = second.post("/v1/control-commands", json={"command": "CLEAR_STATE_ALL"})
    assert (refused.status_code, "controls:write" in refused.json()["detail"]) == (403, True)


def test_a_rule_is_traced_for_a_while(client: httpx.Client) -> None:
    rule = publish(client)
    issued = [issue(client, "TRACE_RULE", ruleId=rule["ruleId"])]
    issued.append(issue(client, "TRACE_RULE", ruleId=rule["ruleId"], seconds=3600))
    assert [(command["ruleId"], command["deletedRules"], command["export"]) for command in issued] == [
        (rule["ruleId"], 0, None)
    ] * 2
    assert [command["traceUntil"] - command["occurredAt"] for command in issued] == [300_000, 3_600_000]
    assert "rule-traces.v1" in issued[0]["effect"]
    events = events_after(client, rule["position"])
    assert [(event["command"], event["ruleId"], event["traceUntil"]) for event in events] == [
        ("TRACE_RULE", rule["ruleId"], command["traceUntil"]) for command in issued
    ]
    listed = client.get("/v1/control-commands?limit=2").json()["items"]
    assert [item["traceUntil"] for item in listed] == [command["traceUntil"] for command in reversed(issued)]
    assert client.get(f"/v1/rules/{rule['ruleId']}").json() == rule
    clear = issue(client, "CLEAR_STATE_ALL")
    assert (clear["ruleId"], clear["traceUntil"]) == (None, None)


def test_a_rule_that_is_not_there_is_not_traced(client: httpx.Client) -> None:
    deleted = publish(client)
    path = f"/v1/rules/{deleted['ruleId']}"
    client.delete(path, headers={"If-Match": "*"}).raise_for_status()
    for rule_id, kind in ((deleted["ruleId"], "rule-deleted"), (2_000_000_000, "rule-not-found")):
        refused = client.post("/v1/control-commands", json={"command": "TRACE_RULE", "ruleId": rule_id})
        assert (refused.status_code, refused.headers["Content-Type"]) == (404, "application/problem+json")
        problem = refused.json()
        assert problem["type"] == f"urn:tripline:problem:{kind}"
        assert [error["field"] for error in problem["errors"]] == ["ruleId"]
        assert str(rule_id) in problem["detail"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "command"),
        ({"command": "RESTART"}, "command"),
        ({"command": None}, "command"),
        ({"command": ["TRACE_RULE"]}, "command"),
        ({"command": "CLEAR_STATE_ALL", "x": 1}, "x"),
        ({"command": "CLEAR_STATE_ALL", "ruleId": 1}, "ruleId"),
        ({"command": "CLEAR_STATE_ALL", "seconds": 300}, "seconds"),
        ({"command": "TRACE_RULE"}, "ruleId"),
        ({"command": "TRACE_RULE", "ruleId": "1"}, "ruleId"),
        ({"command": "TRACE_RULE", "ruleId": 0}, "ruleId"),
        ({"command": "TRACE_RULE", "ruleId": 1, "seconds": 0}, "seconds"),
        ({"command": "TRACE_RULE", "ruleId": 1, "seconds": 3601}, "seconds"),
        ({"command": "TRACE_RULE", "ruleId": 1, "seconds": None}, "seconds"),
        ({"command": "TRACE_RULE", "ruleId": 1, "traceUntil": 5}, "traceUntil"),
    ],
)
def test_what_is_wrong_with_a_command_is_named(client: httpx.Client, body: object, field: str) -> None:
    answer = client.post("/v1/control-commands", json=body)
    assert (answer.status_code, answer.headers["Content-Type"]) == (422, "application/problem+json")
    assert [error["field"] for error in answer.json()["errors"]] == [field]


@pytest.mark.parametrize("body", [[], "TRACE_RULE"])
def test_what_is_no_command(client: httpx.Client, body: object) -> None:
    answer = client.post("/v1/control-commands", json=body)
    assert (answer.status_code, answer.headers["Content-Type"]) == (422, "application/problem+json")


def test_a_command_that_there_is_not(client: httpx.Client) -> None:
    missing = client.get(f"/v1/control-commands/{uuid.uuid4()}")
    assert (missing.status_code, missing.json()["type"]) == (404, "urn:tripline:problem:command-not-found")
    assert client.get("/v1/control-commands/5").status_code == 404


def test_what_is_different_between_versions(client: httpx.Client) -> None:
    rule = publish(client)
    path = f"/v1/rules/{rule['ruleId']}"
    wider = {**DEFINITION, "windowSeconds": 60, "limit": "5", "name": "Other", "effectiveFrom": 1000}
    client.put(path, json=wider, headers={"If-Match": "*"}).raise_for_status()
    client.post(f"{path}/pause", headers={"If-Match": "*"}).raise_for_status()

    def changes(before: int, after: int) -> dict[str, tuple[object, object]]:
        diff = client.get(f"{path}/diff", params={"from": before, "to": after}).raise_for_status().json()
        return {change["field"]: (change["before"], change["after"]) for change in diff["changes"]}

    assert changes(1, 2) == {
        "name": (rule["name"], "Other"),
        "effectiveFrom": (rule["effectiveFrom"], 1000),
        "definition.limit": ("1000.01", "5"),
        "definition.windowSeconds": (1200, 60),
    }
    assert changes(2, 3) == {"state": ("ACTIVE", "PAUSED")}
    assert changes(3, 3) == {}
    words = client.get(f"{path}/diff", params={"from": 1, "to": 3}).raise_for_status().json()["summary"]
    assert words == (
        f'limit 1000.01 → 5; window 20 → 1 min; name "{rule["name"]}" → "Other"; state ACTIVE → PAUSED; '
        "effective from 1970-01-01T00:00:01Z"
    )
    assert client.get(f"{path}/diff", params={"from": 2, "to": 2}).json()["summary"] == "no difference"
    assert client.get(f"{path}/diff", params={"from": 1, "to": 9}).status_code == 404
    assert client.get(f"{path}/diff", params={"from": 1}).status_code == 422


def test_a_definition_may_have_an_end(client: httpx.Client) -> None:
    now = time.time_ns() // 1_000_000
    end = now + 86_400_000
    rule = publish(client, effectiveUntil=end)
    path = f"/v1/rules/{rule['ruleId']}"
    assert rule["effectiveUntil"] == client.get(path).json()["effectiveUntil"] == end
    (event,) = events_after(client, rule["position"] - 1)
    assert event["effectiveUntil"] == end
    # sent back as it is it keeps its end; without it there is none
    kept = client.put(path, json=client.get(path).json() | {"name": "Kept"}, headers={"If-Match": "*"})
    assert kept.raise_for_status().json()["effectiveUntil"] == end
    without = client.put(path, json=DEFINITION, headers={"If-Match": "*"}).raise_for_status().json()
    assert without["effectiveUntil"] is None
    (event,) = events_after(client, without["position"] - 1)
    assert "effectiveUntil" not in event
    diff = client.get(f"{path}/diff", params={"from": 2, "to": 3}).raise_for_status().json()
    assert {"field": "effectiveUntil", "before": end, "after": None} in diff["changes"]
    assert diff["summary"].endswith("without an end")
    versions = client.get(f"{path}/versions").raise_for_status().json()["items"]
    assert [version["effectiveUntil"] for version in versions] == [end, end, None]


def test_an_end_before_the_beginning_is_refused(client: httpx.Client) -> None:
    now = time.time_ns() // 1_000_000
    for wrong in ({"effectiveUntil": now - 1}, {"effectiveFrom": now + 9, "effectiveUntil": now + 9}):
        refused = client.post("/v1/rules", json={**DEFINITION, **wrong})
        assert (refused.status_code, refused.json()["type"]) == (422, "urn:tripline:problem:ends-too-early")
        assert [error["field"] for error in refused.json()["errors"]] == ["effectiveUntil"]
    for no_time in (-1, 253_402_300_800_000, 1.5, "0", True):
        assert client.post("/v1/rules", json={**DEFINITION, "effectiveUntil": no_time}).status_code == 422


def test_a_definition_may_begin_long_ago_or_in_time_to_come(client: httpx.Client) -> None:
    began = time.time_ns() // 1_000_000
    unsaid = publish(client)["effectiveFrom"]
    assert began <= unsaid <= time.time_ns() // 1_000_000
    for since in (0, began - 86_400_000, began + 86_400_000, 253_402_300_799_999):
        rule = publish(client, effectiveFrom=since)
        assert rule["effectiveFrom"] == since
        changed = client.put(
            f"/v1/rules/{rule['ruleId']}",
            json={**DEFINITION, "effectiveFrom": since},
            headers={"If-Match": "*"},
        )
        assert changed.json()["effectiveFrom"] == since
        (event,) = events_after(client, changed.json()["position"] - 1)
        assert event["effectiveFrom"] == since
    for wrong in (-1, 253_402_300_800_000, 1.5, "0", True):
        assert client.post("/v1/rules", json={**DEFINITION, "effectiveFrom": wrong}).status_code == 422
