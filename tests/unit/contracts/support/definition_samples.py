"""The specification's example of a rule, and the parser under the default event type."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tripline_contracts import event_type_loader
from tripline_contracts.errors import InvalidDefinition
from tripline_contracts.rules import rule_definition
from tripline_contracts.rules.rule_definition import RuleDefinition

TRANSACTION = event_type_loader.load()
SPECIFIED: dict[str, Any] = {
    "ruleId": 1,
    "ruleState": "ACTIVE",
    "groupingKeyNames": ["payeeId", "beneficiaryId"],
    "unique": [],
    "aggregateFieldName": "paymentAmount",
    "aggregatorFunctionType": "SUM",
    "limitOperatorType": "GREATER",
    "limit": 20000000,
    "windowMinutes": 43200,
}
MEANT = RuleDefinition(
    ("beneficiaryId", "payeeId"), "SUM", "paymentAmount", ">", Decimal(20000000), 30 * 24 * 60 * 60
)
ABSENT = object()


def parse(**changes: object) -> RuleDefinition:
    data = {**SPECIFIED, **changes}
    return rule_definition.parse({k: v for k, v in data.items() if v is not ABSENT}, TRANSACTION)


def problems(**changes: object) -> dict[str, str]:
    with pytest.raises(InvalidDefinition) as refused:
        parse(**changes)
    return {problem.field: problem.message for problem in refused.value.problems}
