"""The life of a rule under four eyes, told by the audit trail alone; alerts name the versions that the trail has."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.browser.support.four_eyes import four_eyes_console
from tests.browser.traffic import SECONDS, alerts_of, definition, is_applied
from tests.stack import RunningStack, eventually

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(500)]

NAME = "Life of a rule: many payments by one payer"
APPROVED = ["ChangeDrafted", "ChangeSubmitted", "{}", "ChangeApproved"]


class People:
    """An analyst who writes, an approver who decides, an auditor who reads."""

    def __init__(self, analyst: httpx.Client, approver: httpx.Client, auditor: httpx.Client) -> None:
        self.analyst, self.approver, self.auditor = analyst, approver, auditor

    def ask(self, method: str, path: str, reason: str, **request: Any) -> dict[str, Any]:
        """What the analyst asks for, submitted and approved; the change."""
        query = {**request.pop("params", {}), "reason": reason}
        headers = {} if method == "POST" and path == "/v1/rules" else {"If-Match": "*"}
        asked = self.analyst.request(method, path, params=query, headers=headers, **request)
        assert asked.status_code == 202, asked.text
        change = asked.json()
        if change["state"] == "DRAFT":
            submitted = self.analyst.post(
                f"/v1/changes/{change['changeId']}/submit", params={"reason": reason}
            )
            change = submitted.raise_for_status().json()
        body = {"contentHash": change["contentHash"]}
        approved = self.approver.post(f"/v1/changes/{change['changeId']}/approve", json=body)
        answer: dict[str, Any] = approved.raise_for_status().json()
        return answer

    def trail(self, rule_id: int) -> list[dict[str, Any]]:
        """All that the trail has of the rule, oldest first."""
        query = {"kind": "rule", "subject": str(rule_id), "limit": "100"}
        items: list[dict[str, Any]] = (
            self.auditor.get("/v1/audit", params=query).raise_for_status().json()["items"]
        )
        return items


@pytest.fixture
def people(running_stack: RunningStack, tmp_path: Path) -> Iterator[People]:
    with ExitStack() as stack:
        _, registry = stack.enter_context(four_eyes_console(running_stack, tmp_path))

        def client(who: str) -> httpx.Client:
            headers = {"Authorization": f"Bearer {running_stack.file['apiKeys'][who]}"}
            return stack.enter_context(
                httpx.Client(base_url=registry, headers=headers, timeout=20, trust_env=False)
            )

        yield People(client("analyst"), client("approver"), client("auditor"))


def trip(stack: RunningStack, people: People, rule_id: int, version: int, limit: int) -> set[int]:
    """Plays a fraud once the version is applied; the versions that the alerts of it name."""
    eventually(
        lambda: is_applied(stack, {"ruleId": rule_id, "version": version}),
        f"version {version} is applied",
        SECONDS,
    )
    with stack.generator() as generator:
        played = generator.post("/v1/scenarios/card-testing/plays").raise_for_status().json()
    wanted, payee = played["transactions"] - limit, played["payeeId"]
    eventually(
        lambda: len(alerts_of(stack, rule_id, payee)) == wanted, f"alerts of version {version}", SECONDS
    )
    return {alert["ruleVersion"] for alert in alerts_of(stack, rule_id, payee)}


def test_the_trail_tells_it_all_and_alerts_name_its_versions(
    running_stack: RunningStack, people: People
) -> None:
    made = people.ask("POST", "/v1/rules", "cards are being tested", json=definition(NAME, limit=20))
    rule_id = made["ruleId"]
    path = f"/v1/rules/{rule_id}"
    named = [trip(running_stack, people, rule_id, 1, 20)]
    people.ask("PUT", path, "too many alerts", json=definition(NAME, limit=25))
    named.append(trip(running_stack, people, rule_id, 2, 25))
    people.ask("POST", f"{path}/revert", "too few", params={"version": "1"})
    named.append(trip(running_stack, people, rule_id, 3, 20))
    people.ask("DELETE", path, "the fraud is over")

    told = people.trail(rule_id)
    steps = ("RulePublished", "RulePublished", "RulePublished", "RuleDeleted")
    assert [entry["type"] for entry in told] == [word.format(step) for step in steps for word in APPROVED]
    assert [entry["actor"] for entry in told] == ["analyst", "analyst", "analyst", "approver"] * 4
    events = [entry for entry in told if entry["type"] in steps]
    assert [entry["reason"] for entry in events] == [
        "cards are being tested", "too many alerts", "too few", "the fraud is over",
    ]  # fmt: skip
    assert [entry["after"]["definition"]["limit"] for entry in events] == ["20", "25", "20", "20"]
    assert [entry["after"]["state"] for entry in events] == ["ACTIVE", "ACTIVE", "ACTIVE", "DELETED"]
    for earlier, later in itertools.pairwise(events):
        assert later["before"] == earlier["after"]
    # what each alert says of its version is what the trail says of it
    assert named == [{entry["after"]["version"]} for entry in events[:3]]
    query = {"ruleId": str(rule_id), "limit": "100"}
    with running_stack.alerts() as alerts:
        items = alerts.get("/v1/alerts", params=query).raise_for_status().json()["items"]
    hashes = {entry["after"]["version"]: entry["after"]["definitionHash"] for entry in events}
    assert {(alert["ruleVersion"], alert["definitionHash"]) for alert in items} == {
        (version, hashes[version]) for version in (1, 2, 3)
    }
