"""A case: what came about one subject while it was unresolved, and the work on it.

    open ──▶ acknowledged ──▶ assigned ──▶ resolved ──▶ reopened ──▶ acknowledged, assigned, resolved
      └───────────┴───────────────┴───────────▲  something new, or a person, reopens

A case is open from its first alert on. Its version counts its openings and what people did: an alert that joins an
unresolved case does not raise it, for a case in which much happens could never be changed otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, assert_never, get_args

from alert_api.domain.cases.alert_facts import AlertFacts
from alert_api.domain.cases.subject import Subject
from alert_api.domain.cases.work_events import (
    CaseAcknowledged,
    CaseAssigned,
    CaseCommented,
    CaseReopened,
    CaseResolved,
    Outcome,
    WorkEvent,
)
from alert_api.errors import LifecycleBroken

CaseState = Literal["open", "acknowledged", "assigned", "resolved", "reopened"]
STATES: tuple[CaseState, ...] = get_args(CaseState)
Standing = CaseState | Literal["unresolved"]


@dataclass(frozen=True, slots=True)
class Case:
    """Times in ms since the epoch; `first` and `last` are event times, the others are the log's.

    :ivar case_id: the position of the alert that opened it in the log
    :ivar count: alerts that came while it was this subject's case
    :ivar active_since: the position at which it was opened, or reopened the last time: of the cases of a subject the
        one with the highest takes what comes, and no other is unresolved
    :ivar active_at: when that was
    """

    case_id: int
    subject: Subject
    state: CaseState
    version: int
    count: int
    first: int
    last: int
    rule_ids: tuple[int, ...]
    opened_at: int
    changed_at: int
    active_since: int
    active_at: int
    acknowledged_by: str | None = None
    acknowledged_at: int | None = None
    assignee: str | None = None
    outcome: Outcome | None = None
    resolved_by: str | None = None
    resolved_at: int | None = None

    @property
    def unresolved(self) -> bool:
        return self.state != "resolved"


def opened(alert: AlertFacts, subject: Subject) -> Case:
    """The case that an alert opens; it is not counted yet."""
    return Case(
        case_id=alert.position,
        subject=subject,
        state="open",
        version=1,
        count=0,
        first=alert.event_time,
        last=alert.event_time,
        rule_ids=(),
        opened_at=alert.detected_at,
        changed_at=alert.detected_at,
        active_since=alert.position,
        active_at=alert.detected_at,
    )


def with_alert(case: Case, alert: AlertFacts) -> Case:
    """The case with one more alert."""
    rules = (
        case.rule_ids if alert.rule_id in case.rule_ids else tuple(sorted({*case.rule_ids, alert.rule_id}))
    )
    return replace(
        case,
        count=case.count + 1,
        first=min(case.first, alert.event_time),
        last=max(case.last, alert.event_time),
        rule_ids=rules,
    )


def reopened(case: Case, position: int, now: int) -> Case:
    """The resolved case again, from this position on; it stays with the person who had it."""
    if case.unresolved:
        raise LifecycleBroken(f"case {case.case_id} was reopened and had not been resolved")
    return replace(
        case,
        state="reopened",
        version=case.version + 1,
        changed_at=now,
        active_since=position,
        active_at=now,
        acknowledged_by=None,
        acknowledged_at=None,
        outcome=None,
        resolved_by=None,
        resolved_at=None,
    )


def evolve(case: Case, event: WorkEvent, position: int) -> Case:
    """The case after what a person did at this position. Raises LifecycleBroken for what cannot have been allowed."""
    if isinstance(event, CaseReopened):
        return reopened(case, position, event.occurred_at)
    after = replace(case, version=case.version + 1, changed_at=event.occurred_at)
    if isinstance(event, CaseCommented):
        return after
    if not case.unresolved:
        raise LifecycleBroken(f"case {case.case_id} was resolved when {type(event).__name__}")
    match event:
        case CaseAcknowledged():
            return replace(
                after,
                state="acknowledged",
                acknowledged_by=event.actor,
                acknowledged_at=event.occurred_at,
            )
        case CaseAssigned():
            return replace(after, state="assigned", assignee=event.assignee)
        case CaseResolved():
            return replace(
                after,
                state="resolved",
                outcome=event.outcome,
                resolved_by=event.actor,
                resolved_at=event.occurred_at,
            )
    assert_never(event)
