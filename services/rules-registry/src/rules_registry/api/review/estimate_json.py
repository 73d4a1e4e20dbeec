"""The JSON of changes with what their rules are estimated to say and cost."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor
from typing import Any

from rules_registry.api.review.change_views import change_json
from rules_registry.domain.estimates.estimate import (
    ESTIMATED,
    Estimate,
    EstimateBounds,
    Json,
    figures_of,
    is_asked_for,
    sample_of,
)
from rules_registry.domain.estimates.figures import Figure
from rules_registry.domain.review.change_request import ChangeRequest

NOT_CONNECTED = "Estimates are not connected: TRIPLINE_PROVER_URL is not set."
NOT_WANTED = "No estimates are made here: TRIPLINE_ESTIMATE_DAYS is 0."
NOBODY_ASKS = "None was made before the change was decided on, or lay untouched for a week."


@dataclass(frozen=True, slots=True)
class Making:
    """Whether estimates are made here: by whom, how large, and what time it is (ms)."""

    bounds: EstimateBounds
    connected: bool
    now_ms: int

    def hindrance(self, change: ChangeRequest) -> str | None:
        """Why no estimate of the change will be made; None where it will."""
        if not self.connected:
            return NOT_CONNECTED
        if not self.bounds.days:
            return NOT_WANTED
        return None if is_asked_for(change.state, change.changed_at, self.now_ms) else NOBODY_ASKS


def estimated_json(
    change: ChangeRequest, estimate: Estimate | None, making: Making, *, whole: bool
) -> dict[str, Any]:
    """A change with its estimate; with `whole` false without the texts of a list."""
    told = None
    if change.content.kind in ESTIMATED:
        if estimate is None or estimate.revision != change.revision:
            estimate = Estimate(change.change_id, change.revision)
        told = _estimate_json(estimate, making.hindrance(change))
    return {**change_json(change, whole=whole), "estimate": told}


def _estimate_json(estimate: Estimate, hindrance: str | None) -> dict[str, Any]:
    state: str = estimate.state
    note, result, actual = estimate.note, estimate.result, estimate.actual
    if state == "waiting" and hindrance is not None:
        state, note = "unavailable", hindrance
    return {
        "state": state,
        "note": note,
        "failure": estimate.failure,
        "endedAt": estimate.ended_at,
        "sample": None if result is None else _sample_json(result),
        "figures": None if result is None else _figures_json(result),
        "actual": None if actual is None else _actual_json(actual),
    }


def _actual_json(actual: Json) -> dict[str, Any]:
    return {
        "from": actual["from"],
        "to": actual["until"],
        "alerts": actual["alerts"],
        "groups": actual["groups"],
    }


def _sample_json(result: Json) -> dict[str, Any]:
    sample = sample_of(result)
    return {
        "parts": sample.parts,
        "grouped": sample.grouped,
        "from": sample.first,
        "to": sample.until,
        "transactions": sample.transactions,
        "seconds": round(sample.seconds),
    }


def _figures_json(result: Json) -> dict[str, Any]:
    figures = figures_of(result)
    return {
        "alertsPerDay": _counted(figures.alerts_per_day),
        "groupsPerDay": _counted(figures.groups_per_day),
        "bytes": _counted(figures.held_bytes),
        "evaluationsPerSecond": _measured(figures.evaluations_per_second),
    }


def _counted(figure: Figure) -> dict[str, str | None]:
    """Of something that is whole in every day."""
    return {
        "value": _text(figure.value),
        "low": None if figure.low is None else str(floor(figure.low)),
        "high": None if figure.high is None else str(ceil(figure.high)),
    }


def _measured(figure: Figure) -> dict[str, str | None]:
    low, high = (None if limit is None else _text(limit) for limit in (figure.low, figure.high))
    return {"value": _text(figure.value), "low": low, "high": high}


def _text(value: float) -> str:
    """Three places where it is small; more would say more than is known."""
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.3f}"
