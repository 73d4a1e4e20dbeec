"""Decide: what a person may do with a case in its state. `case.evolve` says what it is after that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, assert_never

from alert_api.domain.cases.case import Case
from alert_api.domain.cases.work_events import (
    CaseAcknowledged,
    CaseAssigned,
    CaseCommented,
    CaseReopened,
    CaseResolved,
    Outcome,
    WorkEvent,
)
from alert_api.errors import CaseInTheWay, CaseStateConflict


@dataclass(frozen=True, slots=True, kw_only=True)
class _Command:
    actor: str
    now: int
    comment: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledge(_Command):
    """`actor` has seen the case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assign(_Command):
    """`assignee` is to work on the case: claimed where that is the actor, handed over where another had it."""

    assignee: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolve(_Command):
    """`actor` says what it was."""

    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Reopen(_Command):
    """`actor` takes the resolution back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment(_Command):
    """`actor` writes something down."""


Command = Acknowledge | Assign | Resolve | Reopen | Comment


def decide(case: Case, command: Command, unresolved: int | None) -> WorkEvent | None:
    """The event that `command` causes; None where the case is so already.

    `unresolved` is the subject's unresolved case, if it has one. Raises CaseStateConflict where the state does not let
    it, and CaseInTheWay where another case of the subject is unresolved: there is one at most.
    """
    common: Any = {
        "case_id": case.case_id,
        "occurred_at": command.now,
        "actor": command.actor,
        "comment": command.comment,
    }
    match command:
        case Comment():
            return CaseCommented(**common)
        case Reopen():
            if case.unresolved:
                raise CaseStateConflict(case.case_id, case.state, "resolved")
            if unresolved is not None:
                raise CaseInTheWay(case.case_id, unresolved)
            return CaseReopened(**common)
    if not case.unresolved:
        raise CaseStateConflict(case.case_id, case.state, "unresolved")
    match command:
        case Acknowledge():
            if case.state == "acknowledged" and case.acknowledged_by == command.actor:
                return None
            if case.state not in ("open", "reopened"):
                raise CaseStateConflict(case.case_id, case.state, "open or reopened")
            return CaseAcknowledged(**common)
        case Assign():
            if case.state == "assigned" and case.assignee == command.assignee:
                return None
            return CaseAssigned(**common, assignee=command.assignee)
        case Resolve():
            return CaseResolved(**common, outcome=command.outcome)
    assert_never(command)
