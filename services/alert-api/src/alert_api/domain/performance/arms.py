"""The two arms of a rollout beside each other: how much more the version on trial alerts, and how sure that is.

The unit is the group: groups are what chance has put into the arms, and alerts of one group come together.

Weights. Each alert counts with the percent of groups that the other arm had when it was given. So what is compared was
given in the same days: in the first week of a rollout to 10 % and the second of one to 50 % the arms have different
shares of busy days, and this takes it out. The ratio is that of Mantel and Haenszel (Greenland and Robins, Biometrics
41, 1985), with spans of one percent as strata.

Range. Groups that alert are Poisson events, each with the weights of its alerts: the limits of an arm are those of
Dobson, Kuulasmaa, Eberle and Scherer (Statistics in Medicine 10, 1991), over Byar's limits of the number of groups, as
for estimates. Those of the ratio follow from both (Donner and Zou, Statistical Methods in Medical Research 21, 2012).
A group that a widening moved is in both sums; that these go up and down together is left out, which makes the range
wider. It says how other groups like these would differ, in 95 of 100 cases; where few groups give most of the alerts
it holds somewhat less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import Final

SURE: Final = 0.95
_Z: Final = NormalDist().inv_cdf((1 + SURE) / 2)
_DAY_MS: Final = 86_400_000
DIGITS: Final = 4
"""Of figures; they are told to people, and decide nothing."""


@dataclass(frozen=True, slots=True)
class RolloutSpan:
    """Times in ms since the epoch between which the version on trial had that percent of groups; the last excluded."""

    percent: int
    since: int
    until: int


@dataclass(frozen=True, slots=True)
class ArmSums:
    """Alerts of one arm.

    :ivar groups: that have any
    :ivar weighted: the sum of their weights
    :ivar squares: the sum of the squares of what the groups have of it
    """

    groups: int = 0
    alerts: int = 0
    weighted: int = 0
    squares: int = 0

    def a_day(self, spans: Sequence[RolloutSpan]) -> float | None:
        """Alerts a day for each percent of groups, days weighed alike in both arms; None where no time has passed."""
        weight = sum(
            span.percent * (100 - span.percent) * (span.until - span.since) / _DAY_MS for span in spans
        )
        return round(self.weighted / weight, DIGITS) if weight > 0 else None


@dataclass(frozen=True, slots=True)
class Ratio:
    """How often as many alerts the version on trial gives as the active one would; `high` is None if it has no end."""

    value: float
    low: float
    high: float | None


def ratio_of(trial: ArmSums, active: ArmSums) -> Ratio | None:
    """None before both have alerted: nothing tells by how much groups of the other arm differ."""
    if not trial.groups or not active.groups:
        return None
    (low, high), (other_low, other_high) = _limits(trial), _limits(active)
    above, below = float(trial.weighted), float(active.weighted)
    both = above * below
    root = sqrt(max(0.0, both**2 - low * other_high * (2 * above - low) * (2 * below - other_high)))
    least = low * (2 * above - low) / (both + root)
    most = None
    if other_low > 0:
        under = other_low * (2 * below - other_low)
        most = (both + sqrt(max(0.0, both**2 - high * under * (2 * above - high)))) / under
    return Ratio(
        round(above / below, DIGITS), round(least, DIGITS), None if most is None else round(most, DIGITS)
    )


def _limits(arm: ArmSums) -> tuple[float, float]:
    """Of the sum of weights."""
    spread = sqrt(arm.squares / arm.groups)
    low, high = _byar(arm.groups)
    return (
        max(0.0, arm.weighted + spread * (low - arm.groups)),
        arm.weighted + spread * (high - arm.groups),
    )


def _byar(count: int) -> tuple[float, float]:
    """Limits of a Poisson count above 0."""
    more = count + 1
    low = count * (1 - 1 / (9 * count) - _Z / (3 * sqrt(count))) ** 3
    return max(0.0, low), more * (1 - 1 / (9 * more) + _Z / (3 * sqrt(more))) ** 3
