"""An estimate for one revision of a change: how it stands, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from rules_registry.domain.estimates.figures import Clusters, Figure, a_day, at_most, divided, plus, total

State = Literal["waiting", "running", "done", "failed"]
STATES: Final = get_args(State)
MAX_ATTEMPTS: Final = 3
"""How often one is begun: whoever makes it may die meanwhile."""
ESTIMATED: Final = ("PUBLISH_RULE", "CHANGE_RULE")
"""Kinds of changes that an estimate is made for."""
DAY_MS: Final = 86_400_000
OPEN_MS: Final = 7 * DAY_MS
"""A change that nobody has touched for so long asks for no estimate any more."""
DONE_MS: Final = DAY_MS
"""Nor does one that was approved so long ago: the rule says itself what it gives."""
Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class EstimateBounds:
    """What estimates may come to.

    :ivar days: of the newest history at most; 0: none are made
    :ivar transactions: about so many at most are in the sample
    :ivar seconds: one may take so long
    """

    days: int = 0
    transactions: int = 1_000_000
    seconds: int = 300


@dataclass(frozen=True, slots=True)
class Estimate:
    """Times are in ms; `result` is as the engine tells it.

    :ivar run_key: what it is called at whoever makes it; None before it was begun
    :ivar note: what holds it up; None where nothing does
    :ivar actual: what the rule gave on its first day: `from`, `until`, `alerts` and `groups`; None before that is over
    """

    change_id: int
    revision: int
    state: State = "waiting"
    run_key: str | None = None
    attempts: int = 0
    started_at: int | None = None
    ended_at: int | None = None
    note: str | None = None
    failure: str | None = None
    result: Json | None = None
    actual: Json | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """A rule that an estimate is to be made for, and how the estimate stands."""

    estimate: Estimate
    rule_id: int
    name: str
    definition: Json


@dataclass(frozen=True, slots=True)
class Figures:
    """What a rule will say in a day, and cost. `held_bytes` are those of the rule as if it were the only one."""

    alerts_per_day: Figure
    groups_per_day: Figure
    held_bytes: Figure
    evaluations_per_second: Figure


@dataclass(frozen=True, slots=True)
class Sample:
    """What an estimate is made from.

    :ivar parts: one of so many parts of the groups was judged
    :ivar first: event times (ms) of the span, `until` excluded
    :ivar transactions: that were read, those of other groups too
    :ivar seconds: that it took
    """

    parts: int
    grouped: bool
    first: int
    until: int
    transactions: int
    seconds: float

    @property
    def days(self) -> float:
        """How long the span is."""
        return (self.until - self.first) / DAY_MS


def is_asked_for(state: str, changed_at: int, now_ms: int) -> bool:
    """Whether a change of a rule that stands so since then (ms) asks for an estimate."""
    if state in ("DRAFT", "SUBMITTED"):
        return changed_at > now_ms - OPEN_MS
    return state == "APPROVED" and changed_at > now_ms - DONE_MS


def sample_of(result: Json) -> Sample:
    """What the engine's numbers come from."""
    return Sample(
        result["parts"],
        result["grouped"],
        result["from"],
        result["until"],
        result["transactions"],
        result["seconds"],
    )


def figures_of(result: Json) -> Figures:
    """What the engine's numbers of a sample come to."""
    sample, slices, bare = sample_of(result), result["slices"], result["bareBytes"]
    groups = a_day(Clusters.from_json(result["groups"]), sample.days, sample.parts)
    evaluations = total([one["evaluations"] for one in slices], sample.parts)
    held = total([max(0, one["bytes"] - bare) for one in slices], sample.parts)
    return Figures(
        a_day(Clusters.from_json(result["alerts"]), sample.days, sample.parts),
        groups if sample.grouped else at_most(groups, 1),
        plus(held, bare),
        divided(evaluations, (sample.until - sample.first) / 1_000),
    )
