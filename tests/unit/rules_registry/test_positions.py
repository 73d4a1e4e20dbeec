"""What the registry says of speeds: the schema of its API where a type has positions, and warnings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from rules_registry.api.rule_schemas.rule_body_schema import rule_body_schema
from rules_registry.api.rule_schemas.rule_components import rule_components
from rules_registry.domain.advice.advice import Surroundings, advise
from rules_registry.domain.advice.filter_reach import NamesNow
from tests.unit.rules_registry.support.samples import BODY, rule
from tripline_contracts import event_type_loader
from tripline_contracts.event_type import Field
from tripline_contracts.rules.rule_definition import parse

TRANSACTION = event_type_loader.load()
LOCATED = replace(TRANSACTION, fields=(*TRANSACTION.fields, Field("position", "attribute", "position")))
SPEED = {**BODY, "aggregatorFunctionType": "SPEED_KMH", "aggregateFieldName": "position", "limit": "900"}
WHERE = {"field": "position", "operator": "=", "value": "52.52, 13.4"}
NEVER = [("limit-never-reached", "limit")]


def schema(event: Any) -> Draft202012Validator:
    return Draft202012Validator(
        {**rule_body_schema(event), "components": {"schemas": rule_components(event)}}
    )


def test_a_speed_is_described_where_there_are_positions() -> None:
    body = {**SPEED, "filter": WHERE, "firing": "crossing"}
    chained = {"conditions": {"all": [{**SPEED, "filter": {"field": "position", "isNull": True}}]}}
    assert schema(LOCATED).is_valid(body)
    assert schema(LOCATED).is_valid(chained)
    for wrong in ({"resetOnAlert": True}, {"lateEvents": "reevaluate"}, {"aggregateFieldName": "payeeId"}):
        assert not schema(LOCATED).is_valid({**SPEED, **wrong})
    assert not schema(LOCATED).is_valid({**SPEED, "filter": {**WHERE, "value": "91,0"}})
    assert not schema(TRANSACTION).is_valid(SPEED)


LIMITS: list[tuple[dict[str, Any], list[tuple[str, str]], str]] = [
    ({"limitOperatorType": ">"}, [], "as it should be"),
    ({"limitOperatorType": "<", "limit": "0"}, NEVER, "no speed is below 0"),
    ({"limitOperatorType": ">=", "limit": "0"}, [], "of the first of a group nothing is known"),
    ({"limitOperatorType": ">", "limit": "72054411991.272"}, NEVER, "half around the earth in a millisecond"),
    ({"limitOperatorType": ">", "limit": "72054411991"}, [], "nearly that"),
    (
        {"limitOperatorType": ">", "limit": "1", "groupingKeyNames": ["position"]},
        NEVER,
        "a group has one position",
    ),
]


@pytest.mark.parametrize(("changes", "expected", "why"), LIMITS, ids=[case[-1] for case in LIMITS])
def test_limits(changes: dict[str, Any], expected: list[tuple[str, str]], why: str) -> None:
    assert told({**SPEED, **changes}) == expected, why


def test_a_longer_window_finds_the_one_before_more_often() -> None:
    body = {**SPEED, "limitOperatorType": ">"}
    other = rule(definition=parse({**body, "windowSeconds": 2 * BODY["windowSeconds"]}, LOCATED))
    assert told(body, other) == [("shadowed-by-another", "limit")]


def told(body: dict[str, Any], *others: Any) -> list[tuple[str, str]]:
    beside = Surroundings(LOCATED, NamesNow(lambda _: None, lambda _: None), others, None)
    return [(warning.code, warning.field) for warning in advise(parse(body, LOCATED), beside)]
