"""How far back a proof reaches: the oldest event time that can bear on what a version says of one transaction.

         window of the one before            the alert's window
    |----------------------------------|--------------------------------| t
    t - 2w: `crossing` compares with the evaluation before, at t - w or later

A cooldown and a reset go by the version's earlier alerts, and these by earlier ones still: their chain begins with the
version, so the proof does too.
"""

from __future__ import annotations

from dataclasses import dataclass

from tripline_engine.domain.rules.rule_version import RuleVersion
from tripline_engine.domain.rules.tolerances import Tolerances

_REPETITIONS = 3
"""Reaches of deduplication before the window: what was accepted there decides which of two equal ids in it counts."""


@dataclass(slots=True)
class WidestTolerances:
    """The widest tolerances that ever held, in ms."""

    lateness: int = 0
    skew: int = 0
    disorder: int = 0

    def take(self, settings: Tolerances) -> None:
        """Widen them by these."""
        self.lateness = max(self.lateness, settings.allowed_lateness_ms)
        self.skew = max(self.skew, settings.max_future_skew_ms)
        self.disorder = max(self.disorder, settings.max_disorder_ms)

    def record_time_from(self, oldest: int) -> int:
        """The oldest record time (ms) of a transaction that bears on windows from that event time (ms) on."""
        return oldest - self.skew - _REPETITIONS * (self.lateness + self.skew)

    def is_over(self, event_time: int, clock: int | None) -> bool:
        """Whether, at that clock (ms), no transaction of that event time (ms) is accepted any more."""
        return clock is not None and clock - self.disorder > event_time + self.lateness


def oldest_event_time(version: RuleVersion, event_time: int) -> int:
    """The oldest event time (ms) that bears on what the version says of a transaction at that event time (ms)."""
    definition, window = version.definition, version.window_ms + (version.bucket_ms or 0)
    if definition.reset_on_alert or definition.cooldown_seconds is not None:
        return min(version.effective_from, event_time) - window
    return event_time - (2 * window if definition.firing == "crossing" else window)
