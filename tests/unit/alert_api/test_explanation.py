"""Explanations over HTTP: the sentence, the conditions, the rule as it was then and since, and all contributors."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import httpx
import pytest
from flask.testing import FlaskClient

from alert_api.adapters.prover.http_prover import HttpProver
from alert_api.adapters.upstream import Upstream
from alert_api.api.console_data import Line
from alert_api.service.explanation_words import ExplanationWords, moment
from tests.unit.alert_api.support.samples import EPOCH, FakeAlerts, alert, alert_id, app, key
from tripline_contracts import event_type_loader

VIEWER, AS_VIEWER = key("viewer", "alerts:read", "rules:read")
PATH = f"/v1/alerts/{alert_id(1)}"
WORDS = ExplanationWords(event_type_loader.load())
DEFINITION = {"aggregatorFunctionType": "SUM", "aggregateFieldName": "paymentAmount"}
VERSION: dict[str, Any] = {
    "ruleId": 1, "version": 1, "name": "Large sums", "definition": DEFINITION, "actor": "ada", "occurredAt": 5,
    "reason": "as the article says", "effectiveFrom": 4, "effectiveUntil": None, "position": 17,
}  # fmt: skip
CHANGE = {"position": 17, "author": "ada", "decidedBy": "eve", "decidedAt": 6}


class FakeRegistry:
    """Answers by path; what is not there is 404."""

    def __init__(self, **answers: Any) -> None:
        self.answers = {
            "/v1/rules/1/versions/1": VERSION,
            "/v1/changes": {"items": [{**CHANGE, "position": 3}, CHANGE]},
            "/v1/rules/1": {"version": 3, "state": "PAUSED"},
            "/v1/rules/1/diff": {"summary": "limit 1000 → 1500"},
            **answers,
        }
        self.asked: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        answer = self.answers.get(request.url.path)
        return httpx.Response(200 if answer is not None else 404, json=answer or {})


def proof(request: httpx.Request) -> httpx.Response:
    """A prover that finds everything as it stands."""
    asked = json.loads(request.content)
    if request.url.path == "/v1/verifications":
        return httpx.Response(200, json={"outcome": "match", "derived": asked["alert"]})
    after, limit = asked["after"], asked["limit"]
    prefix = "t" if asked["of"] == "value" else "limit-"
    items = [{"transactionId": f"{prefix}{n}"} for n in range(after, min(250, after + limit))]
    following = after + limit if after + limit < 250 else None
    return httpx.Response(200, json={"count": 250, "listed": 250, "items": items, "next": following})


def relative_alert() -> dict[str, Any]:
    """Of the contracts' examples."""
    example = resources.files("tripline_contracts") / "examples" / "alerts.v1" / "relative.json"
    told: dict[str, Any] = json.loads(example.read_text())
    return told


def client_of(registry: Any, **contents: Any) -> FlaskClient:
    line = Line(
        Upstream("The rules registry", "http://registry", httpx.MockTransport(registry)),
        prover=HttpProver("http://prover", "secret", httpx.MockTransport(proof)),
    )
    alerts = FakeAlerts(1)
    alerts.contents[alert_id(1)].update(contents)
    return app(alerts=alerts, line=line, keys=(VIEWER,)).test_client()


def test_an_explanation() -> None:
    registry = FakeRegistry()
    said = client_of(registry).get(f"{PATH}/explanation", headers=AS_VIEWER).get_json()
    assert said["sentence"] == (
        "Rule “Large sums” (version 1) raised this alert at payment t1 of"
        f" {moment(EPOCH + 1)}: for payer 25 the sum of amounts was 1000.01, over the limit 1000, over 1"
        f" payment from {moment(EPOCH + 1 - 60_000)} to {moment(EPOCH + 1)}."
    )
    (condition,) = said["conditions"]
    assert (condition["value"], condition["operator"], condition["limit"]) == ("1000.01", ">", "1000")
    assert condition["aggregatorFunctionType"] == "SUM"
    assert condition["contributors"] == alert(1)["contributors"]
    assert condition["limitMeasure"] is None
    rule = said["rule"]
    assert (rule["author"], rule["publishedBy"], rule["reason"]) == ("ada", "ada", "as the article says")
    assert (rule["approvedBy"], rule["approvedAt"]) == ("eve", 6)
    assert (rule["versionNow"], rule["stateNow"], rule["changedSince"]) == (3, "PAUSED", "limit 1000 → 1500")
    # as the caller, who may see less than others
    assert {request.headers["Authorization"] for request in registry.asked} == {AS_VIEWER["Authorization"]}


