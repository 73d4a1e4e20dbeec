"""The arms of a rollout as callers see them."""

from __future__ import annotations

from typing import Any

from alert_api.api.schemas import object_of
from alert_api.domain.cases.work_events import OUTCOMES
from alert_api.domain.performance.arms import ratio_of
from alert_api.service.shadows.shadow_comparison import Arm, Arms


def arms_json(arms: Arms | None) -> dict[str, Any] | None:
    """None where the shadow was not rolled out."""
    if arms is None:
        return None
    ratio = ratio_of(arms.trial.sums, arms.active.sums)
    return {
        "spans": [{"from": span.since, "to": span.until - 1, "percent": span.percent} for span in arms.spans],
        "trial": _arm_json(arms.trial, arms),
        "active": _arm_json(arms.active, arms),
        "ratio": None if ratio is None else {"value": ratio.value, "low": ratio.low, "high": ratio.high},
    }


def _arm_json(arm: Arm, arms: Arms) -> dict[str, Any]:
    precision = arm.precision
    return {
        "groups": arm.sums.groups,
        "alerts": arm.sums.alerts,
        "alertsPerPercentDay": arm.sums.a_day(arms.spans),
        "resolved": sum(arm.cases.values()),
        "cases": {outcome: arm.cases.get(outcome, 0) for outcome in OUTCOMES},
        "precision": None
        if precision is None
        else {"value": precision.value, "low": precision.low, "high": precision.high},
    }


def arms_schema() -> dict[str, Any]:
    """Of `arms`."""
    count: dict[str, Any] = {"type": "integer", "minimum": 0}
    number, share = {"type": "number", "minimum": 0}, {"type": "number", "minimum": 0, "maximum": 1}
    time = {**count, "description": "In ms since the epoch, this one included"}
    arm = object_of(
        {
            "groups": {**count, "description": "That had alerts"},
            "alerts": {
                **count,
                "description": "That counted; those told apart as a shadow's are in neither arm",
            },
            "alertsPerPercentDay": {
                "type": ["number", "null"],
                "minimum": 0,
                "description": "Alerts a day for each percent of groups in the arm, days weighed alike in both arms",
            },
            "resolved": {**count, "description": "Cases with an alert of the arm; one with both is in both"},
            "cases": object_of(dict.fromkeys(OUTCOMES, count)),
            "precision": _or_null(object_of({"value": share, "low": share, "high": share})),
        }
    )
    high = {"type": ["number", "null"], "minimum": 0, "description": "Null: there is no upper end"}
    ratio = object_of({"value": number, "low": number, "high": high})
    spans = object_of({"from": time, "to": time, "percent": {"type": "integer", "minimum": 1, "maximum": 99}})
    arms = object_of(
        {
            "spans": {"type": "array", "items": spans, "minItems": 1},
            "trial": arm,
            "active": arm,
            "ratio": {
                **_or_null(ratio),
                "description": "Alerts of the version on trial for each one that the active one would have given, with"
                " its 95 % interval over groups; null before both arms have alerts",
            },
        }
    )
    return {**_or_null(arms), "description": "Null where it was not rolled out in the span"}


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    return {"oneOf": [schema, {"type": "null"}]}
