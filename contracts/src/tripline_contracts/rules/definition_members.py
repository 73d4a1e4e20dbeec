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


EXCERPT: Final = ("offsetSeconds", "includeCurrent", "minimumCount")
"""What of a window is taken; a rule that says so has its condition in `conditions`, be it one alone."""


CONDITION_MEMBERS: Final = (*MEASURING, *EXCERPT, "filter")


BASELINE_MEMBERS: Final = tuple(
    name for name in CONDITION_MEMBERS if name not in ("limitOperatorType", "limit")
)
"""Of the measure behind a relative limit."""


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
