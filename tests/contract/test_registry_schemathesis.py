"""schemathesis against the running registry on a real Postgres: every check, every phase.

Positive cases get what no generator can guess: the id of a rule that exists, the version that it has, a cursor of this
registry, an Idempotency-Key that was not used before. Negative cases go out as they were made.
"""

from __future__ import annotations

import itertools
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import Status, events, from_schema
from schemathesis.generation import GenerationMode
from schemathesis.hooks import unregister

from tests.registry import DEFINITION, RegistryApi, running_api
from tests.servers import PostgresServer

pytestmark = [pytest.mark.contract, pytest.mark.slow, pytest.mark.timeout(600)]

EXAMPLES = 100
# What our conventions add to the statuses that schemathesis expects: 412 for a version that is not the current one.
EXPECTED = {
    "positive_data_acceptance": {"expected-statuses": ["2xx", "401", "403", "404", "409", "412"]},
    "negative_data_rejection": {
        "expected-statuses": [
            "400",
            "401",
            "403",
            "404",
            "405",
            "406",
            "409",
            "412",
            "413",
            "415",
            "422",
            "428",
        ]
    },
    "missing_required_header": {"expected-statuses": ["400", "401", "403", "406", "415", "422", "428"]},
}
CONFIG = {
    "seed": 20261121,
    "generation": {"max-examples": EXAMPLES, "database": "none"},
    "checks": EXPECTED,
    "phases": {"stateful": {"max-steps": 6}},
}


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


def test_every_operation_keeps_its_contract(
    api: RegistryApi, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    with api.client() as client:
        supply = Supply(client)
        schema = schemathesis.openapi.from_url(
            f"{api.url}/openapi.json", config=SchemathesisConfig.from_dict(CONFIG)
        )
        schema.config.update(headers={"Authorization": "Bearer analyst-key"})

        def before_call(_context: Any, case: Any, **_: Any) -> None:
            supply.fill(case)

        # schemathesis knows this hook for the whole process only.
        schemathesis.hook(before_call)
        request.addfinalizer(lambda: unregister(before_call))
        statuses: dict[str, Counter[int]] = defaultdict(Counter)
        failures: list[str] = []
        phases: set[str] = set()
        for event in from_schema(schema).execute():
            if isinstance(event, events.ScenarioFinished):
                phases.add(event.phase.value)
                _count(event, statuses)
                failures += _failures(event)
            elif isinstance(event, events.NonFatalError | events.FatalError):
                failures.append(str(getattr(event, "value", None) or getattr(event, "exception", None)))
    with capsys.disabled():
        print("\n" + _table(statuses))
    assert not failures, "\n\n".join(failures[:5])
    assert {"coverage", "fuzzing", "stateful"} <= {phase.lower().split("_")[0] for phase in phases}, phases
    for operation, counted in statuses.items():
        assert _share(counted) > 0, f"{operation} was never answered with 2xx: {dict(counted)}"


def _count(event: events.ScenarioFinished, statuses: dict[str, Counter[int]]) -> None:
    for case_id, interaction in event.recorder.interactions.items():
        if interaction.response is not None:
            label = event.recorder.cases[case_id].value.operation.label
            statuses[label][interaction.response.status_code] += 1


def _failures(event: events.ScenarioFinished) -> list[str]:
    found = []
    for case_id, checks in event.recorder.checks.items():
        for check in checks:
            if check.status is Status.FAILURE and check.failure_info is not None:
                case = event.recorder.cases[case_id].value
                found.append(
                    f"{case.operation.label}: {check.failure_info.failure}\n{case.as_curl_command()}"
                )
    return found


def _share(counted: Counter[int]) -> float:
    return sum(count for status, count in counted.items() if 200 <= status < 300) / counted.total()


def _table(statuses: dict[str, Counter[int]]) -> str:
    lines = [f"{'operation':44} {'cases':>6} {'2xx':>6}"]
    for operation, counted in sorted(statuses.items()):
        lines.append(f"{operation:44} {counted.total():6} {_share(counted):6.0%}")
    return "\n".join(lines)
