"""The registry under the event type of card authorisations: rules, rule files, filters of the list, the document."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import pytest
from flask.testing import FlaskClient
from jsonschema import Draft202012Validator
from prometheus_client import CollectorRegistry
from psycopg_pool import ConnectionPool

from rules_registry.adapters.postgres import Connection
from rules_registry.api.application import create_app
from rules_registry.api.control.control_body import control_body_schema, read_control_body
from rules_registry.api.rule_schemas.rule_body import read_rule_body
from rules_registry.domain.commands import ClearGroup
from rules_registry.domain.history_quota import HistoryQuota
from rules_registry.domain.quotas import Quotas
from rules_registry.openapi_document import openapi_document
from rules_registry.service.rule_file_lines import read_records, read_text
from tripline_contracts import event_type_loader
from tripline_contracts.event_type import Party, Side
from tripline_http.application import Access
from tripline_http.errors import ProblemError
from tripline_http.keys.key_file import ApiKey

CARD = event_type_loader.load("card-authorisation")
BODY = {
    "name": "Many cards on one device",
    "groupingKeyNames": ["deviceId"],
    "aggregatorFunctionType": "COUNT_DISTINCT",
    "aggregateFieldName": "cardId",
    "limitOperatorType": ">",
    "limit": "6",
    "windowSeconds": 600,
    "filter": {"field": "entryMode", "operator": "=", "value": "ONLINE"},
}
PLAIN = "(1),(active),(cardId&merchantId),(),(amount),(SUM),(>),(8000),(10)"


KEY = ApiKey("ada", hashlib.sha256(b"key-for-these-tests").hexdigest(), frozenset({"rules:read"}))
AUTHORISED = {"Authorization": "Bearer key-for-these-tests"}


def a_pool() -> ConnectionPool[Connection]:
    """Of no database."""
    return ConnectionPool("", connection_class=Connection, open=False)


@pytest.fixture
def client() -> FlaskClient:
    app, _ = create_app(a_pool(), Access((KEY,)), CollectorRegistry(), CARD)
    return app.test_client()


def test_a_rule_is_read_by_the_type() -> None:
    read = read_rule_body(BODY, CARD)
    assert read.definition.grouping_key_names == ("deviceId",)
    with pytest.raises(ProblemError) as refused:
        read_rule_body({**BODY, "groupingKeyNames": ["payeeId"]}, CARD)
    assert "cardId, merchantId, deviceId" in refused.value.errors[0].message


def test_a_rule_file_is_read_by_the_type() -> None:
    (plain,) = read_text(PLAIN, CARD)
    (record,) = read_records([{"ruleId": 2, "ruleState": "ACTIVE", **BODY}], CARD)
    assert plain.problems == record.problems == ()
    (foreign,) = read_text(PLAIN.replace("cardId", "payeeId"), CARD)
    assert [problem.field for problem in foreign.problems] == ["groupingKeyNames"]


def test_a_group_to_be_cleared_has_the_types_fields() -> None:
    body = {
        "command": "CLEAR_GROUP",
        "ruleId": 7,
        "group": {"deviceId": "d-9", "entryMode": "CHIP", "amount": "1.50"},
    }
    assert read_control_body(body, CARD) == ClearGroup(
        7, {"deviceId": "d-9", "entryMode": "CHIP", "amount": "1.5"}
    )
    for group, said in (
        ({"payeeId": "25"}, "cardId, merchantId"),
        ({"entryMode": "CRD"}, "CHIP, CONTACTLESS"),
    ):
        with pytest.raises(ProblemError) as refused:
            read_control_body({**body, "group": group}, CARD)
        (wrong,) = refused.value.errors
        assert (wrong.field, said in wrong.message) == (f"group.{next(iter(group))}", True)


def test_a_group_of_addresses_or_of_a_party_is_read_as_its_values_are_kept() -> None:
    activity = event_type_loader.load("activity")
    fields = [
        replace(field, max_length=10) if field.name == "accountId" else field for field in activity.fields
    ]
    account = Party("account", (Side("from", "accountId"), Side("to", "beneficiaryId")))
    declared = replace(activity, fields=tuple(fields), parties=(account,))
    long = "b" * 64
    body = {"command": "CLEAR_GROUP", "ruleId": 7}
    # as long as a value of either side may be
    assert read_control_body({**body, "group": {"account": long}}, declared) == ClearGroup(
        7, {"account": long}
    )
    written = {**body, "group": {"ipAddress": "::FFFF:10.0.0.1"}}
    assert read_control_body(written, declared) == ClearGroup(7, {"ipAddress": "10.0.0.1"})
    with pytest.raises(ProblemError) as refused:
        read_control_body({**body, "group": {"ipAddress": "10.0.0"}}, declared)
    (wrong,) = refused.value.errors
    assert (wrong.field, wrong.message) == ("group.ipAddress", "expected an IPv4 or IPv6 address")
    described = Draft202012Validator(control_body_schema(declared))
    Draft202012Validator.check_schema(described.schema)
    assert described.is_valid(written)
    assert described.is_valid({**body, "group": {"account": long}})
    assert not described.is_valid({**body, "group": {"account": long + "b"}})


def test_the_document_is_of_the_type() -> None:
    text = openapi_document(CARD)
    assert "payeeId" not in text
    assert "paymentAmount" not in text
    assert "judges authorisations by" in text
    assert "(cardId&merchantId),(),(amount)" in text
    schemas = json.loads(text)["components"]["schemas"]
    assert schemas["GroupableField"]["enum"] == list(CARD.groupable)
    whole = {**schemas["RuleBody"], "components": {"schemas": schemas}}
    assert Draft202012Validator(whole).is_valid(BODY)
    assert not Draft202012Validator(whole).is_valid({**BODY, "groupingKeyNames": ["payeeId"]})


def test_a_template_says_how_long_it_has_history_kept_and_how_long_that_is_here() -> None:
    declared = event_type_loader.load()
    room = Quotas(history=HistoryQuota(most=100_000_000, rate=15))
    app, _ = create_app(a_pool(), Access((KEY,)), CollectorRegistry(), declared, room)
    answer = app.test_client().get("/v1/rule-templates", headers=AUTHORISED).get_json()
    told = {one["templateId"]: (one["neededSeconds"], one["keptSeconds"]) for one in answer["items"]}
    assert told["more-than-ever"] == (34_560_000, 6_666_666)
    # of a bucketed one a bucket, and of a party an entry for each side
    assert told["dormant-account"] == (3_600, 6_666_666)
    assert told["goes-out-as-it-came-in"] == (86_400, 3_333_333)


def test_where_nothing_is_expected_nothing_bounds_a_template(client: FlaskClient) -> None:
    answer = client.get("/v1/rule-templates", headers=AUTHORISED).get_json()
    assert {one["keptSeconds"] for one in answer["items"]} == {None}


def test_the_list_is_filtered_by_the_types_fields(client: FlaskClient) -> None:
    answer = client.get("/v1/rules?groupingKey=payeeId", headers=AUTHORISED)
    assert answer.status_code == 422
    (error,) = answer.get_json()["errors"]
    assert "cardId" in error["message"]


def test_a_type_without_a_measure_has_a_document_that_asks_for_none() -> None:
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
    text = openapi_document(declared)
    assert '"enum": []' not in text
    assert "(account),(),(COUNT_FLINK)" in text
