"""How often a version alerts, beside the one before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

HOUR_MS: Final = 3_600_000
LEAST_SPAN_MS: Final = 600_000
"""A version that was in force for less says nothing about how often it alerts."""


@dataclass(frozen=True, slots=True)
class Limits:
    """When a version alerts too often, within an hour: more than `factor` times as often as the one before it, and at
    least `least` times; without one before it more than `first` times. A version is looked at for `watch_ms` after it
    began: what is different later is the traffic's doing, and may be the fraud that the rule is for."""

    factor: float = 10
    least: int = 100
    first: int = 1_000
    watch_ms: int = 24 * HOUR_MS


@dataclass(frozen=True, slots=True)
class AlertRate:
    """So many alerts within a span of event time."""

    count: int
    span_ms: int

    @property
    def per_hour(self) -> float | None:
        """None where the span is too short to say."""
        return None if self.span_ms < LEAST_SPAN_MS else self.count * HOUR_MS / self.span_ms


def excess(version: int, count: int, before: AlertRate | None, limits: Limits) -> str | None:
    """A sentence if a version that alerted `count` times within an hour is beyond its limit; else None."""
    usual = None if before is None else before.per_hour
    told = f"Version {version} alerted {count} times within an hour"
    if usual is None:
        return f"{told}; {limits.first} are allowed to a first version." if count > limits.first else None
    if count < limits.least or count <= limits.factor * usual:
        return None
    return (
        f"{told}, the version before it {usual:.1f} times an hour; {limits.factor:g} times that is allowed."
    )
