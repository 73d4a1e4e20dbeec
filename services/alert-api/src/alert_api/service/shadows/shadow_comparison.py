"""A shadow beside its rule: which transactions both, or only one of them, alerted about; and the arms of a rollout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from alert_api.domain.cases.work_events import Outcome
from alert_api.domain.performance.arms import ArmSums, RolloutSpan
from alert_api.domain.performance.precision import Precision
from alert_api.service.alert_counts import Span


class HourOfBoth(NamedTuple):
    """Transactions by the hour of their event time, counted since the epoch."""

    hour: int
    both: int
    only_active: int
    only_shadow: int


class Alerted(NamedTuple):
    """A transaction that was alerted about; its event time in ms."""

    transaction_id: str
    event_time: int


@dataclass(frozen=True, slots=True)
class Arm:
    """What counted in one arm: alerts that people were told of.

    :ivar cases: by outcome, resolved ones with such an alert; one with alerts of both arms is in both
    """

    sums: ArmSums = field(default_factory=ArmSums)
    cases: Mapping[Outcome, int] = field(default_factory=dict)

    @property
    def precision(self) -> Precision | None:
        """None before anything was decided either way."""
        return Precision.of(self.cases.get("confirmed_fraud", 0), self.cases.get("false_positive", 0))


@dataclass(frozen=True, slots=True)
class Arms:
    """Both arms of a rollout.

    :ivar spans: ascending, one for each percent
    """

    spans: Sequence[RolloutSpan]
    trial: Arm
    active: Arm


@dataclass(frozen=True, slots=True)
class ShadowComparison:
    """What a shadow and its rule gave.

    :ivar hours: ascending, those without alerts left out
    :ivar newest_only_active: some of the newest that the rule alone alerted about, newest first
    :ivar newest_only_shadow: and of those that the shadow alone did
    :ivar arms: None where it was not rolled out in the span
    """

    hours: Sequence[HourOfBoth]
    newest_only_active: Sequence[Alerted]
    newest_only_shadow: Sequence[Alerted]
    arms: Arms | None = None


class ShadowReader(Protocol):
    """Raises StoreUnavailable when the database is away."""

    def compare(self, rule_id: int, version: int, span: Span) -> ShadowComparison:
        """What that version gave as a shadow beside all that the rule's other versions gave, by event time."""
