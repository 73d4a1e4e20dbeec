"""A hundred writers and one rule under four eyes: one change is open at a time, no edit of it is lost, and what is
approved is what the approver has seen.

All ask for a change of the rule. One of them gets it; the others are told which one is open, edit its draft by
`If-Match` with the revision that they have read, and try again where somebody else was first.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import httpx
import pytest

from tests.integration.registry.support.writers import (
    BEFORE_ALL,
    TOGETHER_SECONDS,
    WRITERS,
    Writer,
    added_by_each,
    at_once,
    definition_of,
    engaged,
    names_in,
    require_that_all_holds,
    with_name,
)
from tests.registry import RegistryApi

pytestmark = [pytest.mark.integration, pytest.mark.slow]

OPEN_CHANGE = "urn:tripline:problem:open-change"
ROUNDS = 20


@pytest.fixture(scope="module")
def writers(api: RegistryApi) -> list[Writer]:
    return engaged(api)


@pytest.fixture
def rule_id(api: RegistryApi) -> int:
    """A rule that was approved."""
    with api.client() as author, api.client("approver-of-role-for-tests") as approver:
        draft = author.post("/v1/rules", json=definition_of([BEFORE_ALL])).raise_for_status().json()
        submit(author, draft["changeId"])
        return int(decide(approver, draft, "approve").raise_for_status().json()["ruleId"])


def submit(client: httpx.Client, change_id: int) -> None:
    client.post(f"/v1/changes/{change_id}/submit").raise_for_status()


def decide(client: httpx.Client, seen: dict[str, Any], step: str) -> httpx.Response:
    """The answer to `approve` of what was seen, or to `reject`."""
    body = {"contentHash": seen["contentHash"]} if step == "approve" else None
    return client.post(f"/v1/changes/{seen['changeId']}/{step}", json=body)


def read(client: httpx.Client, change_id: int) -> dict[str, Any]:
    change: dict[str, Any] = client.get(f"/v1/changes/{change_id}").raise_for_status().json()
    return change


def position(api: RegistryApi) -> int:
    """Of the last event in the log."""
    with api.client() as client:
        return int(client.get("/v1/widest-windows").json()["position"])


def trail(api: RegistryApi, rule_id: int) -> list[dict[str, Any]]:
    """Everything that it tells of the rule."""
    with api.client("auditor-of-role-for-tests") as auditor:
        page = auditor.get("/v1/audit", params={"kind": "rule", "subject": str(rule_id), "limit": 100})
        items: list[dict[str, Any]] = page.raise_for_status().json()["items"]
        while "next" in page.links:
            page = auditor.get(page.links["next"]["url"]).raise_for_status()
            items += page.json()["items"]
    return items


def asked_or_edited(http: httpx.Client, rule_id: int, writer: Writer) -> dict[str, Any]:
    """The change with the writer's edit in it: a new one, or the one that was open."""
    path = f"/v1/rules/{rule_id}"
    rule = http.get(path).raise_for_status()
    body = with_name(rule.json()["definition"], writer.name)
    answer = http.put(path, json=body, headers={"If-Match": rule.headers["ETag"]})
    change: dict[str, Any] = answer.json()
    if answer.status_code == 202:
        return change
    assert (answer.status_code, change["type"]) == (409, OPEN_CHANGE), answer.text
    address = f"/v1/changes/{change['changeId']}"
    for _ in range(WRITERS):
        draft = http.get(address).raise_for_status()
        body = with_name(draft.json()["content"]["definition"], writer.name)
        answer = http.put(address, json=body, headers={"If-Match": draft.headers["ETag"]})
        if answer.status_code != 412:
            edited: dict[str, Any] = answer.raise_for_status().json()
            return edited
    raise AssertionError(f"{writer.name} was refused {WRITERS} times: by an edit of nobody")


def test_a_hundred_editors_of_one_draft_lose_no_edit(
    api: RegistryApi, writers: list[Writer], rule_id: int
) -> None:
    before, told_before = position(api), len(trail(api, rule_id))
    answers = at_once(api, writers, lambda http, writer: asked_or_edited(http, rule_id, writer))

    assert position(api) == before
    (change_id,) = {answer["changeId"] for answer in answers}
    assert sorted(answer["revision"] for answer in answers) == list(range(1, WRITERS + 1))
    told = trail(api, rule_id)[told_before:]
    assert [entry["type"] for entry in told] == ["ChangeDrafted", *["ChangeEdited"] * (WRITERS - 1)]
    assert [entry["after"]["revision"] for entry in told] == list(range(1, WRITERS + 1))
    by_revision = {
        answer["revision"]: (writer.name, answer["contentHash"])
        for writer, answer in zip(writers, answers, strict=True)
    }
    assert [(entry["actor"], entry["after"]["contentHash"]) for entry in told] == [
        by_revision[revision] for revision in range(1, WRITERS + 1)
    ]
    drafts = [entry["after"]["content"]["definition"] for entry in told]
    assert added_by_each([definition_of([BEFORE_ALL]), *drafts]) == [{entry["actor"]} for entry in told]

    with api.client(writers[0].key) as author, api.client("approver-of-role-for-tests") as approver:
        last = read(author, change_id)
        assert set(last["editors"]) == {writer.name for writer in writers}
        first = next(answer for answer in answers if answer["revision"] == WRITERS - 1)
        submit(author, change_id)
        refused = decide(approver, first, "approve")
        assert (refused.status_code, refused.json()["type"].rpartition(":")[2]) == (409, "other-revision")
        decide(approver, last, "approve").raise_for_status()
        rule = author.get(f"/v1/rules/{rule_id}").json()
    assert (rule["version"], position(api)) == (2, before + 1)
    assert names_in(rule["definition"]) == {BEFORE_ALL, *(writer.name for writer in writers)}
    assert [entry["type"] for entry in trail(api, rule_id)[told_before + WRITERS :]] == [
        "ChangeSubmitted",
        "RulePublished",
        "ChangeApproved",
    ]
    require_that_all_holds(api.dsn)


