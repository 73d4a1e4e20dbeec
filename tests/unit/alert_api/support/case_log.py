"""Logs of alerts and of work on cases, to fold, and folded state as text, to compare."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any

from hypothesis import strategies as st

from alert_api.domain.cases.alert_facts import AlertFacts, Measured
from alert_api.domain.cases.case import Case
from alert_api.domain.cases.folding import CaseBook, LogEntry, PolicySet, WorkDone
from alert_api.domain.cases.policy import CasePolicy
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


@st.composite
def worked_logs(draw: st.DrawFn) -> list[LogEntry]:
    """Alerts, with commands of people in between as far as they are allowed, and changes of the policy."""
    book, log = CaseBook(POLICY), list[LogEntry]()
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
    return log


def _work(draw: st.DrawFn, book: CaseBook, position: int) -> WorkDone | None:
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
    }
    return json.dumps(state, sort_keys=True)
