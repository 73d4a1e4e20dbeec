"""Fills an empty stack: rules over the registry's HTTP API, traffic over the generator's."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Any

import httpx

from tripline_contracts.event_type import EventType
from tripline_demo.errors import StackFailed

SECONDS = 10.0


def seeded_rules(event_type: EventType) -> list[dict[str, Any]]:
    """The rules that the demo starts with, found by the name of the event type; none of one declared elsewhere."""
    file = resources.files("tripline_demo") / "seed" / f"{event_type.name}.json"
    if not file.is_file():
        return []
    rules = json.loads(file.read_text(encoding="utf-8"))
    if not isinstance(rules, list):
        raise StackFailed(f"seed/{event_type.name}.json is not a list of rules.")
    return rules


def seed_rules(stack: Mapping[str, Any], event_type: EventType) -> int:
    """Posts those seeded rules that the registry does not have under their names; returns how many.

    Raises StackFailed when the registry refuses one.
    """
    with _client(stack["rulesRegistry"], stack["apiKeys"]["analyst"]) as client:
        known = {rule["name"] for rule in _all_rules(client)}
        wanted = [rule for rule in seeded_rules(event_type) if rule["name"] not in known]
        for rule in wanted:
            key = "seed-" + hashlib.sha256(json.dumps(rule, sort_keys=True).encode()).hexdigest()[:32]
            _checked(client.post("/v1/rules", json=rule, headers={"Idempotency-Key": key}))
    return len(wanted)


def _all_rules(client: httpx.Client) -> Iterator[dict[str, Any]]:
    page: str | None = "/v1/rules?limit=100"
    while page:
        answer = _checked(client.get(page))
        yield from answer.json()["items"]
        page = answer.links.get("next", {}).get("url")


def start_traffic(stack: Mapping[str, Any], rate: int) -> None:
    """Sets the generator's rate, in transactions a second; its other settings stay. Raises StackFailed."""
    with _client(stack["generator"], stack["apiKeys"]["ops"]) as client:
        _checked(client.put("/v1/traffic", json={"rate": rate}))


def wait_for_alert(stack: Mapping[str, Any], since_ms: int, seconds: float) -> dict[str, Any] | None:
    """The newest alert that was detected after `since_ms` (epoch), or None when none came in time."""
    deadline = time.monotonic() + seconds
    with _client(stack["alertApi"], stack["apiKeys"]["viewer"]) as client:
        while time.monotonic() < deadline:
            items = _checked(client.get("/v1/alerts", params={"limit": 1})).json()["items"]
            if items and items[0]["detectedAt"] >= since_ms:
                newest: dict[str, Any] = items[0]
                return newest
            time.sleep(0.25)
    return None


def _client(base: str, key: str) -> httpx.Client:
    headers = {"Authorization": f"Bearer {key}"}
    return httpx.Client(base_url=base, headers=headers, timeout=SECONDS, trust_env=False)


def _checked(answer: httpx.Response) -> httpx.Response:
    if answer.is_error:
        raise StackFailed(
            f"{answer.request.method} {answer.request.url} answered {answer.status_code}: {answer.text[:300]}"
        )
    return answer
