"""Logs of alerts, of work on cases and of snoozes, to fold, and folded state as text, to compare."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any

from hypothesis import strategies as st

from alert_api.domain.cases.alert_facts import AlertFacts, Measured
from alert_api.domain.cases.case import Case
from alert_api.domain.cases.folding import CaseBook, LogEntry, PolicySet, SnoozeDone, WorkDone
from alert_api.domain.cases.policy import CasePolicy
from alert_api.domain.cases.snooze import Snooze, after
from alert_api.domain.cases.snooze_commands import (
    ApproveSnooze,
    EndSnooze,
    RejectSnooze,
    RequestSnooze,
    SnoozeCommand,
    SnoozePolicy,
    decide_request,
    decide_step,
)
from alert_api.domain.cases.snooze_events import SnoozeRequested
from alert_api.domain.cases.snooze_scope import SnoozeScope
from alert_api.domain.cases.work import Acknowledge, Assign, Command, Comment, Reopen, Resolve, decide
from alert_api.domain.cases.work_events import OUTCOMES
from alert_api.domain.events import AlertId
from alert_api.errors import AlertApiError

POLICY = CasePolicy(gap_ms=None, subject_fields=("payeeId", "beneficiaryId"), reopen_ms=1000)
MINUTE = 60_000


def facts(position: int, event_time: int, **changes: Any) -> AlertFacts:
    """An alert of rule 1 and payee 25, whose window is a minute."""
    made: dict[str, Any] = {
        "position": position,
        "alert_id": AlertId(str(uuid.UUID(int=position))),
        "rule_id": 1,
        "group": {"payeeId": "25"},
        "event_time": event_time,
        "detected_at": event_time + 10,
        "window_ms": MINUTE,
        "measured": Measured(str(30 + position), ">", "30"),
    }
    return AlertFacts(**{**made, **changes})


GROUPS = (
    {"payeeId": "25"},
    {"payeeId": "26"},
    {"payeeId": "25", "beneficiaryId": "7"},
    {"paymentType": "CSH"},
)


@st.composite
def alerts(draw: st.DrawFn, most: int = 14) -> list[AlertFacts]:
    """Alerts of a few rules and groups, near one another: they overlap, touch and leave gaps."""
    drawn = draw(
        st.lists(
            st.tuples(
                st.integers(1, 2),
                st.sampled_from(GROUPS),
                st.integers(0, 40),
                st.integers(1, 5),
                st.sampled_from(["9.5", "10", "-3", "99999999999999999999999999999.000001"]),
                st.sampled_from([">", "<", ">=", "<=", "!=", "="]),
            ),
            min_size=1,
            max_size=most,
        )
    )
    return [
        facts(
            number,
            at_ms,
            rule_id=rule,
            group=group,
            window_ms=window,
            measured=None if rule == 2 and at_ms % 7 == 0 else Measured(value, operator, "5"),
            detected_at=1000 + 37 * number,
        )
        for number, (rule, group, at_ms, window, value, operator) in enumerate(drawn, start=1)
    ]


COMMANDS: tuple[Callable[[str, int], Command], ...] = (
    lambda actor, now: Acknowledge(actor=actor, now=now),
    lambda actor, now: Assign(actor=actor, now=now, assignee=actor),
    lambda actor, now: Assign(actor=actor, now=now, assignee="eve", comment="over to you"),
    lambda actor, now: Reopen(actor=actor, now=now),
    lambda actor, now: Comment(actor=actor, now=now, comment="a remark"),
    *(
        lambda actor, now, outcome=outcome: Resolve(actor=actor, now=now, outcome=outcome)
        for outcome in OUTCOMES
    ),
)


SCOPES = (
    SnoozeScope(rule_id=1),
    SnoozeScope(subject=("payeeId", "25")),
    SnoozeScope(group={"payeeId": "26"}),
    SnoozeScope(rule_id=2, subject=("payeeId", "25")),
    SnoozeScope(rule_id=1, subject=("payeeId", "25"), group={"payeeId": "25"}),
)


def asked_for(
    scope: SnoozeScope, expires_at: int, *, four_eyes: bool = True, now: int = 0
) -> SnoozeRequested:
    """Ada asks for it."""
    command = RequestSnooze(
        actor="ada", now=now, scope=scope, until="as asked", expires_at=expires_at, reason="known"
    )
    return decide_request(command, SnoozePolicy(four_eyes=four_eyes))


class SnoozesDrawn:
    """Requests and steps as far as they are allowed."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw
        self._snoozes: dict[int, Snooze] = {}

    def next(self, position: int, now: int) -> SnoozeDone | None:
        """Something that is done about snoozes at this position, or nothing."""
        what = self._draw(st.sampled_from(["nothing", "request", "request", "approve", "reject", "end"]))
        if what == "request":
            scope, length = self._draw(st.sampled_from(SCOPES)), self._draw(st.integers(1, 400))
            request = asked_for(scope, now + length, four_eyes=self._draw(st.booleans()), now=now)
            self._snoozes[position] = Snooze(position, request)
            return SnoozeDone(position, request)
        if what == "nothing" or not self._snoozes:
            return None
        snooze = self._snoozes[self._draw(st.sampled_from(sorted(self._snoozes)))]
        try:
            step = decide_step(snooze, snooze_command(what, snooze, now))
        except AlertApiError:
            return None
        self._snoozes[snooze.snooze_id] = after(snooze, step)
        return SnoozeDone(position, step)


