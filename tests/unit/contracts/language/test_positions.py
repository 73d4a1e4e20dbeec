"""Positions: one normal form each, in event types, filters and their schemas; and what is measured between them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.contracts.support.strategies import filters_of, positions
from tripline_contracts import event_type_loader, schemas
from tripline_contracts.errors import InvalidDefinition, InvalidEventType, SchemaViolation
from tripline_contracts.event_type import EventType, Field
from tripline_contracts.filters import filter_parser
from tripline_contracts.normal_forms.positions import LONGEST_POSITION, normal_position
from tripline_contracts.rules import rule_definition

TRANSACTION = event_type_loader.load()
LOCATED: EventType = replace(
    TRANSACTION,
    fields=(*TRANSACTION.fields, Field("position", "attribute", "position", aliases=("where",))),
    columns=(*TRANSACTION.columns, "position"),
)
SPEED: dict[str, Any] = {
    "groupingKeyNames": ["payeeId"],
    "aggregatorFunctionType": "SPEED_KMH",
    "aggregateFieldName": "position",
    "limitOperatorType": ">",
    "limit": "1000",
    "windowSeconds": 3600,
}

NORMAL: list[tuple[str, str | None]] = [
    ("52.520008,13.404954", "52.520008,13.404954"),
    ("52.520008, 13.404954", "52.520008,13.404954"),
    ("-33.870,151.2000", "-33.87,151.2"),
    ("0,0", "0,0"),
    ("-0.0,-0.000000", "0,0"),
    ("-0,1", "0,1"),
    ("1,-0", "1,0"),
    ("-0.5,-0.05", "-0.5,-0.05"),
    ("10.000001,-100.05", "10.000001,-100.05"),
    ("-12.345678,-180", "-12.345678,180"),
    ("-90,77.7", "-90,0"),
    ("90.000000, -180.000000", "90,0"),
    ("90.000001,0", None),
    ("0,180.1", None),
    ("0,181", None),
    ("91,0", None),
    ("52.5200081,13", None),
    ("052.5,13", None),
    ("52.,13", None),
    (".5,13", None),
    ("+52,13", None),
    ("52;13", None),
    ("52 ,13", None),
    ("52,  13", None),
    ("52,13,0", None),
    ("52", None),
    ("5e1,13", None),
    ("５2,13", None),
    (" 52,13", None),
    ("52,13\n", None),
    ("", None),
]


@pytest.mark.parametrize(("written", "normal"), NORMAL, ids=[repr(case[0]) for case in NORMAL])
def test_positions_have_one_form(written: str, normal: str | None) -> None:
    assert normal_position(written) == normal
    sent = schemas.validator("transactions.v1", LOCATED)
    payment = {
        "transactionId": "1",
        "eventTime": 5,
        "paymentAmount": "1",
        "paymentType": "CSH",
        "position": written,
    }
    if normal is None and written not in (
        "",
        "52,13\n",
    ):  # an empty text is null; a line end the schema overlooks
        with pytest.raises(SchemaViolation):
            sent(payment)
    else:
        sent(payment)


@given(positions())
def test_the_form_is_read_as_it_is(normal: str) -> None:
    assert normal_position(normal) == normal
    assert normal_position(normal.replace(",", ", ")) == normal
    assert len(normal) < LONGEST_POSITION


@given(st.text("0123456789-+., e", max_size=24))
def test_any_other_text_is_refused_and_none_of_them_fails(text: str) -> None:
    normal = normal_position(text)
    assert normal is None or normal_position(normal) == normal


def test_filters_compare_the_form() -> None:
    same, problems = filter_parser.read({"field": "WHERE", "operator": "=", "value": "1.50, -180"}, LOCATED)
    assert problems == []
    assert same is not None
    assert same.to_json() == {"field": "position", "operator": "=", "value": "1.5,180"}
    listed, problems = filter_parser.read({"field": "position", "in": {"list": "branches"}}, LOCATED)
    assert (listed is not None, problems) == (True, [])
    for said in ({"operator": "=", "value": "91,0"}, {"operator": ">", "value": "0,0"}, {"startsWith": "5"}):
        assert filter_parser.read({"field": "position", **said}, LOCATED)[0] is None


@given(filters_of(LOCATED))
def test_random_filters_keep_the_schema_and_read_back(some: Any) -> None:
    schemas.validator("filter", LOCATED)(some.to_json())
    assert filter_parser.read(some.to_json(), LOCATED) == (some, [])


def test_only_a_key_or_an_attribute_is_a_position() -> None:
    fields = [{"name": "id", "role": "id", "kind": "string", "required": True, "maxLength": 36},
              {"name": "at", "role": "time", "kind": "timestamp", "required": True},
              {"name": "where", "role": "key", "kind": "position"}]  # fmt: skip
    branches = {"name": "visit", "version": 1, "anchors": ["where", "global"], "fields": fields}
    assert event_type_loader.from_mapping(branches).positions == ("where",)
    measured = {"name": "to", "role": "measure", "kind": "position", "required": True}
    with pytest.raises(InvalidEventType, match="a measure is a decimal"):
        event_type_loader.from_mapping({**branches, "fields": [*fields, measured]})


@pytest.mark.parametrize(
    "written",
    [
        {},
        {"aggregateFieldName": "WHERE"},
        {"aggregatorFunctionType": "speed_kmh(where)", "aggregateFieldName": None},
    ],
    ids=str,
)
def test_a_speed_is_of_a_position(written: dict[str, Any]) -> None:
    definition = rule_definition.parse({**SPEED, **written}, LOCATED)
    assert (definition.function, definition.aggregate_field) == ("SPEED_KMH", "position")
    schemas.validator("rule-definition", LOCATED)(definition.to_json())
    assert rule_definition.parse(definition.to_json(), LOCATED) == definition
    chained = rule_definition.parse({"conditions": {"all": [{**SPEED, **written}]}}, LOCATED)
    schemas.validator("rule-definition", LOCATED)(chained.to_json())


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"aggregateFieldName": "payeeId"}, "aggregateFieldName", "expected one of position; not"),
    ({"aggregateFieldName": None}, "aggregateFieldName", "the field to look at, one of position"),
    ({"unique": ["position"]}, "unique", "with a count only, not with SPEED_KMH"),
    ({"resetOnAlert": True}, "resetOnAlert", "resetOnAlert with SPEED_KMH has no clear meaning"),
    ({"lateEvents": "reevaluate"}, "lateEvents", "reevaluate with SPEED_KMH has no clear meaning"),
    ({"precision": "bucketed(60)"}, "precision", "with SPEED_KMH has no clear meaning"),
]


@pytest.mark.parametrize(("members", "field", "said"), REFUSED, ids=[str(case[0]) for case in REFUSED])
def test_refused(members: dict[str, Any], field: str, said: str) -> None:
    with pytest.raises(InvalidDefinition) as refused:
        rule_definition.parse({**SPEED, **members}, LOCATED)
    (problem,) = refused.value.problems
    assert problem.field == field
    assert said in problem.message
    definition = {**rule_definition.parse(SPEED, LOCATED).to_json(), **members}
    with pytest.raises(SchemaViolation):
        schemas.validator("rule-definition", LOCATED)(definition)


@pytest.mark.parametrize("part", [{"offsetSeconds": 60}, {"includeCurrent": False}], ids=str)
def test_a_speed_is_over_no_part_of_a_window(part: dict[str, Any]) -> None:
    with pytest.raises(InvalidDefinition, match="with SPEED_KMH"):
        rule_definition.parse({"conditions": {"all": [{**SPEED, **part}]}}, LOCATED)


def test_where_there_is_no_position_there_is_no_speed() -> None:
    with pytest.raises(InvalidDefinition, match="a field of positions, of which there is none"):
        rule_definition.parse(SPEED, TRANSACTION)
