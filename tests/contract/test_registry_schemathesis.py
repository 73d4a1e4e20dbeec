"""schemathesis against the running registry on a real Postgres: every check, every phase.

Positive cases get what no generator can guess: the id of a rule that exists, the version that it has, a cursor of this
registry, an Idempotency-Key that was not used before. Negative cases go out as they were made.
"""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from schemathesis.generation import GenerationMode

from tests.contract.campaign import EXAMPLES, run
from tests.contract.test_registry_openapi import operations
from tests.registry import DEFINITION, RegistryApi, running_api
from tests.servers import PostgresServer

pytestmark = [pytest.mark.contract, pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def api(
    postgres: PostgresServer, migrated_database: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RegistryApi]:
    folder: Path = tmp_path_factory.mktemp("registry")
    with running_api(postgres, migrated_database, folder) as running:
        yield running


class Supply:
    """Gives cases what has to exist."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client
        self._turns = itertools.count()
        # More than one, so that listings have a next page.
        self._readable, *_ = (self._publish() for _ in range(3))

    def fill(self, case: Any) -> None:
        """Makes three of four positive cases point at something real; the fourth stays a guess."""
        meta = case.meta
        if meta is None or meta.generation.mode is not GenerationMode.POSITIVE:
            return
        if "Idempotency-Key" in (case.headers or {}):
            case.headers["Idempotency-Key"] = str(uuid.uuid4())
        if next(self._turns) % 4 and meta.phase.name.value != "stateful":
            self._point(case)
        if (case.query or {}).get("cursor") is not None:
            self._give_cursor(case)

    def _point(self, case: Any) -> None:
        if case.path.startswith("/v1/rules/{rule_id}"):
            rule = self._rule_for(case)
            case.path_parameters["rule_id"] = rule["ruleId"]
            if "version" in case.path_parameters:
                case.path_parameters["version"] = 1
            if "If-Match" in (case.headers or {}):
                case.headers["If-Match"] = f'"{rule["version"]}"'
        elif case.path == "/v1/settings" and "If-Match" in (case.headers or {}):
            case.headers["If-Match"] = self._client.get("/v1/settings").headers["ETag"]

    def _rule_for(self, case: Any) -> dict[str, Any]:
        if case.method.upper() == "GET":
            return self._readable
        return self._paused() if case.path.endswith("/resume") else self._publish()

    def _give_cursor(self, case: Any) -> None:
        """A real one of this listing with these filters, or none where there is no next page."""
        query = {name: value for name, value in case.query.items() if name != "cursor"}
        path = case.path.replace("{rule_id}", str((case.path_parameters or {}).get("rule_id")))
        page = self._client.get(path, params={**query, "limit": 1})
        link = page.links.get("next")
        case.query = {**query, "cursor": httpx.URL(link["url"]).params["cursor"]} if link else query

    def _publish(self) -> dict[str, Any]:
        published: dict[str, Any] = (
            self._client.post("/v1/rules", json=dict(DEFINITION)).raise_for_status().json()
        )
        return published

    def _paused(self) -> dict[str, Any]:
        rule = self._publish()
        paused: dict[str, Any] = (
            self._client.post(f"/v1/rules/{rule['ruleId']}/pause", headers={"If-Match": "*"})
            .raise_for_status()
            .json()
        )
        return paused


def one_way_to_filter(document: dict[str, Any]) -> None:
    """The body of a rule is eight objects that differ in aggregate and window. All have the same filter: it is tried
    with the first, or the campaign would be four parts of five the same filters again."""
    _, *others = document["components"]["schemas"]["RuleBody"]["anyOf"]
    for variant in others:
        variant["properties"]["filter"] = {"type": "null"}


def test_every_operation_keeps_its_contract(api: RegistryApi, capsys: pytest.CaptureFixture[str]) -> None:
    with api.client() as client:
        outcome = run(api.url, "analyst-key", Supply(client).fill, narrow=one_way_to_filter)
    with capsys.disabled():
        print("\n" + outcome.table())
    assert not outcome.failures, "\n\n".join(outcome.failures[:5])
    assert {"coverage", "fuzzing"} <= outcome.phases, outcome.phases
    assert any(phase.startswith("stateful") for phase in outcome.phases), outcome.phases
    assert set(outcome.statuses) == {name for name, _ in operations()}
    for operation, counted in outcome.statuses.items():
        assert counted.total() >= EXAMPLES, f"{operation} was asked {counted.total()} times"
        assert outcome.share(operation) > 0, f"{operation} was never answered with 2xx: {dict(counted)}"
