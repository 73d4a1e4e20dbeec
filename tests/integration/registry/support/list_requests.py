"""Requests about lists and their entries."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import httpx

CSV = {"Content-Type": "text/csv"}


def fresh() -> str:
    return f"n-{uuid.uuid4()}"


def events_of(client: httpx.Client, name: str) -> list[dict[str, Any]]:
    """Every event of lists and parameters of that name."""
    events: list[dict[str, Any]] = []
    after = 0
    while page := client.get("/v1/rule-events", params={"after": after, "limit": 100}).json()["items"]:
        events += [event for event in page if event.get("name") == name and "ruleId" not in event]
        after = page[-1]["position"]
    return events


def add(client: httpx.Client, name: str, *entries: Any, **more: Any) -> httpx.Response:
    listed = [entry if isinstance(entry, dict) else {"value": entry} for entry in entries]
    return client.post(f"/v1/lists/{name}/entries", json={"entries": listed}, **more)


def remove(client: httpx.Client, name: str, *values: Any, **more: Any) -> httpx.Response:
    return client.post(f"/v1/lists/{name}/entries/remove", json={"values": list(values)}, **more)


def import_csv(client: httpx.Client, name: str, text: str | bytes, **headers: str) -> httpx.Response:
    return client.post(f"/v1/lists/{name}/imports", content=text, headers={**CSV, **headers}, timeout=60)


def pages(client: httpx.Client, name: str, **query: Any) -> Iterator[list[dict[str, Any]]]:
    page = client.get(f"/v1/lists/{name}/entries", params=query).raise_for_status()
    while True:
        yield page.json()["items"]
        if "next" not in page.links:
            return
        page = client.get(page.links["next"]["url"]).raise_for_status()


def values_of(client: httpx.Client, name: str, **query: Any) -> list[str]:
    return [entry["value"] for page in pages(client, name, **query) for entry in page]
