"""Commands, histories and alerts for the cases of backfills."""

from __future__ import annotations

from typing import Any

from tests.oracle import Outcome, Record
from tests.oracle.builders.drafts import Draft
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import draft, payment
from tests.oracle.values.model import Json
from tests.unit.oracle.support.hour_timeline import T, ms

REGISTRY = Registry()
START, NAME = REGISTRY.start_backfill()


def refill(offset: int, seconds: float, accepted: float, name: str = NAME, **more: Json) -> Record:
    """A backfilled one."""
    return payment(offset, ms(seconds), record_time=ms(accepted), more=dict(more), backfill=name)


def tally(by: tuple[str, ...] = ("payeeId",), **more: Any) -> Draft:
    """An alert for every payment, with how many there are in an hour."""
    return draft("COUNT", ">=", "1", by=by, seconds=3600, **more)


def values(outcome: Outcome) -> list[object]:
    return [alert["value"] for alert in outcome.alerts]


def rejects(outcome: Outcome) -> list[tuple[int, str]]:
    return [(reject.offset, reject.reason) for reject in outcome.rejects]


def warm_from(outcome: Outcome) -> list[object]:
    """Seconds after T of each status."""
    warm_from = [status["warmFrom"] for status in outcome.statuses]
    return [None if since is None else (int(str(since)) - T) / 1000 for since in warm_from]


RULE = Registry().publish(1, tally(), 0, 0)
