"""Judgements over HTTP: what is asked of the prover, and who may ask."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from importlib import resources
from typing import Any, get_args

import httpx
import pytest
from flask.testing import FlaskClient

from alert_api.adapters.prover.http_prover import HttpProver
from alert_api.api.console_data import Line
from alert_api.api.proofs.judgement import with_snoozes
from alert_api.api.proofs.proof_schemas import REASONS
from tests.unit.alert_api.support.fake_snoozes import FakeSnoozes
from tests.unit.alert_api.support.samples import NOWHERE, app, key
from tripline_engine.domain.proof.reasons import Reason

VIEWER, AS_VIEWER = key("viewer", "alerts:read")
CLERK, AS_CLERK = key("clerk", "rules:read")


class Asked:
    """A client, and what its prover was asked."""

    def __init__(self, status: int = 200, reason: str = "", rules: Sequence[object] = ()) -> None:
        self.questions: list[tuple[str, object]] = []
        refusal: dict[str, Any] = {"reason": reason, "detail": "x"}
        self._answer = (status, refusal if reason else {"rules": list(rules)})

    def client(self) -> FlaskClient:
        prover = HttpProver("http://prover", "secret", httpx.MockTransport(self._prove))
        line = Line(NOWHERE, prover=prover)
        return app(line=line, keys=(VIEWER, CLERK)).test_client()

    def _prove(self, request: httpx.Request) -> httpx.Response:
        self.questions.append((request.url.path, json.loads(request.content)))
        status, body = self._answer
        return httpx.Response(status, json=body)


@pytest.mark.parametrize(
    ("path", "transaction_id", "event_time"),
    [
        ("t-1/judgement", "t-1", None),
        ("t-1/judgement?eventTime=1700000000000", "t-1", 1_700_000_000_000),
        ("%C3%A9%20%F0%9D%92%B3/judgement", "é 𝒳", None),
    ],
)
def test_the_id_and_the_time_are_handed_on(path: str, transaction_id: str, event_time: int | None) -> None:
    asked = Asked()
    said = asked.client().get(f"/v1/transactions/{path}", headers=AS_VIEWER)
    assert (said.status_code, said.get_json()) == (200, {"rules": []})
    assert asked.questions == [("/v1/judgements", {"transactionId": transaction_id, "eventTime": event_time})]


def test_what_is_no_id_is_not_asked() -> None:
    asked = Asked()
    client = asked.client()
    assert client.get(f"/v1/transactions/{'x' * 65}/judgement", headers=AS_VIEWER).status_code == 404
    assert client.get("/v1/transactions/a%00b/judgement", headers=AS_VIEWER).status_code == 404
    assert client.get("/v1/transactions/t/judgement?eventTime=-1", headers=AS_VIEWER).status_code == 422
    assert asked.questions == []


def test_one_that_nobody_judged_and_who_may_not_ask() -> None:
    asked = Asked(404, "nothing-there")
    client = asked.client()
    assert client.get("/v1/transactions/t/judgement", headers=AS_VIEWER).status_code == 404
    assert client.get("/v1/transactions/t/judgement", headers=AS_CLERK).status_code == 403


def test_an_alert_that_a_snooze_covers_is_said_to_be_snoozed() -> None:
    snoozes = FakeSnoozes()
    snoozes.marks["a1"] = 12
    rules: list[dict[str, Any]] = [
        {"ruleId": number, "reason": "alerted", "alertId": f"a{number}"} for number in (1, 2)
    ]
    rules.append({"ruleId": 3, "reason": "limit", "alertId": None})
    assert [(rule["reason"], rule["snoozeId"]) for rule in with_snoozes(rules, snoozes)] == [
        ("snoozed", 12),
        ("alerted", None),
        ("limit", None),
    ]


def test_every_rule_says_whether_a_snooze_covers_its_alert() -> None:
    asked = Asked(rules=[{"reason": "alerted", "alertId": "a1"}])
    [rule] = asked.client().get("/v1/transactions/t/judgement", headers=AS_VIEWER).get_json()["rules"]
    assert rule == {"reason": "alerted", "alertId": "a1", "snoozeId": None}


def test_the_document_and_the_console_know_each_reason_that_the_engine_gives() -> None:
    assert {*REASONS} == {*get_args(Reason), "snoozed"}
    console = resources.files("alert_api") / "console" / "alerts" / "why_not.js"
    table = re.search(r"const REASONS = \{(.*?)\};", console.read_text(encoding="utf-8"), re.DOTALL)
    assert table is not None
    assert set(re.findall(r"^  (\w+): \"[^\"]{5,}\",$", table[1], re.MULTILINE)) == {*REASONS}
