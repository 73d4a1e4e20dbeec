"""Definitions and rules for the registry's unit tests."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

from rules_registry.domain.rule import Rule
from tripline_contracts import event_type_loader
from tripline_contracts.rules.rule_definition import RuleDefinition, parse

NOW = 1_763_700_000_000
BODY: dict[str, Any] = {
    "groupingKeyNames": ["payeeId", "beneficiaryId"],
    "aggregatorFunctionType": "SUM",
    "aggregateFieldName": "paymentAmount",
    "limitOperatorType": ">",
    "limit": "1000.01",
    "windowSeconds": 1200,
}
SUM = parse(BODY, event_type_loader.load())


def definition(window_seconds: int = 1200, *keys: str, limit: str = "1000.01") -> RuleDefinition:
    """A sum over `keys` (payee and beneficiary by default)."""
    grouping = tuple(sorted(keys)) or SUM.grouping_key_names
    return replace(SUM, window_seconds=window_seconds, grouping_key_names=grouping, limit=Decimal(limit))


def rule(**changes: Any) -> Rule:
    """Rule 7, active, at version 3 with the definition of version 2."""
    whole = Rule(
        rule_id=7,
        version=3,
        definition_version=2,
        state="ACTIVE",
        name="Seven",
        definition=SUM,
        effective_from=NOW - 1000,
        effective_until=None,
    )
    return replace(whole, **changes)


def chained(*groupings: tuple[int, tuple[str, ...]]) -> RuleDefinition:
    """Sums over groupings that all have the payee, each with its window in seconds."""
    conditions = [
        {**BODY, "groupingKeyNames": ["payeeId", *keys], "windowSeconds": seconds}
        for seconds, keys in groupings
    ]
    return parse({"conditions": {"all": conditions}}, event_type_loader.load())