def snooze_command(what: str, snooze: Snooze, now: int) -> SnoozeCommand:
    """Bob approves or rejects it, or ada ends it."""
    if what == "approve":
        return ApproveSnooze(
            actor="bob", now=now, reason="so it is", content_hash=snooze.request.content_hash
        )
    if what == "reject":
        return RejectSnooze(actor="bob", now=now, reason="no")
    return EndSnooze(actor="ada", now=now, reason="over")


@st.composite
def worked_logs(draw: st.DrawFn) -> list[LogEntry]:
    """Alerts, with commands of people in between as far as they are allowed, snoozes, and changes of the policy."""
    book, log, snoozes = CaseBook(POLICY), list[LogEntry](), SnoozesDrawn(draw)
    for number, alert in enumerate(draw(alerts()), start=1):
        entries: list[LogEntry] = [replace(alert, position=10 * number)]
        if draw(st.integers(0, 9)) == 0:
            changed = CasePolicy(draw(st.sampled_from([None, 3])), (), draw(st.sampled_from([0, 50, 10**6])))
            entries.append(PolicySet(10 * number + 1, changed))
        book.fold(entries)
        log += entries
        for offset in range(2, 2 + draw(st.integers(0, 3))):
            done = _work(draw, book, 10 * number + offset)
            if done is not None:
                book.fold([done])
                log.append(done)
        for offset in range(6, 6 + draw(st.integers(0, 2))):
            about = snoozes.next(10 * number + offset, 1000 + 37 * number)
            if about is not None:
                book.fold([about])
                log.append(about)
    return log


def _work(draw: st.DrawFn, book: CaseBook, position: int) -> WorkDone | None:
    if not book.cases:
        return None
    case = book.cases[draw(st.sampled_from(sorted(book.cases)))]
    command = draw(st.sampled_from(COMMANDS))(draw(st.sampled_from(["ada", "bob"])), 1000 + 4 * position)
    try:
        event = decide(case, command, unresolved_of(book, case))
    except AlertApiError:
        return None
    return None if event is None else WorkDone(position, event)


def unresolved_of(book: CaseBook, case: Case) -> int | None:
    unresolved = [
        other.case_id for other in book.cases.values() if other.unresolved and other.subject == case.subject
    ]
    return unresolved[0] if unresolved else None


def folded(log: Sequence[LogEntry], policy: CasePolicy = POLICY) -> CaseBook:
    book = CaseBook(policy)
    book.fold(log)
    return book


def text_of(book: CaseBook) -> str:
    """All that the book says, the same for equal states and for no others."""
    episodes = [episode for series in book.episodes.values() for episode in series.values()]
    state = {
        "episodes": [asdict(episode) for episode in sorted(episodes, key=lambda episode: episode.episode_id)],
        "cases": [asdict(book.cases[case_id]) for case_id in sorted(book.cases)],
        "links": {episode: sorted(cases) for episode, cases in sorted(book.links.items())},
        "openings": [asdict(opening) for opening in book.openings],
        "suppressed": [(entry.alert.alert_id, entry.snooze_id) for entry in book.suppressed],
    }
    return json.dumps(state, sort_keys=True)
