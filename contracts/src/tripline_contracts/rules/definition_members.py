"""The members that a rule definition and a condition may have."""

from __future__ import annotations

from typing import Final

MEASURING: Final = (
    "groupingKeyNames",
    "unique",
    "aggregatorFunctionType",
    "aggregateFieldName",
    "limitOperatorType",
    "limit",
    "windowSeconds",
    "windowMinutes",
)
"""What a condition measures and holds against its limit. A chained rule has `conditions` in place of these."""


CONDITION_MEMBERS: Final = (*MEASURING, "filter")


RULE_MEMBERS: Final = (
    *MEASURING,
    "conditions",
    "firing",
    "lateEvents",
    "precision",
    "filter",
    "resetOnAlert",
    "cooldownSeconds",
)
