"""Quotas over HTTP and on Postgres: refused with what is used and what is allowed, whoever writes at the same time."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.registry import DEFINITION, RegistryApi, running_api
from tests.servers import PostgresServer

pytestmark = pytest.mark.integration

MOST = 3
BOUNDS = {
    "TRIPLINE_MAX_ACTIVE_RULES": str(MOST), "TRIPLINE_MAX_RULES": str(MOST + 1), "TRIPLINE_MAX_LISTS": "2",
    "TRIPLINE_MAX_PARAMETERS": "1", "TRIPLINE_MAX_LIST_BYTES": "60", "TRIPLINE_EXPECTED_RATE": "10",
    "TRIPLINE_MAX_HISTORY": "1000000",
}  # fmt: skip
DAY = 86_400


@pytest.fixture
def api(postgres: PostgresServer, tmp_path: Path) -> Iterator[RegistryApi]:
    with postgres.database(migrated=True) as dsn, running_api(postgres, dsn, tmp_path, BOUNDS) as running:
        yield running


@pytest.fixture
def client(api: RegistryApi) -> Iterator[httpx.Client]:
    with api.client() as connected:
        yield connected


def refused(answer: httpx.Response) -> tuple[str, int, int]:
    assert (answer.status_code, answer.headers["Content-Type"]) == (409, "application/problem+json"), (
        answer.text
    )
    problem: dict[str, Any] = answer.json()
    assert problem["type"] == "urn:tripline:problem:quota-exceeded"
    return problem["quota"], problem["used"], problem["allowed"]


def test_ten_writers_at_once_do_not_get_past_it(api: RegistryApi, client: httpx.Client) -> None:
    def publish(_: int) -> int:
        with api.client() as http:
            return http.post("/v1/rules", json=DEFINITION).status_code

    with ThreadPoolExecutor(10) as pool:
        statuses = sorted(pool.map(publish, range(10)))
    assert statuses == [201] * MOST + [409] * (10 - MOST)
    assert len(client.get("/v1/rules").json()["items"]) == MOST


def test_each_quota_is_named_with_its_numbers(client: httpx.Client) -> None:
    first = client.post("/v1/rules", json=DEFINITION).json()["ruleId"]
    for _ in range(MOST - 1):
        client.post("/v1/rules", json=DEFINITION).raise_for_status()
    assert refused(client.post("/v1/rules", json=DEFINITION)) == ("activeRules", MOST + 1, MOST)
    client.post(f"/v1/rules/{first}/pause", headers={"If-Match": "*"}).raise_for_status()
    client.post("/v1/rules", json=DEFINITION).raise_for_status()
    assert refused(client.post(f"/v1/rules/{first}/resume", headers={"If-Match": "*"}))[0] == "activeRules"
    lines = "".join(
        f"({number}),(pause),(payeeId),(),(paymentAmount),(SUM),(>),(9),(1)\n" for number in (90, 91)
    )
    answer = client.post("/v1/rules/import", content=lines, headers={"Content-Type": "text/plain"})
    assert refused(answer) == ("rules", MOST + 3, MOST + 1)
    assert client.get("/v1/rules/90").status_code == 404


def test_lists_and_parameters(client: httpx.Client) -> None:
    client.put("/v1/lists/one", json={"values": ["a" * 20]}).raise_for_status()
    client.put("/v1/lists/two", json={"values": ["é" * 10]}).raise_for_status()
    assert refused(client.put("/v1/lists/three", json={"values": []})) == ("lists", 3, 2)
    assert refused(client.put("/v1/lists/one", json={"values": ["a" * 40]})) == ("listBytes", 68, 60)
    client.put("/v1/parameters/high", json={"value": "1"}).raise_for_status()
    client.put("/v1/parameters/high", json={"value": "2"}).raise_for_status()
    assert refused(client.put("/v1/parameters/low", json={"value": "1"})) == ("parameters", 2, 1)


def test_history_of_all_rules_together(client: httpx.Client) -> None:
    def rule(key: str, seconds: int, **more: Any) -> httpx.Response:
        body = {**DEFINITION, "groupingKeyNames": [key], "windowSeconds": seconds, **more}
        return client.post("/v1/rules", json=body)

    rule("payeeId", DAY).raise_for_status()
    # Alike but for their precision and window: the exact one decides.
    rule("payeeId", 300 * DAY, precision=f"bucketed({DAY // 24})").raise_for_status()
    assert refused(rule("beneficiaryId", DAY)) == ("history", 20 * DAY, 1_000_000)
    condition = {
        name: DEFINITION[name]
        for name in ("aggregatorFunctionType", "aggregateFieldName", "limitOperatorType", "limit")
    }
    chained = {
        "name": "Both",
        "conditions": {
            "all": [
                {**condition, "groupingKeyNames": ["beneficiaryId"], "windowSeconds": seconds}
                for seconds in (60, DAY // 2)
            ]
        },
    }
    assert refused(client.post("/v1/rules", json=chained)) == ("history", 15 * DAY, 1_000_000)
