"""schemathesis against the running alert API on a real Postgres with alerts in it: every check, every phase."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.contract.support.alert_cases import KEY, Supply, seeded_api
from tests.contract.support.schemathesis_campaign import EXAMPLES, run
from tests.integration.alert_api.support.api_process import LiveApi
from tests.servers import PostgresServer

pytestmark = [pytest.mark.contract, pytest.mark.slow, pytest.mark.timeout(1500)]

OPERATIONS = {
    "GET /v1/alerts",
    "GET /v1/alerts/summary",
    "GET /v1/alerts/{alert_id}",
    "GET /v1/alerts/{alert_id}/events",
    "POST /v1/alerts/{alert_id}/acknowledge",
    *(
        f"POST /v1/alerts/{{alert_id}}/{action}"
        for action in ("claim", "assign", "resolve", "reopen", "comment")
    ),
    "POST /v1/alerts/{alert_id}/verification",
    "GET /v1/alerts/{alert_id}/verifications",
    "GET /v1/rejected-records",
    "GET /v1/rejected-records/counts",
    "GET /v1/rejected-records/{record_id}",
    "POST /v1/rejected-records/{record_id}/send-again",
    "POST /v1/rejected-records/{record_id}/discard",
    "GET /v1/cases",
    "GET /v1/cases/summary",
    "POST /v1/cases/bulk",
    "GET /v1/cases/{case_id}",
    "GET /v1/cases/{case_id}/alerts",
    "GET /v1/cases/{case_id}/episodes",
    "GET /v1/cases/{case_id}/events",
    "GET /v1/cases/{case_id}/graph",
    *(
        f"POST /v1/cases/{{case_id}}/{action}"
        for action in ("acknowledge", "claim", "assign", "resolve", "reopen", "comment")
    ),
    "GET /v1/webhooks",
    "POST /v1/webhooks",
    "GET /v1/webhooks/{webhook_id}",
    "PUT /v1/webhooks/{webhook_id}",
    "DELETE /v1/webhooks/{webhook_id}",
    "GET /v1/webhooks/history",
    "POST /v1/webhooks/{webhook_id}/pause",
    "POST /v1/webhooks/{webhook_id}/resume",
    "GET /v1/webhooks/{webhook_id}/deliveries",
    "POST /v1/webhooks/{webhook_id}/approve",
    "POST /v1/webhooks/{webhook_id}/test",
    "POST /v1/webhooks/{webhook_id}/replay",
    "POST /v1/webhooks/{webhook_id}/rotate",
    "GET /v1/snoozes",
    "POST /v1/snoozes",
    "GET /v1/snoozes/summary",
    "GET /v1/snoozes/{snooze_id}",
    "POST /v1/snoozes/{snooze_id}/approve",
    "POST /v1/snoozes/{snooze_id}/reject",
    "POST /v1/snoozes/{snooze_id}/end",
    "POST /v1/alerts/{alert_id}/evidence",
    "POST /v1/cases/{case_id}/evidence",
    "GET /v1/evidence-keys",
    "GET /v1/health",
    "GET /v1/views",
    "PUT /v1/views/{name}",
    "DELETE /v1/views/{name}",
    "GET /v1/rule-performance",
    "GET /v1/rule-performance/export",
    "GET /v1/rules/{rule_id}/performance",
    "GET /v1/rules/{rule_id}/shadow",
    "GET /v1/alerts/{alert_id}/explanation",
    "GET /v1/alerts/{alert_id}/contributors",
    "GET /v1/transactions/{transaction_id}/judgement",
    "GET /v1/event-type",
    "GET /v1/rules/{rule_id}/traces",
    "POST /v1/session",
    "GET /v1/session",
    "DELETE /v1/session",
}


@pytest.fixture(scope="module")
def api(
    postgres: PostgresServer, migrated_database: str, kafka: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LiveApi]:
    with seeded_api(postgres, migrated_database, kafka, tmp_path_factory.mktemp("alert-api")) as running:
        yield running


def test_every_operation_keeps_its_contract(
    api: LiveApi, record_property: Callable[[str, object], None]
) -> None:
    with api.client() as client:
        outcome = run(api.url, KEY, Supply(client).fill, without=["/v1/alerts/stream"])
    record_property("told", "\n" + outcome.table())
    assert not outcome.failures, "\n\n".join(outcome.failures[:5])
    assert {"coverage", "fuzzing"} <= outcome.phases, outcome.phases
    assert any(phase.startswith("stateful") for phase in outcome.phases), outcome.phases
    assert set(outcome.statuses) == OPERATIONS
    for operation, counted in outcome.statuses.items():
        assert counted.total() >= EXAMPLES, f"{operation} was asked {counted.total()} times"
        assert outcome.share(operation) > 0, f"{operation} was never answered with 2xx: {dict(counted)}"
