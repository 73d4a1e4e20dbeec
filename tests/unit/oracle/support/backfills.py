"""Commands, histories and alerts for the cases of backfills."""

from __future__ import annotations

from typing import Any

from tests.oracle import Outcome, Record
from tests.oracle.builders.drafts import Draft
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import Part, draft, one_by_one, payment
from tests.oracle.parsers.rule_events import Settings
from tests.oracle.values.model import Json
from tests.unit.oracle.support.agreement import judge

T = 472_223 * 3_600_000
# What is accepted is at most 20 seconds behind the clock.
SMALL = Settings(allowed_lateness=10_000, max_future_skew=300_000, max_disorder=10_000)
REGISTRY = Registry()
START, NAME = REGISTRY.start_backfill()


def ms(seconds: float) -> int:
    return T + round(1000 * seconds)


def at(offset: int, seconds: float, amount: str = "1", accepted: float | None = None, **more: Json) -> Record:
    """A payment at T + seconds, on record at T + accepted where that is later."""
    later = seconds if accepted is None else accepted
    return payment(offset, ms(seconds), amount, record_time=ms(later), more=dict(more))


def old(offset: int, seconds: float, accepted: float, name: str = NAME, **more: Json) -> Record:
    """A backfilled one."""
    return payment(offset, ms(seconds), record_time=ms(accepted), more=dict(more), backfill=name)


def steps(*parts: Part) -> Outcome:
    """Rule events, payments and ticks, in seconds after T."""
    return judge(one_by_one(T, *parts))


def each(by: tuple[str, ...] = ("payeeId",), **more: Any) -> Draft:
    """An alert for every payment, with how many there are in an hour."""
    return draft("COUNT", ">=", "1", by=by, seconds=3600, **more)


def values(outcome: Outcome) -> list[object]:
    return [alert["value"] for alert in outcome.alerts]


def rejects(outcome: Outcome) -> list[tuple[int, str]]:
    return [(reject.offset, reject.reason) for reject in outcome.rejects]


def warm_from(outcome: Outcome) -> list[object]:
    """Seconds after T of each status."""
    found = [status["warmFrom"] for status in outcome.statuses]
    return [None if since is None else (int(str(since)) - T) / 1000 for since in found]


RULE = Registry().publish(1, each(), 0, 0)
