"""Commands, histories and alerts for the cases of clears."""

from __future__ import annotations

from typing import Any

from tests.oracle import Outcome
from tests.oracle.builders.drafts import Draft
from tests.oracle.builders.shorthand import draft
from tests.unit.oracle.support.hour_timeline import T

PAYEE = {"payeeId": "25"}


def tally(by: tuple[str, ...] = ("payeeId",), **more: Any) -> Draft:
    """An alert for every payment, with how many there are in an hour."""
    return draft("COUNT", ">=", "1", by=by, seconds=3600, **more)


def rows(outcome: Outcome) -> list[tuple[object, object]]:
    """Rule and value of each alert."""
    return [(alert["ruleId"], alert["value"]) for alert in outcome.alerts]


def warm_from(outcome: Outcome) -> list[tuple[object, object]]:
    """Rule and seconds after T of each status."""
    return [
        (status["ruleId"], None if status["warmFrom"] is None else (int(str(status["warmFrom"])) - T) / 1000)
        for status in outcome.statuses
    ]
