"""Deciding what a person may do with a case."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from alert_api.domain.cases.case import Case
from alert_api.domain.cases.folding import LogEntry, WorkDone
from alert_api.domain.cases.work import Acknowledge, Assign, Command, Comment, Reopen, Resolve, decide
from alert_api.domain.cases.work_events import WorkEvent
from alert_api.errors import CaseInTheWay, CaseStateConflict
from tests.unit.alert_api.support.case_log import facts, folded

ACKNOWLEDGE = Acknowledge(actor="ada", now=1)
CLAIM = Assign(actor="ada", now=1, assignee="ada")
HAND_OVER = Assign(actor="ada", now=1, assignee="bob")
RESOLVE = Resolve(actor="ada", now=1, outcome="confirmed_fraud", comment="three cards")
REOPEN = Reopen(actor="ada", now=1)
COMMENT = Comment(actor="ada", now=1, comment="asked the bank")


def after(commands: Sequence[Command]) -> Case:
    log: list[LogEntry] = [facts(1, 0)]
    for position, command in enumerate(commands, start=2):
        event = decide(folded(log).cases[1], command, None)
        assert event is not None
        log.append(WorkDone(position, event))
    return folded(log).cases[1]


@pytest.mark.parametrize(
    ("commands", "state", "assignee"),
    [
        ([ACKNOWLEDGE], "acknowledged", None),
        ([CLAIM], "assigned", "ada"),
        ([ACKNOWLEDGE, CLAIM, HAND_OVER], "assigned", "bob"),
        ([RESOLVE], "resolved", None),
        ([CLAIM, RESOLVE, REOPEN], "reopened", "ada"),
        ([CLAIM, RESOLVE, REOPEN, ACKNOWLEDGE], "acknowledged", "ada"),
        ([COMMENT], "open", None),
        ([RESOLVE, COMMENT], "resolved", None),
    ],
)
def test_states(commands: list[Command], state: str, assignee: str | None) -> None:
    case = after(commands)
    assert (case.state, case.assignee, case.version) == (state, assignee, 1 + len(commands))


def test_a_resolution_says_who_what_and_when() -> None:
    case = after([RESOLVE])
    assert (case.outcome, case.resolved_by, case.resolved_at) == ("confirmed_fraud", "ada", 1)


@pytest.mark.parametrize(
    ("commands", "command"),
    [
        ([CLAIM], ACKNOWLEDGE),
        ([Acknowledge(actor="bob", now=1)], ACKNOWLEDGE),
        ([RESOLVE], ACKNOWLEDGE),
        ([RESOLVE], CLAIM),
        ([RESOLVE], RESOLVE),
        ([], REOPEN),
    ],
)
def test_what_a_state_does_not_let_be_done(commands: list[Command], command: Command) -> None:
    with pytest.raises(CaseStateConflict):
        decide(after(commands), command, None)


@pytest.mark.parametrize(("commands", "command"), [([ACKNOWLEDGE], ACKNOWLEDGE), ([CLAIM], CLAIM)])
def test_what_is_so_already_is_no_event(commands: list[Command], command: Command) -> None:
    event: WorkEvent | None = decide(after(commands), command, None)
    assert event is None


def test_another_case_of_the_subject_is_in_the_way_of_reopening() -> None:
    with pytest.raises(CaseInTheWay, match="case 7"):
        decide(after([RESOLVE]), REOPEN, 7)
