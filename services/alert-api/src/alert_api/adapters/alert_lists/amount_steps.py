"""Amounts in steps, nine of each power of ten: each has an index with the order of lists (migration 0044).

What fits a filter of amounts is in a few steps: of all but the first and the last one every alert fits.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final, LiteralString

import psycopg

from alert_api.adapters.alert_lists import alert_conditions
from alert_api.adapters.alert_lists.alert_conditions import where
from alert_api.adapters.alert_lists.walks import BY_AMOUNT, ORDER, Start, Walk
from alert_api.service.alert_queries import AlertFilter

AMOUNTS: Final = (alert_conditions.AT_LEAST, alert_conditions.AT_MOST)

MOST_STEPS: Final = 45
"""Walked beside each other: five powers of ten."""

LOOKED_FIRST: Final = 500
"""Of the newest alerts, before steps are walked: where so many of them fit as a page has rows, these are the page."""

_LARGEST: LiteralString = (
    f"SELECT a.amount FROM alerts.alerts a WHERE amount IS NOT NULL{BY_AMOUNT} DESC LIMIT 1"  # noqa: S608
)
_OF_STEP: Final[LiteralString] = "amount IS NOT NULL AND alerts.amount_step(amount) = asked.step"


def amount_step(amount: Decimal) -> int:
    """As the database's function has it: digits before the point, and the first of them."""
    if amount < 1:
        return 0
    digits = str(int(amount))
    return len(digits) * 10 + int(digits[0])


def steps(lowest: Decimal, highest: Decimal) -> list[int]:
    """All that amounts from one to the other are in."""
    first, last = amount_step(lowest), amount_step(highest)
    return [step for step in (0, *range(11, last + 1)) if step % 10 or not step if first <= step <= last]


def by_steps(connection: psycopg.Connection[Any], alert_filter: AlertFilter) -> Start | None:
    """Where amounts are all that is known of where to begin; None where they are in too many steps."""
    row = connection.execute(_LARGEST, prepare=True).fetchone()
    largest = row[0] if row else Decimal(0)
    highest = largest if alert_filter.max_amount is None else min(largest, alert_filter.max_amount)
    asked = steps(alert_filter.min_amount or Decimal(0), highest)
    if len(asked) > MOST_STEPS:
        return None
    return Start((Walk((_OF_STEP,), kind="of amounts"),), (), (("steps", asked),))


def newest_that_fit(timed: list[LiteralString], fits: list[LiteralString]) -> LiteralString:
    """How many of the newest alerts fit, of those that are looked at first."""
    newest: LiteralString = f"SELECT a.* FROM alerts.alerts a{where(timed)}{ORDER} LIMIT %(looked)s"  # noqa: S608
    return f"SELECT count(*) FROM ({newest}) a{where(fits)}"  # noqa: S608 - constants
