"""What people do with cases, as the log keeps it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Outcome = Literal["confirmed_fraud", "false_positive", "known_accepted", "inconclusive"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """`occurred_at` in ms since the epoch; `comment` as the person wrote it, if anything."""

    case_id: int
    occurred_at: int
    actor: str
    comment: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseAcknowledged(_Work):
    """`actor` has seen it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseAssigned(_Work):
    """`assignee` works on it: `actor` claimed it, gave it to somebody, or handed it over."""

    assignee: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResolved(_Work):
    """`actor` found out what it was."""

    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseReopened(_Work):
    """`actor` takes the resolution back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseCommented(_Work):
    """`actor` wrote something down."""


WorkEvent = CaseAcknowledged | CaseAssigned | CaseResolved | CaseReopened | CaseCommented
WORK_EVENTS: dict[str, type[WorkEvent]] = {
    kind.__name__: kind
    for kind in (CaseAcknowledged, CaseAssigned, CaseResolved, CaseReopened, CaseCommented)
}
