"""The alert API and its console under each event type."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from alert_api.adapters.alert_schema import alert_validator
from alert_api.openapi import document
from tests.unit.alert_api.support.samples import FakeAlerts, alert, app, key
from tripline_contracts import event_type_loader
from tripline_contracts.errors import SchemaViolation
from tripline_contracts.event_type import EventType
from tripline_contracts.rules.rule_templates import templates_of

VIEWER, AS_VIEWER = key("viewer", "alerts:read")
TYPES = [event_type_loader.load(name) for name in event_type_loader.shipped()]
CARD = event_type_loader.load("card-authorisation")
EXAMPLES = Path(event_type_loader.__file__).parent / "examples" / "card-authorisation" / "alerts.v1"


@pytest.mark.parametrize("declared", TYPES, ids=lambda declared: str(declared.name))
def test_callers_are_told_what_is_judged(declared: EventType) -> None:
    client = app(keys=(VIEWER,), declared=declared).test_client()
    assert client.get("/v1/event-type").status_code == 401
    told = client.get("/v1/event-type", headers=AS_VIEWER).get_json()
    schema = json.loads(document(declared))["components"]["schemas"]["EventType"]
    Draft202012Validator(schema).validate(told)
    assert (told["name"], told["plural"], told["anchors"]) == (
        declared.name,
        declared.plural,
        [*declared.anchors],
    )
    assert [field["name"] for field in told["fields"]] == [field.name for field in declared.fields]
    parties = {one["name"]: [side["field"] for side in one["sides"]] for one in told["parties"]}
    assert parties == {party.name: [*party.fields] for party in declared.parties}
    assert [field["name"] for field in told["fields"] if field["groupable"]] == [*declared.groupable]


@pytest.mark.parametrize("declared", TYPES, ids=lambda declared: str(declared.name))
def test_the_console_is_told_before_anybody_signs_in(declared: EventType) -> None:
    client = app(keys=(VIEWER,), declared=declared).test_client()
    told = client.get("/console/event-type").get_json()
    templates = told.pop("templates")
    assert told == client.get("/v1/event-type", headers=AS_VIEWER).get_json()
    assert templates == [template.to_json() for template in templates_of(declared)]
    assert len(templates) > 4


def test_a_type_that_was_declared_elsewhere_has_no_templates() -> None:
    declared = event_type_loader.from_mapping(
        {
            "name": "log-in",
            "version": 1,
            "anchors": ["account", "global"],
            "fields": [
                {"name": "id", "role": "id", "kind": "string", "required": True, "maxLength": 36},
                {"name": "at", "role": "time", "kind": "timestamp", "required": True},
                {"name": "account", "role": "key", "kind": "string", "maxLength": 64},
            ],
        }
    )
    told = app(declared=declared).test_client().get("/console/event-type").get_json()
    assert (told["templates"], told["noun"]) == ([], "transaction")


def test_groups_are_asked_for_by_the_types_fields() -> None:
    alerts = FakeAlerts(1)
    client = app(alerts=alerts, keys=(VIEWER,), declared=CARD).test_client()
    assert client.get("/v1/alerts?group=deviceId:d-9", headers=AS_VIEWER).status_code == 200
    assert alerts.asked[0].group == (("deviceId", "d-9"),)
    answer = client.get("/v1/alerts?group=payeeId:25", headers=AS_VIEWER)
    assert answer.status_code == 422
    assert "group" in answer.get_json()["errors"][0]["field"]


def test_the_document_is_of_the_type() -> None:
    text = document(CARD)
    assert "merchantCategory" in text
    assert "payeeId" not in text


def test_an_alert_is_taken_in_by_its_type() -> None:
    check = alert_validator(CARD)
    paths = sorted(EXAMPLES.glob("*.json"))
    for file in paths:
        check(json.loads(file.read_text(encoding="utf-8")))
    assert paths
    with pytest.raises(SchemaViolation):
        check(alert(1))