WEIGHED: dict[str, Any] = {
    "sum": "50", "atLeast": "45", "holds": True,
    "weights": [
        {"weight": "30", "holds": True, "conditions": [1]},
        {"weight": "20", "holds": True, "conditions": [2, 3]},
        {"weight": "-5", "holds": False, "conditions": [4]},
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "add up to 50 (30 for condition 1 and 20 for conditions 2 and 3), at least 45."),
        ({"holds": False, "atLeast": "51"}, "for conditions 2 and 3), less than 51."),
        ({"holds": False, "sum": "0", "weights": []}, "the weights of what held add up to 0, less than 45."),
        ({"holds": False, "sum": None}, "weights could not be added up: a parameter had no value yet."),
    ],
)
def test_weights_are_told(changes: dict[str, Any], said: str) -> None:
    chained = {**alert(1), "conditions": [{**alert(1), **DEFINITION, "holds": True}]}
    assert WORDS.sentence({**chained, "weighted": [{**WEIGHED, **changes}]}, None).endswith(said)


UNTOLD = ("reason", "effectiveUntil")
"""What the registry shows of a version, and an event has only where it is said."""
PUBLISHED = {name: value for name, value in VERSION.items() if name not in UNTOLD} | {"type": "RulePublished"}
EVENTS = [{**PUBLISHED, "type": "RulePaused", "version": 2, "position": 3}, PUBLISHED]
BESIDE = {"version": 3, "definitionVersion": 1, "state": "ACTIVE", "shadow": {"version": 2}}
ON_TRIAL = {**BESIDE, "definitionVersion": 0, "shadow": {"version": 1}}


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        (
            {"/v1/rules/1/versions/1": None, "/v1/rules/1": None, "/v1/rule-events": {"items": EVENTS}},
            {
                "name": "Large sums",
                "author": "ada",
                "approvedBy": "eve",
                "changedSince": "The rule is deleted.",
            },
        ),
        ({"/v1/changes": {"items": []}}, {"author": "ada", "approvedBy": None}),
        ({"/v1/rules/1": {"version": 1, "state": "ACTIVE"}}, {"versionNow": 1, "changedSince": None}),
        ({"/v1/rules/1": BESIDE}, {"versionNow": 3, "changedSince": None}),
        ({"/v1/rules/1": ON_TRIAL}, {"versionNow": 3, "changedSince": None}),
        ({"/v1/rules/1": None}, {"versionNow": None, "changedSince": "The rule is deleted."}),
        ({"/v1/rules/1/versions/1": None}, {"name": None, "definition": None, "author": None}),
    ],
    ids=["deleted, with events", "no approval", "the same", "a shadow", "on trial", "deleted", "not shown"],
)
def test_what_the_registry_does_not_say(answers: dict[str, Any], expected: dict[str, Any]) -> None:
    said = client_of(FakeRegistry(**answers)).get(f"{PATH}/explanation", headers=AS_VIEWER)
    rule = said.get_json()["rule"]
    assert {name: rule[name] for name in expected} == expected
    assert (rule["unavailable"] is None) == (rule["name"] is not None)


