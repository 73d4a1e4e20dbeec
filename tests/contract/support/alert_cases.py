"""What schemathesis is given to ask the alert API with: a database with alerts in it, and cases that point at them.

Positive cases get what no generator can guess: the id of an alert that is there, a cursor of this listing. Negative
cases go out as they were made.
"""

from __future__ import annotations

import itertools
import json
import secrets
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
from schemathesis.generation import GenerationMode

from alert_api.adapters.evidence.ed25519 import new_private_key
from alert_api.adapters.postgres_intake import PostgresIntake
from alert_api.adapters.rejected.postgres_redrive import PostgresRedrive
from alert_api.domain.cases.policy import CasePolicy
from alert_api.domain.rejected_records import RecordPlace
from alert_api.service.rejected.reading import ReceivedReject
from tests.contract.support.case_supply import CaseSupply
from tests.contract.support.in_memory_prover import in_memory_prover
from tests.contract.support.snooze_supply import SUBJECT_FIELD, SnoozeSupply
from tests.contract.support.webhook_supply import HOST, WebhookSupply
from tests.integration.alert_api.support.api_process import LiveApi, live_api, seed
from tests.integration.alert_api.support.servers import produce_traces
from tests.registry_log import issue_voids, publish_everything
from tests.servers import PostgresServer
from tests.unit.alert_api.support.samples import EPOCH, alert, alert_id, command_id, trace, void
from tripline_contracts import topics
from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_demo.topics import create
from tripline_http.fields import MAX_MS

SEEDED = 60
REJECTED = 1000
"""More than are decided about: each takes one decision."""
TRANSACTION = json.dumps(
    {key: value for key, value in alert()["transaction"].items() if value is not None}
    | {"beneficiaryId": "12"}
)
MONTH_MS = 30 * 24 * 3_600_000
OF_WORK = tuple(f"{{alert_id}}/{action}" for action in ("claim", "assign", "resolve", "reopen", "comment"))
KEY = "ada-key-for-tests"
SECOND = {"Authorization": "Bearer bob-key-for-tests"}
OF_SPANS = ("/summary", "performance", "/export", "/shadow")


@contextmanager
def seeded_api(postgres: PostgresServer, database: str, kafka: str, folder: Path) -> Iterator[LiveApi]:
    """The alert API with alerts of three rules, some of them voided, and traces."""
    publish_everything(database)
    issue_voids(database, {100 + name: command_id(name) for name in range(SEEDED)})
    projector = postgres.login(database, "tripline_alert_projector")
    groups: tuple[dict[str, str], ...] = ({"payeeId": "25"}, {"paymentType": "CSH"}, {})
    seed(
        projector,
        [
            alert(number, ruleId=1 + number % 3, group=groups[number % 3], eventTime=EPOCH + number // 2)
            for number in range(SEEDED)
        ],
        [void(number, number) for number in range(1, SEEDED, 2)],
    )
    with PostgresIntake(projector, CasePolicy(None, (SUBJECT_FIELD,))) as intake:
        intake.store([], [])  # what no case is about cannot be snoozed
    with closing(PostgresRedrive(postgres.login(database, "tripline_alert_redrive"))) as store:
        store.store([_reject(offset) for offset in range(REJECTED)])
    login = postgres.login(database, "tripline_alert_api")
    create(KafkaCluster(kafka), [topics.load("rule-traces.v1")])
    produce_traces(kafka, "rule-traces.v1", [trace(number) for number in range(SEEDED)])
    with (
        in_memory_prover(SEEDED, folder) as prover,
        live_api(
            login, folder, kafka=kafka, more=prover | evidence_key(folder) | webhook_settings(folder)
        ) as running,
    ):
        yield running


def webhook_settings(folder: Path) -> dict[str, str]:
    """Webhooks of one host that is nowhere."""
    key = folder / "webhook.key"
    key.write_text(secrets.token_urlsafe(32))
    return {"TRIPLINE_WEBHOOK_HOSTS": HOST, "TRIPLINE_WEBHOOK_KEY_FILE": str(key)}


def evidence_key(folder: Path) -> dict[str, str]:
    """The setting of a key that signs evidence."""
    file = folder / "evidence-key.pem"
    file.write_text(new_private_key())
    return {"TRIPLINE_EVIDENCE_KEY_FILE": str(file)}


def _reject(offset: int) -> ReceivedReject:
    """One that is well formed: sent again as it came it could be read."""
    value = TRANSACTION.encode()
    return ReceivedReject(
        "transactions.v1", RecordPlace(0, offset), "too_late", "a day", len(value), "ab" * 32, value, EPOCH
    )


class Supply:
    """Makes three of four positive cases point at an alert that is there; the fourth stays a guess."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client
        self._turns = itertools.count()
        self._work = CaseSupply(client)
        self._snoozes = SnoozeSupply(client, SECOND)
        self._webhooks = WebhookSupply(client, SECOND)

    def fill(self, case: Any) -> None:
        meta = case.meta
        if meta is None or meta.generation.mode is not GenerationMode.POSITIVE:
            return
        if case.path.startswith("/v1/snoozes"):
            self._snoozes.fill(case, next(self._turns))
            return
        if case.path.startswith("/v1/webhooks"):
            self._webhooks.fill(case, next(self._turns))
            return
        if case.path.endswith(OF_WORK) or case.path.startswith("/v1/cases"):
            self._work.fill(case, next(self._turns))
            return
        if case.path.endswith("/contributors"):
            # the rules have one condition each, and fewer contributors than a page
            case.query = {name: value for name, value in (case.query or {}).items() if name == "limit"}
        elif (case.query or {}).get("cursor") is not None:
            self._give_cursor(case)
        if case.path.endswith(OF_SPANS) and (case.query or {}).get("from") is not None:
            # A span of at most 31 days that ends after it begins: two fields that must agree.
            begin = min(int(case.query["from"]), MAX_MS - MONTH_MS)
            case.query = {
                **case.query,
                "from": begin,
                "to": begin + int(case.query.get("to") or 0) % MONTH_MS,
            }
        if case.path == "/v1/session" and isinstance(case.body, dict):
            # Each guess would be a wrong key, and after ten of them nobody is told more.
            case.body = {**case.body, "key": KEY}
        turn = next(self._turns)
        if "record_id" in (case.path_parameters or {}):
            self._point_record(case, turn)
        if turn % 4 and meta.phase.name.value != "stateful" and "alert_id" in (case.path_parameters or {}):
            case.path_parameters["alert_id"] = alert_id(turn % SEEDED)
        if turn % 4 and "transaction_id" in (case.path_parameters or {}):
            case.path_parameters["transaction_id"] = f"t{turn % SEEDED}"
            case.query = {}
        if turn % 4 and "rule_id" in (case.path_parameters or {}):
            case.path_parameters["rule_id"] = trace()["ruleId"]

    def _point_record(self, case: Any, turn: int) -> None:
        """A record that is there; to decide about, another one each time. No generator writes a transaction."""
        case.path_parameters["record_id"] = f"0-{turn % REJECTED}"
        if isinstance(case.body, dict) and "value" in case.body:
            case.body["value"] = TRANSACTION

    def _give_cursor(self, case: Any) -> None:
        """A real one of these filters, or none where there is no next page."""
        query = {name: value for name, value in case.query.items() if name != "cursor"}
        link = self._client.get(case.path, params={**query, "limit": 1}).links.get("next")
        case.query = {**query, "cursor": httpx.URL(link["url"]).params["cursor"]} if link else query
