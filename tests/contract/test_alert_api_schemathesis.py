"""schemathesis against the running alert API on a real Postgres with alerts in it: every check, every phase.

Positive cases get what no generator can guess: the id of an alert that is there, a cursor of this listing. Negative
cases go out as they were made.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from schemathesis.generation import GenerationMode

from tests.contract.support.schemathesis_campaign import EXAMPLES, run
from tests.integration.alert_api.support.api_process import LiveApi, live_api, seed
from tests.integration.alert_api.support.servers import produce_traces
from tests.registry_log import issue_voids, publish_everything
from tests.servers import PostgresServer
from tests.unit.alert_api.support.samples import EPOCH, alert, alert_id, command_id, trace, void
from tripline_contracts import topics
from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_demo.topics import create
from tripline_http.fields import MAX_MS

pytestmark = [pytest.mark.contract, pytest.mark.slow, pytest.mark.timeout(1500)]

SEEDED = 60
MONTH_MS = 30 * 24 * 3_600_000
OPERATIONS = {
    "GET /v1/alerts",
    "GET /v1/alerts/summary",
    "GET /v1/alerts/{alert_id}",
    "GET /v1/alerts/{alert_id}/events",
    "POST /v1/alerts/{alert_id}/acknowledge",
    "GET /v1/event-type",
    "GET /v1/rules/{rule_id}/traces",
}


@pytest.fixture(scope="module")
def api(
    postgres: PostgresServer, migrated_database: str, kafka: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LiveApi]:
    publish_everything(migrated_database)
    issue_voids(migrated_database, {100 + name: command_id(name) for name in range(SEEDED)})
    projector = postgres.login(migrated_database, "tripline_alert_projector")
    groups: tuple[dict[str, str], ...] = ({"payeeId": "25"}, {"paymentType": "CSH"}, {})
    seed(
        projector,
        [
            alert(number, ruleId=1 + number % 3, group=groups[number % 3], eventTime=EPOCH + number // 2)
            for number in range(SEEDED)
        ],
        [void(number, number) for number in range(1, SEEDED, 2)],
    )
    login = postgres.login(migrated_database, "tripline_alert_api")
    create(KafkaCluster(kafka), [topics.load("rule-traces.v1")])
    produce_traces(kafka, "rule-traces.v1", [trace(number) for number in range(SEEDED)])
    with live_api(login, tmp_path_factory.mktemp("alert-api"), kafka=kafka) as running:
        yield running


class Supply:
    """Makes three of four positive cases point at an alert that is there; the fourth stays a guess."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client
        self._turns = itertools.count()

    def fill(self, case: Any) -> None:
        meta = case.meta
        if meta is None or meta.generation.mode is not GenerationMode.POSITIVE:
            return
        if (case.query or {}).get("cursor") is not None:
            self._give_cursor(case)
        if case.path.endswith("/summary") and (case.query or {}).get("from") is not None:
            # A span of at most 31 days that ends after it begins: two fields that must agree.
            begin = min(int(case.query["from"]), MAX_MS - MONTH_MS)
            case.query = {
                **case.query,
                "from": begin,
                "to": begin + int(case.query.get("to") or 0) % MONTH_MS,
            }
        turn = next(self._turns)
        if turn % 4 and meta.phase.name.value != "stateful" and "alert_id" in (case.path_parameters or {}):
            case.path_parameters["alert_id"] = alert_id(turn % SEEDED)
        if turn % 4 and "rule_id" in (case.path_parameters or {}):
            case.path_parameters["rule_id"] = trace()["ruleId"]

    def _give_cursor(self, case: Any) -> None:
        """A real one of these filters, or none where there is no next page."""
        query = {name: value for name, value in case.query.items() if name != "cursor"}
        link = self._client.get(case.path, params={**query, "limit": 1}).links.get("next")
        case.query = {**query, "cursor": httpx.URL(link["url"]).params["cursor"]} if link else query


def test_every_operation_keeps_its_contract(
    api: LiveApi, record_property: Callable[[str, object], None]
) -> None:
    with api.client() as client:
        outcome = run(api.url, "ada-key-for-tests", Supply(client).fill, without=["/v1/alerts/stream"])
    record_property("told", "\n" + outcome.table())
    assert not outcome.failures, "\n\n".join(outcome.failures[:5])
    assert {"coverage", "fuzzing"} <= outcome.phases, outcome.phases
    assert any(phase.startswith("stateful") for phase in outcome.phases), outcome.phases
    assert set(outcome.statuses) == OPERATIONS
    for operation, counted in outcome.statuses.items():
        assert counted.total() >= EXAMPLES, f"{operation} was asked {counted.total()} times"
        assert outcome.share(operation) > 0, f"{operation} was never answered with 2xx: {dict(counted)}"