def test_without_a_registry_the_alert_is_explained_all_the_same() -> None:
    def silent(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    said = client_of(silent).get(f"{PATH}/explanation", headers=AS_VIEWER).get_json()
    assert said["rule"]["unavailable"] == "The rules registry does not answer now."
    assert "the value was 1000.01, over the limit 1000" in said["sentence"]


def test_an_explanation_has_what_a_limit_was_made_of() -> None:
    told = relative_alert()
    said = client_of(FakeRegistry(), **told).get(f"{PATH}/explanation", headers=AS_VIEWER).get_json()
    (condition,) = said["conditions"]
    behind = told["conditions"][0]["limitMeasure"]
    names = ("aggregatorFunctionType", "value", "times", "plus", "windowStart", "windowEnd", "contributors")
    assert {name: condition["limitMeasure"][name] for name in names} == {name: behind[name] for name in names}
    assert (condition["limitMeasure"]["plusDeviations"], condition["limitMeasure"]["deviation"]) == (
        None,
        None,
    )


@pytest.mark.parametrize(("of", "prefix"), [("", "t"), ("&of=value", "t"), ("&of=limit", "limit-")])
def test_all_contributors_page_by_page(of: str, prefix: str) -> None:
    client, path, seen = client_of(FakeRegistry()), f"{PATH}/contributors?limit=100{of}", []
    while path:
        said = client.get(path, headers=AS_VIEWER)
        seen += [item["transactionId"] for item in said.get_json()["items"]]
        link = said.headers.get("Link")
        path = link.partition(">")[0].removeprefix("<") if link else ""
    assert seen == [f"{prefix}{n}" for n in range(250)]


def test_a_cursor_of_another_condition_is_refused() -> None:
    client = client_of(FakeRegistry())
    link = client.get(f"{PATH}/contributors", headers=AS_VIEWER).headers["Link"]
    for changed in ("condition=1", "of=limit"):
        other = link.partition(">")[0].removeprefix("<").replace("cursor=", f"{changed}&cursor=")
        assert client.get(other, headers=AS_VIEWER).status_code == 400


STEP = {"field": "paymentAmount", "step": "50"}
MEASURED: dict[str, Any] = {
    "aggregatorFunctionType": "COUNT", "aggregateFieldName": None, "value": "5", "operator": ">=", "limit": "4",
    "windowStart": EPOCH, "windowEnd": EPOCH + 1000, "holds": True, "contributors": {"count": 5},
}  # fmt: skip


def chained() -> dict[str, Any]:
    condition = MEASURED
    least = {
        **condition, "aggregatorFunctionType": "MIN", "aggregateFieldName": "paymentAmount", "value": "0.01",
        "operator": "<=", "limit": "1",
    }  # fmt: skip
    missed = {**condition, "holds": False}
    return {**alert(1), "group": {}, "value": None, "conditions": [condition, least, missed], "warm": False}


def test_a_rule_of_conditions_in_words() -> None:
    said = WORDS.sentence(chained(), None)
    assert "for all payments together the number of payments was 5, at least the limit 4" in said
    assert "; the least amount was 0.01, at most the limit 1" in said
    assert said.count("the limit") == 2
    assert said.endswith(
        "The window was not full yet: there may have been payments that the engine had not seen."
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"late": {"newestEventTime": 7}}, "The payment came late"),
        (
            {"partial": True, "late": {"transactionId": "t9", "eventTime": 3}},
            "judged again when t9 came in late",
        ),
        ({"partial": True}, "judged after the fact"),
        ({"precision": {"bucketSeconds": 60}}, "made of whole buckets"),
        ({"group": {"payeeId": "25", "beneficiaryId": "12"}}, "for payer 25 and beneficiary 12 the"),
        (
            {"group": {"payeeId": "25", "paymentAmount": "-50"}, "groupingKeyNames": ["payeeId", STEP]},
            "for payer 25 and amount -50 in steps of 50 the",
        ),
        (
            {"group": {"paymentAmount": "0"}, "conditions": [{**MEASURED, "groupingKeyNames": [STEP]}]},
            "for amount 0 in steps of 50 the",
        ),
    ],
)
def test_what_is_special_about_it(changes: dict[str, Any], said: str) -> None:
    assert said in WORDS.sentence(alert(1, **changes), DEFINITION)


@pytest.mark.parametrize(
    ("function", "field", "said"),
    [
        ("SECONDS_SINCE_PREVIOUS", None, "the time in seconds since the payment before was "),
        ("SECONDS_SINCE_FIRST", None, "the time in seconds since the first payment of the window was "),
        ("STDDEV", "paymentAmount", "the standard deviation of amounts was "),
        ("CHANGED", "payeeId", "the change of payer since the payment before (1 if changed, else 0) was "),
        ("SPEED_KMH", "payeeId", "the speed in km/h from the last payer was "),
    ],
)
def test_what_looks_at_the_one_before(function: str, field: str | None, said: str) -> None:
    definition = {"aggregatorFunctionType": function, "aggregateFieldName": field}
    assert said in WORDS.sentence(alert(1), definition)


def test_of_another_event_type_in_its_words() -> None:
    words = ExplanationWords(event_type_loader.load("card-authorisation"))
    made = {**alert(1), "group": {"cardId": "77", "gone": "x"}}
    said = words.sentence({**made, "transaction": {"authorisationId": "a1"}}, None)
    assert "raised this alert at authorisation a1 of" in said
    assert "for card 77 and gone x the value was" in said


def test_a_relative_limit_says_what_it_was_made_of() -> None:
    told = relative_alert()
    sentence = WORDS.sentence(told, None)
    assert "3500, over the limit 1000.000001" in sentence
    assert (
        "(the limit is 3 times the average of amounts, 333.333334, over 3 payments from"
        " 2025-10-20 12:20:00 UTC to 2025-11-19 12:20:00 UTC)" in sentence
    )
    measure = told["conditions"][0]["limitMeasure"]
    measure["plus"] = "5"
    assert " UTC plus 5)" in WORDS.sentence(told, None)


def test_a_limit_in_deviations_says_how_many_and_what_one_is() -> None:
    example = resources.files("tripline_contracts") / "examples" / "alerts.v1" / "in-deviations.json"
    sentence = WORDS.sentence(json.loads(example.read_text()), None)
    assert "12, over the limit 11.41427" in sentence
    assert "the limit is 1 times the average of amounts, 5, over 8 payments" in sentence
    assert " UTC plus 3 standard deviations of 2.13809)" in sentence


def test_of_a_party_the_side_is_said() -> None:
    made = {**alert(1), "group": {"account": "25"}, "side": "payee"}
    assert "for account 25 as payee " in WORDS.sentence(made, None)
