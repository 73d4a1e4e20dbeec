"""A list from one CSV file: taken whole, while others write, and searched at once; of a million entries in a soak."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import httpx
import pytest

from tests.integration.registry.support.list_requests import fresh, values_of
from tests.registry import RegistryApi

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(900)]

EVENT = 10_000
"""Entries in each event at most."""


@pytest.mark.parametrize("entries", [100_000, pytest.param(1_000_000, marks=pytest.mark.soak)])
def test_so_many_lines(
    api: RegistryApi,
    client: httpx.Client,
    name: str,
    entries: int,
    record_property: Callable[[str, object], None],
) -> None:
    body = "".join(f"card-{number:07}\n" for number in range(entries))
    over, others = threading.Event(), list[tuple[float, float]]()

    def write_meanwhile() -> None:
        with api.client("second-key-for-tests") as second:
            parameter = f"/v1/parameters/{fresh()}"
            value = 0
            while not over.wait(0.01):
                wrote, value = time.monotonic(), value + 1
                second.put(parameter, json={"value": value}).raise_for_status()
                others.append((wrote, time.monotonic()))

    writing = threading.Thread(target=write_meanwhile)
    writing.start()
    begin = time.monotonic()
    try:
        answer = client.post(
            f"/v1/lists/{name}/imports", content=body, headers={"Content-Type": "text/csv"}, timeout=600
        )
    finally:
        end = time.monotonic()
        over.set()
        writing.join()
    assert answer.status_code == 200, answer.text
    counts = {key: answer.json()[key] for key in ("lines", "added", "events", "size")}
    assert counts == {
        "lines": entries, "added": entries, "events": entries // EVENT, "size": entries + 2
    }  # fmt: skip
    searching = time.monotonic()
    assert values_of(client, name, prefix="card-0077777") == ["card-0077777"]
    searched = time.monotonic() - searching
    one = client.post(f"/v1/lists/{name}/entries", json={"entries": [{"value": "one more"}]})
    assert one.json()["size"] == entries + 3
    meanwhile = [until - since for since, until in others if begin < since and until < end]
    # while it is read, and while an event is written, others wait; never for all of it
    assert len(meanwhile) >= 3, "nobody wrote meanwhile"
    record_property(
        "told",
        f"{entries} lines: {end - begin:.1f} s; {len(meanwhile)} writes of others meanwhile, the longest"
        f" {max(meanwhile):.2f} s; a search {1000 * searched:.0f} ms",
    )
