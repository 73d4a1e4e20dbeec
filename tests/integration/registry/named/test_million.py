"""A list of a million entries, from one CSV file: taken whole, while others write, and searched at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import httpx
import pytest

from tests.integration.registry.support.list_requests import fresh, values_of
from tests.registry import RegistryApi

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(900)]

ENTRIES = 1_000_000


def test_a_million_lines(
    api: RegistryApi, client: httpx.Client, name: str, record_property: Callable[[str, object], None]
) -> None:
    body = "".join(f"card-{number:07}\n" for number in range(ENTRIES))
    over, others = threading.Event(), list[float]()

    def write_meanwhile() -> None:
        with api.client("second-key-for-tests") as second:
            parameter = f"/v1/parameters/{fresh()}"
            value = 0
            while not over.wait(0.2):
                begin, value = time.monotonic(), value + 1
                second.put(parameter, json={"value": value}).raise_for_status()
                others.append(time.monotonic() - begin)

    writing = threading.Thread(target=write_meanwhile)
    writing.start()
    begin = time.monotonic()
    try:
        answer = client.post(
            f"/v1/lists/{name}/imports", content=body, headers={"Content-Type": "text/csv"}, timeout=600
        )
    finally:
        took = time.monotonic() - begin
        over.set()
        writing.join()
    assert answer.status_code == 200, answer.text
    counts = {key: answer.json()[key] for key in ("lines", "added", "events", "size")}
    assert counts == {"lines": ENTRIES, "added": ENTRIES, "events": 100, "size": ENTRIES + 2}
    begin = time.monotonic()
    assert values_of(client, name, prefix="card-0777777") == ["card-0777777"]
    searched = time.monotonic() - begin
    one = client.post(f"/v1/lists/{name}/entries", json={"entries": [{"value": "one more"}]})
    assert one.json()["size"] == ENTRIES + 3
    assert others, "nobody wrote meanwhile"
    record_property(
        "told",
        f"{took:.1f} s; {len(others)} writes of others meanwhile, the longest {max(others):.2f} s; a search"
        f" {1000 * searched:.0f} ms",
    )
    # while it is read, and while an event is written, others wait; never for all of it
    assert max(others) < max(took / 3, 2.0)