def test_of_a_hundred_changes_of_one_rule_one_is_open(
    api: RegistryApi, writers: list[Writer], rule_id: int
) -> None:
    """Whatever they ask for: another definition, a pause, the end of the rule."""
    before, told_before = position(api), len(trail(api, rule_id))
    path, seen = f"/v1/rules/{rule_id}", {"If-Match": '"1"'}

    def ask(http: httpx.Client, writer: Writer) -> tuple[int, dict[str, Any]]:
        match writers.index(writer) % 3:
            case 0:
                answer = http.put(path, json=definition_of([writer.name]), headers=seen)
            case 1:
                answer = http.post(f"{path}/pause", headers=seen)
            case _:
                answer = http.request("DELETE", path, headers=seen)
        return answer.status_code, answer.json()

    answers = at_once(api, writers, ask)
    [(_, change)] = [answer for answer in answers if answer[0] == 202]
    refused = {(status, body.get("type"), body.get("changeId")) for status, body in answers if status != 202}
    assert refused == {(409, OPEN_CHANGE, change["changeId"])}
    told = trail(api, rule_id)[told_before:]
    assert {entry["after"]["changeId"] for entry in told} == {change["changeId"]}
    assert {entry["actor"] for entry in told} == {change["author"]}
    assert len(told) == (1 if change["state"] == "DRAFT" else 2)
    assert position(api) == before
    require_that_all_holds(api.dsn)


def approved_or_edited(api: RegistryApi, rule_id: int, name: str, *, eager: bool) -> str:
    """The hash that was approved in the end: what was read at first, or what it was edited into meanwhile.

    An eager approver begins together with the editor, the other one once the change is back in its editor's hands.
    """
    with api.client() as author, api.client("approver-of-role-for-tests") as approver:
        asked = author.put(
            f"/v1/rules/{rule_id}", json=definition_of([BEFORE_ALL, name]), headers={"If-Match": "*"}
        )
        change_id: int = asked.raise_for_status().json()["changeId"]
        submit(author, change_id)
        seen = read(approver, change_id)
        version = author.get(f"/v1/rules/{rule_id}").json()["version"]
        gate = Barrier(2)
        with ThreadPoolExecutor(2) as pool:
            edit = pool.submit(edited, api, seen, gate, eager=eager)
            gate.wait(TOGETHER_SECONDS)
            is_approved = persistently_approved(approver, seen)
            assert edit.result(TOGETHER_SECONDS) != is_approved, "either an approval or an edit"
        if is_approved:
            return str(seen["contentHash"])
        assert author.get(f"/v1/rules/{rule_id}").json()["version"] == version
        latest = read(approver, change_id)
        assert (latest["revision"], latest["contentHash"] != seen["contentHash"]) == (2, True)
        decide(approver, latest, "approve").raise_for_status()
        return str(latest["contentHash"])


def persistently_approved(approver: httpx.Client, seen: dict[str, Any]) -> bool:
    """Whether what was seen was approved. While the change is a draft nothing can be: the approver tries again."""
    deadline = time.monotonic() + TOGETHER_SECONDS
    while time.monotonic() < deadline:
        answer = decide(approver, seen, "approve")
        if answer.status_code == 200:
            return True
        kind = answer.json()["type"].rpartition(":")[2]
        assert answer.status_code == 409, answer.text
        if kind == "other-revision":
            return False
        assert kind == "illegal-step", kind
    raise AssertionError(f"change {seen['changeId']} was a draft for {TOGETHER_SECONDS:.0f} s")


def edited(api: RegistryApi, seen: dict[str, Any], gate: Barrier, *, eager: bool) -> bool:
    """Whether the change could be taken back, edited and submitted again; not if it was approved before."""
    with api.client("author-approver-for-tests") as rejecting, api.client("second-key-for-tests") as editor:
        if eager:
            gate.wait(TOGETHER_SECONDS)
        rejected = decide(rejecting, seen, "reject")
        if not eager:
            gate.wait(TOGETHER_SECONDS)
        if rejected.status_code == 409:
            return False
        rejected.raise_for_status()
        body = with_name(seen["content"]["definition"], "edited")
        path = f"/v1/changes/{seen['changeId']}"
        editor.put(path, json=body, headers={"If-Match": f'"{seen["revision"]}"'}).raise_for_status()
        submit(editor, seen["changeId"])
        return True


def test_an_edit_between_reading_and_approval_is_not_approved(api: RegistryApi, rule_id: int) -> None:
    """An approver approves what it has read, over and over, while somebody else rejects, edits and submits."""
    approvals = [
        approved_or_edited(api, rule_id, f"round {number}", eager=bool(number % 2))
        for number in range(ROUNDS)
    ]
    told = [entry for entry in trail(api, rule_id) if entry["type"] == "ChangeApproved"]
    assert [entry["after"]["contentHash"] for entry in told[1:]] == approvals
    with api.client() as client:
        assert client.get(f"/v1/rules/{rule_id}").json()["version"] == 1 + ROUNDS
    require_that_all_holds(api.dsn)
