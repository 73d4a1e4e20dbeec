"""A hundred writers change one rule at once, each until its own edit is in: each edit is one version, none is lost.

What they go by is `If-Match`: a definition that was made of an old version is refused with 412, and its writer reads
the rule again. Each refusal means that another edit got in, so nobody is refused more often than there are others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.integration.registry.support.rule_requests import publish
from tests.integration.registry.support.writers import (
    BEFORE_ALL,
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


@dataclass(frozen=True, slots=True)
class Edit:
    """What a writer was told when its edit was in, and how often it was refused before."""

    writer: str
    version: int
    position: int
    refused: int


def test_a_hundred_writers_on_one_rule_lose_no_edit(api: RegistryApi) -> None:
    writers = engaged(api)
    with api.client() as client:
        rule = publish(client, **definition_of([BEFORE_ALL]))
    with api.client("auditor-of-role-for-tests") as auditor:
        head = auditor.get("/v1/audit/head").json()["sequence"]
    path = f"/v1/rules/{rule['ruleId']}"

    edits = at_once(api, writers, lambda http, writer: edited(http, path, writer))

    with api.client() as client:
        require_a_version_of_each(client, path, edits)
        require_an_event_of_each(client, rule["position"], edits)
    require_an_entry_of_each(api, head, edits)
    require_that_all_holds(api.dsn)


def edited(http: httpx.Client, path: str, writer: Writer) -> Edit:
    """Reads, changes, and reads again where somebody else was first."""
    for refused in range(WRITERS):
        read = http.get(path).raise_for_status()
        body = with_name(read.json()["definition"], writer.name)
        answer = http.put(
            path, json=body, headers={"If-Match": read.headers["ETag"]}, params={"reason": writer.name}
        )
        if answer.status_code != 412:
            changed = answer.raise_for_status().json()
            return Edit(writer.name, changed["version"], changed["position"], refused)
        assert answer.json()["type"] == "urn:tripline:problem:stale-version"
    raise AssertionError(f"{writer.name} was refused {WRITERS} times: by an edit of nobody")


def pages(client: httpx.Client, path: str, **query: Any) -> list[dict[str, Any]]:
    """All items of a listing."""
    page = client.get(path, params={**query, "limit": 100}).raise_for_status()
    items: list[dict[str, Any]] = page.json()["items"]
    while "next" in page.links:
        page = client.get(page.links["next"]["url"]).raise_for_status()
        items += page.json()["items"]
    return items


def require_a_version_of_each(client: httpx.Client, path: str, edits: list[Edit]) -> None:
    assert sorted(edit.version for edit in edits) == list(range(2, WRITERS + 2))
    versions = sorted(pages(client, f"{path}/versions"), key=lambda version: int(version["version"]))
    assert [version["version"] for version in versions] == list(range(1, WRITERS + 2))
    by_version = {edit.version: edit.writer for edit in edits}
    assert added_by_each([version["definition"] for version in versions]) == [
        {by_version[version["version"]]} for version in versions[1:]
    ]
    rule = client.get(path).json()
    assert (rule["version"], len(names_in(rule["definition"]))) == (WRITERS + 1, WRITERS + 1)


def require_an_event_of_each(client: httpx.Client, after: int, edits: list[Edit]) -> None:
    """And nothing else in the log."""
    events = pages(client, "/v1/rule-events", after=after)
    told = [(event["type"], event["position"], event["version"], event["actor"]) for event in events]
    assert told == [
        ("RulePublished", edit.position, edit.version, edit.writer)
        for edit in sorted(edits, key=lambda edit: edit.position)
    ]
    assert [event["position"] for event in events] == list(range(after + 1, after + 1 + WRITERS))
    assert [event["version"] for event in events] == list(range(2, WRITERS + 2))


def require_an_entry_of_each(api: RegistryApi, head: int, edits: list[Edit]) -> None:
    """And nothing else in the trail."""
    with api.client("auditor-of-role-for-tests") as auditor:
        entries = pages(auditor, "/v1/audit")[head:]
    writers = {edit.version: edit.writer for edit in edits}
    assert [(entry["type"], entry["actor"], entry["reason"], entry["role"]) for entry in entries] == [
        ("RulePublished", writers[version], writers[version], "analyst") for version in range(2, WRITERS + 2)
    ]
    states = [entries[0]["before"], *(entry["after"] for entry in entries)]
    assert [entry["before"] for entry in entries] == states[:-1]
    assert added_by_each([state["definition"] for state in states]) == [{entry["actor"]} for entry in entries]
