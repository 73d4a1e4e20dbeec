"""Commands, histories and alerts for the cases of clears."""

from __future__ import annotations

from typing import Any

from tests.oracle import Outcome, Record
from tests.oracle.builders.drafts import Draft
from tests.oracle.builders.shorthand import Part, draft, one_by_one, payment
from tests.oracle.values.model import Json
from tests.unit.oracle.support.agreement import judge

T = 472_223 * 3_600_000
PAYEE = {"payeeId": "25"}


def ms(seconds: float) -> int:
    return T + round(1000 * seconds)


def at(offset: int, seconds: float, amount: str = "1", accepted: float | None = None, **more: Json) -> Record:
    """A payment at T + seconds, on record at T + accepted where that is later."""
    later = seconds if accepted is None else accepted
    return payment(offset, ms(seconds), amount, record_time=ms(later), more=dict(more))


def steps(*parts: Part) -> Outcome:
    """Rule events, payments and ticks, in seconds after T."""
    return judge(one_by_one(T, *parts))


def each(by: tuple[str, ...] = ("payeeId",), **more: Any) -> Draft:
    """An alert for every payment, with how many there are in an hour."""
    return draft("COUNT", ">=", "1", by=by, seconds=3600, **more)


def told(outcome: Outcome) -> list[tuple[object, object]]:
    """Rule and value of each alert."""
    return [(alert["ruleId"], alert["value"]) for alert in outcome.alerts]


def warm_from(outcome: Outcome) -> list[tuple[object, object]]:
    """Rule and seconds after T of each status."""
    return [
        (status["ruleId"], None if status["warmFrom"] is None else (int(str(status["warmFrom"])) - T) / 1000)
        for status in outcome.statuses
    ]
