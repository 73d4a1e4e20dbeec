"""The peak of an episode: the value furthest beyond its limit, in the direction in which the rule looks.

    > 30    31  33  32      33          < 5    4  2  3      2
                ^                                 ^
Limits may differ within an episode, for a rule may be changed meanwhile: so it is the distance that is compared. Of
equal distances the earliest event is the peak, so it does not depend on the order in which alerts come.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal, Inexact
from typing import Final

from alert_api.domain.cases.alert_facts import AlertFacts, Measured
from alert_api.domain.events import AlertId

# A value has up to 64 characters, a limit up to 26: no difference of two comes near. What would be rounded is an error.
_EXACT: Final = Context(prec=200, traps=[Inexact])


@dataclass(frozen=True, slots=True)
class Peak:
    """A measured value with the alert that has it."""

    measured: Measured
    event_time: int
    alert_id: AlertId


def peak_of(alert: AlertFacts) -> Peak | None:
    """The alert's own value."""
    return None if alert.measured is None else Peak(alert.measured, alert.event_time, alert.alert_id)


def higher(one: Peak | None, other: Peak | None) -> Peak | None:
    """The peak of two: commutative and associative, None being less than anything."""
    if one is None or other is None:
        return one or other
    return max(one, other, key=_height)


def distance(measured: Measured) -> Decimal:
    """How far the value lies beyond the limit, in the direction of the operator; of an equality 0."""
    beyond = _EXACT.subtract(Decimal(measured.value), Decimal(measured.limit))
    match measured.operator:
        case "<" | "<=":
            return _EXACT.minus(beyond)
        case "!=":
            return _EXACT.abs(beyond)
        case "=":
            return Decimal(0)
    return beyond


def _height(peak: Peak) -> tuple[Decimal, int, str]:
    return distance(peak.measured), -peak.event_time, peak.alert_id
