"""A backtest: what was asked for, and how it stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, Self, get_args

from rules_registry.domain.backtests.errors import UnfitSpan
from rules_registry.errors import IllegalStep

State = Literal["queued", "running", "cancelling", "done", "failed", "cancelled"]
STATES: Final = get_args(State)
Knowledge = Literal["as-it-was", "today"]
"""What counts at each moment: what the engine knew then, or what is known today."""
KNOWLEDGE: Final = get_args(Knowledge)
AS_IT_WAS: Final[Knowledge] = "as-it-was"
MAX_ATTEMPTS: Final = 3
"""How often one is begun: whoever runs it may die meanwhile."""
DAY_MS: Final = 86_400_000
Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Tried:
    """One rule that is tried.

    :ivar tried_id: its id in the backtest: the rule's own where it has one and no other is tried under it
    :ivar version: None for a draft
    :ivar beside: the rule whose live alerts it is compared with
    :ivar counted: its alerts are counted, and none of them can be read
    """

    name: str
    definition: Json
    rule_id: int | None = None
    version: int | None = None
    beside: int | None = None
    tried_id: int = 0
    counted: bool = False

    def to_json(self) -> dict[str, Any]:
        """As it is kept, and told."""
        return {
            "triedId": self.tried_id,
            "name": self.name,
            "definition": dict(self.definition),
            "ruleId": self.rule_id,
            "version": self.version,
            "beside": self.beside,
            "counted": self.counted,
        }

    @classmethod
    def from_json(cls, kept: Json) -> Self:
        """Of what `to_json` gave."""
        return cls(
            kept["name"],
            kept["definition"],
            kept["ruleId"],
            kept["version"],
            kept["beside"],
            kept["triedId"],
            # of a release before there is none
            kept.get("counted", False),
        )


@dataclass(frozen=True, slots=True)
class Wanted:
    """Rules, and the span of event times (ms) in which they are in force, `until` excluded."""

    first: int
    until: int
    rules: tuple[Tried, ...]
    knowledge: Knowledge = AS_IT_WAS

    @property
    def rule_ids(self) -> list[int]:
        """Rules that it is about, each once."""
        named = {rule_id for rule in self.rules for rule_id in (rule.rule_id, rule.beside)}
        return sorted(rule_id for rule_id in named if rule_id is not None)


@dataclass(frozen=True, slots=True)
class Backtest:
    """A job. Times are in ms; `progress` and `result` are as whoever runs it tells them.

    :ivar run_key: what it is called there
    :ivar note: what holds it up, or happened to it; None where nothing did
    """

    backtest_id: int
    run_key: str
    wanted: Wanted
    requested_by: str
    requested_at: int
    state: State = "queued"
    started_at: int | None = None
    ended_at: int | None = None
    expires_at: int | None = None
    attempts: int = 0
    progress: Json = field(default_factory=dict)
    note: str | None = None
    failure: str | None = None
    result: Json | None = None

    @property
    def is_open(self) -> bool:
        """Whether something is still to come."""
        return self.state in ("queued", "running", "cancelling")

    def cancelled_by_wish(self, now_ms: int, expires_at: int) -> Self:
        """After somebody asked for its end: one that nobody has begun ends at once. Raises `IllegalStep`."""
        if not self.is_open:
            raise IllegalStep(f"Backtest {self.backtest_id}", self.state, "cancel", ())
        if self.state == "queued":
            return replace(self, state="cancelled", ended_at=now_ms, expires_at=expires_at)
        return replace(self, state="cancelling")

    def seconds_left(self) -> int | None:
        """An estimate; None before there is anything to go by."""
        share, seconds = self.progress.get("share", 0), self.progress.get("seconds", 0)
        return round(seconds * (1 - share) / share) if self.state == "running" and share >= 0.01 else None


def numbered(rules: Iterable[Tried]) -> tuple[Tried, ...]:
    """The same with ids that no two of them share."""
    rules = list(rules)
    used: set[int] = set()
    kept: list[Tried] = []
    following = max((rule.rule_id or 0 for rule in rules), default=0)
    for rule in rules:
        tried_id = rule.rule_id
        if tried_id is None or tried_id in used:
            following += 1
            tried_id = following
        used.add(tried_id)
        kept.append(replace(rule, tried_id=tried_id))
    return tuple(kept)


def require_span(first: int, until: int, longest_days: int) -> None:
    """Raises `UnfitSpan`."""
    if first >= until:
        raise UnfitSpan("expected a time after from")
    if until - first > longest_days * DAY_MS:
        raise UnfitSpan(
            f"expected at most {longest_days} days after from: TRIPLINE_BACKTEST_DAYS sets how many"
        )


def beside_of(rules: Sequence[Tried]) -> list[list[int]]:
    """Pairs: a tried rule, and the live one that it is compared with."""
    return [[rule.tried_id, rule.beside] for rule in rules if rule.beside is not None]
