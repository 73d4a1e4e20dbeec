"""The committed OpenAPI document is the one that the alert API writes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from alert_api.api.schemas import alert_schema
from alert_api.openapi import document
from tests.unit.alert_api.support.samples import alert
from tripline_contracts import event_type_loader, schemas
from tripline_demo import paths

pytestmark = pytest.mark.contract

COMMITTED = paths.project_root() / "contracts" / "openapi" / "alert-api.json"

SESSION: dict[str, list[dict[str, list[str]]]] = {
    "post /v1/session": [],
    "get /v1/session": [{"apiKey": []}],
    "delete /v1/session": [{"apiKey": []}],
}
"""Who signs in has the key in the body; who asks who they are needs no scope."""


def test_the_committed_document_is_current() -> None:
    assert COMMITTED.read_text(encoding="utf-8") == document(), (
        "Write it anew: .venv/bin/alert-api openapi > contracts/openapi/alert-api.json"
    )


def operations() -> list[tuple[str, dict[str, Any]]]:
    paths_of = json.loads(document())["paths"]
    return [
        (f"{method} {path}", operation)
        for path, item in paths_of.items()
        for method, operation in item.items()
        if method != "parameters"
    ]


def test_every_error_is_documented_as_a_problem() -> None:
    responses = json.loads(document())["components"]["responses"]
    assert {"UNAUTHORIZED", "NOT_FOUND", "CONFLICT"} <= responses.keys()
    for response in responses.values():
        assert list(response["content"]) == ["application/problem+json"]


def test_every_operation_needs_a_scope_and_has_a_name() -> None:
    served = operations()
    assert len(served) == 17 + 14 + 11 + 7 + 5 + 14 + len(SESSION)
    for name, operation in served:
        assert operation["operationId"], name
        if name in SESSION:
            assert operation["security"] == SESSION[name], name
            continue
        assert operation["security"] == [{"apiKey": []}], name
        assert operation["x-required-scope"].startswith(("alerts:", "controls:", "rules:approve")), name


def test_an_item_is_the_contracts_alert_and_seven_members_more() -> None:
    schema = alert_schema(event_type_loader.load())
    received = schemas.load("alerts.v1")
    added = {
        "state",
        "acknowledgedBy",
        "acknowledgedAt",
        "acknowledgementComment",
        "voided",
        "snoozeId",
        "caseId",
    }
    assert set(schema["properties"]) == set(received["properties"]) | added
    assert "$ref" not in json.dumps(schema)
    check = Draft202012Validator(schema)
    nobody: dict[str, object] = {
        "acknowledgedBy": None,
        "acknowledgedAt": None,
        "acknowledgementComment": None,
        "voided": [],
        "snoozeId": None,
        "caseId": None,
    }
    assert check.is_valid({**alert(), "state": "open", **nobody})
    assert not check.is_valid({**alert(), **nobody})
    assert not check.is_valid({**alert(value=5), "state": "open", **nobody})
