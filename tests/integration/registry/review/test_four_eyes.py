"""Four eyes over HTTP, on a real Postgres: nothing that can silence an alert happens by one person."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import psycopg
import pytest
from psycopg import errors

from tests.registry import DEFINITION, RegistryApi
from tests.servers import PostgresServer

pytestmark = pytest.mark.integration

ANY = {"If-Match": "*"}
API = "tripline_registry_api"


@pytest.fixture
def second(api: RegistryApi) -> Iterator[httpx.Client]:
    with api.client("second-key-for-tests") as client:
        yield client


@pytest.fixture
def approver(api: RegistryApi) -> Iterator[httpx.Client]:
    with api.client("approver-of-role-for-tests") as client:
        yield client


@pytest.fixture
def auditor(api: RegistryApi) -> Iterator[httpx.Client]:
    with api.client("auditor-of-role-for-tests") as client:
        yield client


def asked(answer: httpx.Response) -> dict[str, Any]:
    """The change that a request has become."""
    assert answer.status_code == 202, answer.text
    change: dict[str, Any] = answer.json()
    assert answer.headers["Location"] == f"/v1/changes/{change['changeId']}"
    return change


def step(client: httpx.Client, change: dict[str, Any], name: str, **query: str) -> httpx.Response:
    """Its answer; whoever decides has seen this content."""
    body = {"contentHash": change["contentHash"]} if name in ("approve", "review") else None
    return client.post(f"/v1/changes/{change['changeId']}/{name}", params=query, json=body)


def approved(client: httpx.Client, approver: httpx.Client, change: dict[str, Any]) -> dict[str, Any]:
    if change["state"] == "DRAFT":
        step(client, change, "submit").raise_for_status()
    done: dict[str, Any] = step(approver, change, "approve").raise_for_status().json()
    return done


def published(client: httpx.Client, approver: httpx.Client, **changes: Any) -> int:
    """A rule that went through."""
    done = approved(client, approver, asked(client.post("/v1/rules", json={**DEFINITION, **changes})))
    return int(done["ruleId"])


def position(client: httpx.Client) -> int:
    return int(client.get("/v1/widest-windows").json()["position"])


def test_the_life_of_a_rule_is_told_by_the_audit_alone(
    client: httpx.Client, second: httpx.Client, approver: httpx.Client, auditor: httpx.Client
) -> None:
    draft = asked(client.post("/v1/rules", json=DEFINITION, params={"reason": "bursts in the shop"}))
    assert (draft["state"], draft["revision"]) == ("DRAFT", 1)
    rule = f"/v1/rules/{draft['ruleId']}"
    assert client.get(rule).status_code == 404
    step(client, draft, "submit").raise_for_status()
    step(approver, draft, "reject", reason="limit too low").raise_for_status()
    edited = (
        second.put(f"/v1/changes/{draft['changeId']}", json={**DEFINITION, "limit": "2000"}, headers=ANY)
        .raise_for_status()
        .json()
    )
    step(client, edited, "submit").raise_for_status()
    assert step(approver, draft, "approve").json()["type"].endswith("other-revision")
    step(approver, edited, "approve").raise_for_status()
    assert client.get(rule).json()["definition"]["limit"] == "2000"
    approved(client, approver, asked(client.put(rule, json={**DEFINITION, "limit": "3000"}, headers=ANY)))
    back = client.post(f"{rule}/revert", params={"version": 1, "reason": "3000 misses them"}, headers=ANY)
    approved(client, approver, asked(back))
    assert client.get(rule).json()["definition"]["limit"] == "2000"
    approved(client, approver, asked(client.request("DELETE", rule, headers=ANY)))

    told = auditor.get("/v1/audit", params={"kind": "rule", "subject": str(draft["ruleId"])}).json()["items"]
    assert [(entry["type"], entry["actor"]) for entry in told] == [
        ("ChangeDrafted", "analyst"),
        ("ChangeSubmitted", "analyst"),
        ("ChangeRejected", "an-approver"),
        ("ChangeEdited", "second"),
        ("ChangeSubmitted", "analyst"),
        ("RulePublished", "analyst"),
        ("ChangeApproved", "an-approver"),
        *[
            ("ChangeDrafted", "analyst"),
            ("ChangeSubmitted", "analyst"),
            ("RulePublished", "analyst"),
            ("ChangeApproved", "an-approver"),
        ]
        * 2,
        ("ChangeDrafted", "analyst"),
        ("ChangeSubmitted", "analyst"),
        ("RuleDeleted", "analyst"),
        ("ChangeApproved", "an-approver"),
    ]
    limits = [entry["after"]["definition"]["limit"] for entry in told if entry["type"] == "RulePublished"]
    assert limits == ["2000", "3000", "2000"]
    assert [entry["reason"] for entry in told if entry["reason"]][:2] == [
        "bursts in the shop",
        "limit too low",
    ]


def test_an_edit_names_the_revision_that_was_seen(client: httpx.Client, second: httpx.Client) -> None:
    draft = asked(client.post("/v1/rules", json=DEFINITION))
    path = f"/v1/changes/{draft['changeId']}"
    assert second.put(path, json=DEFINITION).status_code == 428
    seen = {"If-Match": second.get(path).headers["ETag"]}
    second.put(path, json={**DEFINITION, "limit": "2000"}, headers=seen).raise_for_status()
    stale = client.put(path, json={**DEFINITION, "limit": "3000"}, headers=seen)
    assert (stale.status_code, stale.headers["ETag"], stale.json()["currentVersion"]) == (412, '"2"', 2)
    assert client.get(path).json()["content"]["definition"]["limit"] == "2000"
    step(client, draft, "withdraw").raise_for_status()


@pytest.mark.parametrize("key", ["analyst-key-for-tests", "author-approver-for-tests"])
def test_an_author_does_not_approve(api: RegistryApi, key: str) -> None:
    with api.client("author-approver-for-tests") as author, api.client(key) as decider:
        change = asked(author.post("/v1/rules", json=DEFINITION))
        step(author, change, "submit").raise_for_status()
        refused = step(decider, change, "approve")
        assert refused.status_code == 403
        kind = "same-person" if key.startswith("author") else "insufficient-scope"
        assert refused.json()["type"].endswith(kind)
        step(author, change, "withdraw").raise_for_status()


WHATEVER: list[tuple[str, str, dict[str, Any]]] = [
    ("PUT", "/v1/lists/four-eyes", {"values": ["a"]}),
    ("PUT", "/v1/parameters/four-eyes", {"value": "5"}),
    ("PUT", "/v1/settings", {"allowedLatenessSeconds": 1, "maxFutureSkewSeconds": 1, "maxDisorderSeconds": 1,
                             "idlePartitionSeconds": 1}),
    ("POST", "/v1/control-commands", {"command": "CLEAR_STATE_ALL"}),
    ("POST", "/v1/control-commands", {"command": "VOID_TRANSACTION", "transactionId": "t", "eventTime": 5}),
    ("POST", "/v1/control-commands", {"command": "DELETE_RULES_ALL"}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("method", "path", "body"), WHATEVER, ids=lambda value: value if isinstance(value, str) else ""
)
def test_whatever_can_silence_an_alert_waits(
    client: httpx.Client, approver: httpx.Client, method: str, path: str, body: dict[str, Any]
) -> None:
    headers = ANY if path == "/v1/settings" else {}
    before = position(client)
    change = asked(client.request(method, path, json=body, headers=headers))
    assert (change["state"], position(client)) == ("SUBMITTED", before)
    done = approved(client, approver, change)
    assert done["position"] == before + 1
    [event] = client.get("/v1/rule-events", params={"after": before, "limit": 1}).json()["items"]
    assert event["actor"] == "analyst"
    listed = client.get("/v1/changes", params={"limit": 1}).json()["items"]
    assert [entry["changeId"] for entry in listed] == [change["changeId"]]


def test_what_silences_nothing_happens_at_once(client: httpx.Client, approver: httpx.Client) -> None:
    rule = f"/v1/rules/{published(client, approver)}"
    approved(client, approver, asked(client.post(f"{rule}/pause", headers=ANY)))
    assert client.post(f"{rule}/resume", headers=ANY).status_code == 200
    assert client.post("/v1/control-commands", json={"command": "EXPORT_RULES_CURRENT"}).status_code == 201


def test_alone_with_a_reason_and_flagged(client: httpx.Client, approver: httpx.Client) -> None:
    rule = f"/v1/rules/{published(client, approver)}"
    pause = {"breakGlass": "true"}
    refused = client.post(f"{rule}/pause", params=pause, headers=ANY)
    assert (refused.status_code, refused.json()["type"].rpartition(":")[2]) == (422, "reason-needed")
    done = client.post(f"{rule}/pause", params={**pause, "reason": "it floods"}, headers=ANY)
    assert (done.status_code, done.json()["state"]) == (200, "PAUSED")
    unreviewed = client.get("/v1/changes", params={"unreviewed": "true"}).json()["items"]
    assert [(entry["subject"]["id"], entry["reason"]) for entry in unreviewed] == [
        (rule.rpartition("/")[2], "it floods")
    ]
    step(approver, unreviewed[0], "review").raise_for_status()
    assert client.get("/v1/changes", params={"unreviewed": "true"}).json()["items"] == []
    back = {"version": "1", "breakGlass": "true", "reason": "as it was"}
    assert client.post(f"{rule}/revert", params=back, headers=ANY).status_code == 200
    [flagged] = client.get("/v1/changes", params={"unreviewed": "true"}).json()["items"]
    step(approver, flagged, "review").raise_for_status()


def test_an_import_is_refused(client: httpx.Client) -> None:
    answer = client.post("/v1/rules/import", content="(1),(pause)", headers={"Content-Type": "text/plain"})
    assert (answer.status_code, answer.json()["type"].rpartition(":")[2]) == (409, "needs-approval")


def test_the_database_refuses_a_decision_by_an_editor(
    postgres: PostgresServer,
    api: RegistryApi,
    client: httpx.Client,
    second: httpx.Client,
    approver: httpx.Client,
) -> None:
    """Whatever the service believes: by the list of editors, by who wrote a revision, and once it is decided."""
    change = asked(client.post("/v1/rules", json=DEFINITION))
    number = change["changeId"]
    second.put(f"/v1/changes/{number}", json={**DEFINITION, "limit": "5"}, headers=ANY).raise_for_status()
    decide = """
    UPDATE registry.changes SET editors = %s, state = 'APPROVED', decided_by = %s, decided_at = 1 WHERE change_id = %s
    """
    with psycopg.connect(postgres.login(api.dsn, API), autocommit=True) as connection:
        with pytest.raises(errors.CheckViolation, match="four_eyes"):
            connection.execute(decide, [["joe"], "joe", number])
        with pytest.raises(errors.InsufficientPrivilege, match="who wrote it"):
            connection.execute(decide, [["nobody"], "second", number])
        with pytest.raises(errors.InsufficientPrivilege):
            connection.execute("UPDATE registry.change_revisions SET editor = 'nobody'")
    done = approved(client, approver, client.get(f"/v1/changes/{number}").json())
    assert done["state"] == "APPROVED"
    with (
        psycopg.connect(postgres.login(api.dsn, API)) as connection,
        pytest.raises(errors.InsufficientPrivilege, match="is decided"),
    ):
        connection.execute(decide, [["analyst"], "joe", number])


def test_two_rules_of_one_name_wait_and_one_of_them_gets_it(
    client: httpx.Client, approver: httpx.Client
) -> None:
    name = "Waits for its name"
    waiting = [asked(client.post("/v1/rules", json={**DEFINITION, "name": name})) for _ in range(2)]
    done = approved(client, approver, waiting[0])
    step(client, waiting[1], "submit").raise_for_status()
    refused = step(approver, waiting[1], "approve")
    assert (refused.status_code, refused.json()["type"]) == (409, "urn:tripline:problem:name-taken")
    assert refused.json()["ruleId"] == done["ruleId"]
    assert client.post("/v1/rules", json={**DEFINITION, "name": name}).status_code == 409


def test_a_shadow_is_approved_when_it_starts_is_rolled_out_and_is_promoted(
    client: httpx.Client, approver: httpx.Client
) -> None:
    path = f"/v1/rules/{published(client, approver)}"
    lower = {**DEFINITION, "limit": "7"}
    change = asked(client.post(f"{path}/shadow", json=lower, headers=ANY, params={"reason": "too few"}))
    assert (change["kind"], change["state"]) == ("START_SHADOW", "SUBMITTED")
    assert client.get(path).json()["shadow"] is None
    approved(client, approver, change)
    shadow = client.get(path).json()["shadow"]
    assert shadow["definition"]["limit"] == "7"
    rollout = asked(client.post(f"{path}/shadow/rollout", json={"percent": 10}, headers=ANY))
    assert (rollout["kind"], rollout["content"]["percent"]) == ("ROLL_OUT_SHADOW", 10)
    assert client.get(path).json()["shadow"]["percent"] == 0
    approved(client, approver, rollout)
    assert client.get(path).json()["shadow"] == {**shadow, "percent": 10}
    promotion = asked(client.post(f"{path}/shadow/promote", headers=ANY))
    assert promotion["kind"] == "PROMOTE_SHADOW"
    assert step(client, promotion, "approve").status_code == 403
    approved(client, approver, promotion)
    rule = client.get(path).json()
    assert (rule["definitionVersion"], rule["shadow"]) == (shadow["version"], None)
    approved(client, approver, asked(client.post(f"{path}/shadow", json=DEFINITION, headers=ANY)))
    # it can silence nothing
    assert client.delete(f"{path}/shadow", headers=ANY).json()["shadow"] is None
