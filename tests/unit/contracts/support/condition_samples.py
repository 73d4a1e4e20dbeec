"""Conditions as values and as JSON, and the parser under the default event type."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import settings

from tripline_contracts import event_type_loader
from tripline_contracts.errors import InvalidDefinition
from tripline_contracts.filters.filter_parser import Comparison
from tripline_contracts.filters.named_values import Parameter
from tripline_contracts.rules import rule_definition
from tripline_contracts.rules.conditions import AllOf, Condition, NotOf, Weighed, WeightedOf
from tripline_contracts.rules.rule_definition import RuleDefinition

# a deadline per example would measure how busy the machine is
UNHURRIED = settings(deadline=None)
TRANSACTION = event_type_loader.load()
SUM = Condition(("payeeId",), "SUM", "paymentAmount", ">", Decimal(5000), 3600)
DISTINCT = Condition(("payeeId",), "COUNT_DISTINCT", "beneficiaryId", ">", Decimal(3), 1800)
USUAL = Condition(("beneficiaryId", "payeeId"), "AVG", "paymentAmount", "<", Parameter("usual"), 86400,
                  Comparison("paymentType", "=", "CSH"))  # fmt: skip


TREE = AllOf((SUM, DISTINCT, NotOf(USUAL)))
SUM_JSON: dict[str, Any] = {
    "groupingKeyNames": ["payeeId"],
    "aggregatorFunctionType": "SUM",
    "aggregateFieldName": "paymentAmount",
    "limitOperatorType": ">",
    "limit": "5000",
    "windowSeconds": 3600,
}
DISTINCT_JSON: dict[str, Any] = {
    **SUM_JSON, "aggregatorFunctionType": "COUNT_DISTINCT", "aggregateFieldName": "beneficiaryId",
    "limit": "3", "windowSeconds": 1800,
}  # fmt: skip
USUAL_JSON: dict[str, Any] = {
    "groupingKeyNames": ["beneficiaryId", "payeeId"],
    "aggregatorFunctionType": "AVG",
    "aggregateFieldName": "paymentAmount",
    "limitOperatorType": "<",
    "limit": {"parameter": "usual"},
    "windowSeconds": 86400,
    "filter": {"field": "paymentType", "operator": "=", "value": "CSH"},
}
SCORE = WeightedOf((Weighed(Decimal(30), SUM), Weighed(Parameter("many"), NotOf(DISTINCT))), Decimal("45.5"))
SCORE_JSON: dict[str, Any] = {
    "weighted": [{"weight": "30", "of": SUM_JSON}, {"weight": {"parameter": "many"}, "of": {"not": DISTINCT_JSON}}],
    "atLeast": "45.5",
}  # fmt: skip
TREE_JSON: dict[str, Any] = {"all": [SUM_JSON, DISTINCT_JSON, {"not": USUAL_JSON}]}


def parse(conditions: object, **beside: object) -> RuleDefinition:
    return rule_definition.parse({"conditions": conditions, **beside}, TRANSACTION)


def problems(conditions: object, **beside: object) -> dict[str, str]:
    with pytest.raises(InvalidDefinition) as refused:
        parse(conditions, **beside)
    return {problem.field: problem.message for problem in refused.value.problems}


def changed(**changes: object) -> dict[str, object]:
    return {name: value for name, value in {**SUM_JSON, **changes}.items() if value is not ...}


def chain(depth: int) -> dict[str, Any]:
    """A condition that deep, itself counted."""
    return SUM_JSON if depth == 1 else {"not": chain(depth - 1)}
