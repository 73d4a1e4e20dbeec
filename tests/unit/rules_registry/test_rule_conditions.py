"""Chained rules in the body of POST and PUT: what is read, what is refused, and that the schema says the same."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from rules_registry.api.rule_schemas.rule_body import read_rule_body
from rules_registry.api.rule_schemas.rule_body_schema import BODY_SCHEMA
from rules_registry.api.rule_schemas.rule_components import rule_components
from rules_registry.domain.version_diff import Difference, differences
from tests.unit.rules_registry.support.samples import BODY, SUM, chained
from tripline_contracts import event_type_loader
from tripline_contracts.rules.rule_definition import RuleDefinition, parse
from tripline_http.errors import ProblemError
from tripline_http.json_bodies import MAX_DEPTH, parse_json

TRANSACTION = event_type_loader.load()
SCHEMA = Draft202012Validator(
    {
        "$ref": f"#/components/schemas/{BODY_SCHEMA}",
        "components": {"schemas": rule_components(TRANSACTION)},
    }
)
CASH = {"field": "paymentType", "operator": "=", "value": "CSH"}
COUNT = {**BODY, "aggregatorFunctionType": "COUNT", "aggregateFieldName": None, "limit": 3}
DIFFERENT = {**COUNT, "aggregatorFunctionType": "COUNT_DISTINCT", "aggregateFieldName": "beneficiaryId"}
SINCE = {"aggregatorFunctionType": "SECONDS_SINCE_PREVIOUS", "aggregateFieldName": None, "windowSeconds": 60}
TREE = {"all": [BODY, {"any": [COUNT, DIFFERENT]}, {"not": {**BODY, "limit": "9", "filter": CASH}}]}

READ: list[tuple[dict[str, Any], str]] = [
    ({"conditions": TREE}, "a tree"),
    ({"conditions": BODY}, "one condition"),
    (
        {"conditions": {"all": [{**COUNT, "groupingKeyNames": [{"field": "paymentAmount", "step": "10"}]}]}},
        "steps",
    ),
    (
        {
            "conditions": {
                "not": {
                    "weighted": [{"weight": 30, "of": TREE}, {"weight": {"parameter": "w"}, "of": COUNT}],
                    "atLeast": "-0.5",
                }
            }
        },
        "weights",
    ),
    (
        {"conditions": TREE, "name": "n", "effectiveFrom": 0, "ruleId": 5, "ruleState": "ACTIVE"},
        "a rule file",
    ),
    ({"conditions": TREE, "filter": CASH, "firing": "crossing", "lateEvents": "store"}, "options"),
    (
        {"conditions": TREE, "cooldownSeconds": 60, "resetOnAlert": False, "precision": "exact"},
        "more options",
    ),
    ({"conditions": {"all": [COUNT, {**BODY, "filter": None}]}, "precision": "bucketed(60)"}, "buckets"),
    (
        {
            "conditions": {
                **BODY,
                "windowSeconds": 30_000_000,
                "offsetSeconds": 4_560_000,
                "limit": {"measure": {**SINCE, "minimumCount": 2}, "times": "0.5"},
            }
        },
        "an offset of a long window, and the time since another",
    ),
]


@pytest.mark.parametrize(("body", "reason"), READ, ids=[case[-1] for case in READ])
def test_read(body: dict[str, Any], reason: str) -> None:
    members = ("name", "effectiveFrom", "ruleId")
    meant = parse({name: value for name, value in body.items() if name not in members}, TRANSACTION)
    assert read_rule_body(body).definition == meant, reason
    assert meant.conditions is not None
    SCHEMA.validate(body)
    SCHEMA.validate(meant.to_json())


WRONG: list[tuple[dict[str, Any], set[str], str]] = [
    ({"conditions": []}, {"conditions"}, "no object"),
    ({"conditions": TREE, "limit": 5}, {"limit"}, "a limit beside them"),
    ({"conditions": TREE, "resetOnAlert": True}, {"conditions"}, "a reset"),
    ({"conditions": TREE, "lateEvents": "reevaluate"}, {"lateEvents"}, "judging again"),
    ({"conditions": {"all": [BODY, {**BODY, "groupingKeyNames": " "}]}},
     {"conditions", "conditions.all[1].groupingKeyNames"}, "no key is said by a list"),
    ({"conditions": {"not": {**COUNT, "aggregateFieldName": "COUNT_FLINK", "aggregatorFunctionType": 5}}},
     {"conditions.not.aggregatorFunctionType"}, "a number is no function"),
    ({"conditions": {"not": {**BODY, "filter": {}}}}, {"conditions.not.filter"}, "an empty filter"),
    ({"conditions": {"weighted": [{"weight": 1, "of": {**BODY, "groupingKeyNames": " "}}], "atLeast": 1}},
     {"conditions.weighted[0].of.groupingKeyNames"}, "no key below a weight"),
    ({"conditions": {"weighted": [{"weight": 1, "of": BODY}]}}, {"conditions"}, "weights for nothing"),
    ({"conditions": {"any": [{**BODY, "firing": "every"}]}}, {"conditions.any[0].firing"}, "the rule's own"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "fields", "reason"), WRONG, ids=[case[-1] for case in WRONG])
def test_wrong(body: dict[str, Any], fields: set[str], reason: str) -> None:
    with pytest.raises(ProblemError) as refused:
        read_rule_body(body)
    assert refused.value.status == 422
    assert {error.field for error in refused.value.errors} == fields, reason
    assert not SCHEMA.is_valid(body), reason


def test_groupings_without_a_shared_field_are_refused_naming_them() -> None:
    apart = [{**BODY, "groupingKeyNames": [name]} for name in ("payeeId", "beneficiaryId")]
    with pytest.raises(ProblemError) as refused:
        read_rule_body({"conditions": {"any": apart}})
    ((error),) = refused.value.errors
    assert (error.field, error.message) == (
        "conditions", "expected groupings that all share a field; not [beneficiaryId], [payeeId]"
    )  # fmt: skip


def test_the_deepest_rule_is_no_deeper_than_a_body_may_be() -> None:
    deepest: dict[str, Any] = {"field": "paymentType", "in": ["CSH"]}
    for _ in range(11):
        deepest = {"any": [deepest]}
    conditions: dict[str, Any] = {**BODY, "filter": deepest}
    for _ in range(5):
        conditions = {"weighted": [{"weight": "1", "of": conditions}], "atLeast": "1"}
    records = [{"conditions": conditions}]
    assert parse(records[0], TRANSACTION).conditions is not None
    assert _depth(records) <= MAX_DEPTH
    assert parse_json(str(records).replace("'", '"').encode()) == records


def _depth(value: object) -> int:
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    return max((1 + _depth(condition) for condition in inner), default=0)


def test_conditions_are_one_difference() -> None:
    def event(definition: RuleDefinition) -> dict[str, object]:
        return {"state": "ACTIVE", "name": "n", "effectiveFrom": 0, "definition": definition.to_json()}

    one, other = chained((60, ())), chained((90, ()))
    (changed,) = differences(event(one), event(other))
    assert changed == Difference(
        "definition.conditions", one.to_json()["conditions"], other.to_json()["conditions"]
    )
    became = {difference.field: difference.after for difference in differences(event(SUM), event(one))}
    assert became["definition.conditions"] == one.to_json()["conditions"]
    assert became["definition.limit"] is None
