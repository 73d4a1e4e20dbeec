"""Snoozes in the log: what they cover, from which position to which, and who may decide about them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alert_api.domain.cases.alert_facts import AlertFacts
from alert_api.domain.cases.folding import LogEntry, PolicySet, SnoozeDone
from alert_api.domain.cases.policy import CasePolicy
from alert_api.domain.cases.snooze import Snooze, SnoozeState, after
from alert_api.domain.cases.snooze_commands import (
    DAY_MS,
    ApproveSnooze,
    EndSnooze,
    RejectSnooze,
    RequestSnooze,
    SnoozeCommand,
    SnoozePolicy,
    decide_request,
    decide_step,
)
from alert_api.domain.cases.snooze_events import (
    SnoozeApproved,
    SnoozeEnded,
    SnoozeRejected,
    SnoozeRequested,
)
from alert_api.domain.cases.snooze_scope import SnoozeScope
from alert_api.domain.cases.subject import subject_of
from alert_api.errors import (
    AlertApiError,
    AnotherContent,
    LifecycleBroken,
    SecondPersonNeeded,
    SnoozeNotPossible,
    SnoozeStateConflict,
)
from tests.unit.alert_api.support.case_log import (
    GROUPS,
    POLICY,
    SCOPES,
    asked_for,
    facts,
    folded,
    text_of,
    worked_logs,
)

RULE = SnoozeScope(rule_id=1)
WHOLE = asked_for(RULE, 1_000)
AT_ONCE = asked_for(RULE, 1_000, four_eyes=False)
COMMON: dict[str, Any] = {"occurred_at": 50, "actor": "bob", "reason": "so"}
STEP: dict[str, Any] = {"snooze_id": 1, **COMMON, "content_hash": WHOLE.content_hash}
APPROVED, REJECTED, ENDED = SnoozeApproved(**STEP), SnoozeRejected(**STEP), SnoozeEnded(**STEP)
GROUP = {"payeeId": "25", "beneficiaryId": "7"}


def snoozed(*log: LogEntry) -> list[tuple[int, int]]:
    """Position of each alert that was covered, and by which snooze."""
    return [(entry.alert.position, entry.snooze_id) for entry in folded(log).suppressed]


@pytest.mark.parametrize(
    ("scope", "covers"),
    [
        (SnoozeScope(rule_id=1), True),
        (SnoozeScope(rule_id=2), False),
        (SnoozeScope(subject=("payeeId", "25")), True),
        (SnoozeScope(subject=("payeeId", "26")), False),
        # a case is about the first subject field of the group, and this is not it
        (SnoozeScope(subject=("beneficiaryId", "7")), False),
        (SnoozeScope(group=dict(reversed(GROUP.items()))), True),
        (SnoozeScope(group={"payeeId": "25"}), False),  # the whole group, or it is another one
        (SnoozeScope(1, ("payeeId", "25"), GROUP), True),
        (SnoozeScope(2, ("payeeId", "25"), GROUP), False),
        (SnoozeScope(1, ("payeeId", "26"), GROUP), False),
        (SnoozeScope(1, ("payeeId", "25"), {"payeeId": "25"}), False),
    ],
)
def test_all_that_a_scope_names_must_hold(scope: SnoozeScope, *, covers: bool) -> None:
    request = SnoozeDone(1, asked_for(scope, 1_000, four_eyes=False))
    assert snoozed(request, facts(2, 0, group=GROUP)) == ([(2, 1)] if covers else [])


def test_it_covers_from_its_position_to_its_end_and_what_is_detected_in_time() -> None:
    assert snoozed(
        facts(1, 0),
        SnoozeDone(2, WHOLE),
        facts(3, 0),  # nobody has approved it yet
        SnoozeDone(4, replace(APPROVED, snooze_id=2)),
        facts(5, 0, detected_at=999),
        facts(6, 0, detected_at=1_000),
        SnoozeDone(7, replace(ENDED, snooze_id=2)),
        facts(8, 0),
    ) == [(5, 2)]
    assert snoozed(SnoozeDone(1, WHOLE), SnoozeDone(2, REJECTED), facts(3, 0)) == []
    assert snoozed(SnoozeDone(1, AT_ONCE), facts(2, 0)) == [(2, 1)]


def test_what_is_covered_neither_opens_a_case_nor_counts_nor_reopens() -> None:
    book = folded([SnoozeDone(1, AT_ONCE), facts(2, 0), facts(3, 5, rule_id=2)])
    [case] = book.cases.values()
    assert (case.case_id, case.count, case.rule_ids) == (3, 1, (2,))
    assert [series.rule_id for series, episodes in book.episodes.items() if episodes] == [2]
    assert [opening.position for opening in book.openings] == [3]


def test_of_several_the_one_that_was_asked_for_first_covers() -> None:
    wide = asked_for(SnoozeScope(subject=("payeeId", "25")), 2_000, four_eyes=False)
    log = [SnoozeDone(1, AT_ONCE), SnoozeDone(2, wide)]
    assert snoozed(*log, facts(3, 0), facts(4, 0, detected_at=1_500)) == [(3, 1), (4, 2)]
    assert snoozed(*log, SnoozeDone(3, ENDED), facts(4, 0)) == [(4, 2)]


def test_the_policy_of_the_position_says_what_the_subject_is() -> None:
    request = SnoozeDone(1, asked_for(SnoozeScope(subject=("payeeId", "25")), 1_000, four_eyes=False))
    other = PolicySet(3, CasePolicy(None, ("beneficiaryId",)))
    assert snoozed(request, facts(2, 0, group=GROUP), other, facts(4, 0, group=GROUP)) == [(2, 1)]


@given(worked_logs())
def test_an_alert_is_snoozed_as_reading_the_whole_log_before_it_says(log: list[LogEntry]) -> None:
    """Read as the decision says it, without an index."""
    policy, snoozes, expected = POLICY, dict[int, Snooze](), []
    for entry in log:
        match entry:
            case PolicySet():
                policy = entry.policy
            case SnoozeDone(position, event):
                if isinstance(event, SnoozeRequested):
                    snoozes[position] = Snooze(position, event)
                else:
                    snoozes[event.snooze_id] = after(snoozes[event.snooze_id], event)
            case AlertFacts():
                covering = [
                    snooze_id
                    for snooze_id, snooze in snoozes.items()
                    if snooze.state(entry.detected_at) == "in_force"
                    and _holds(snooze.request.scope, entry, policy)
                ]
                if covering:
                    expected.append((entry.position, min(covering)))
    assert snoozed(*log) == expected


def _holds(scope: SnoozeScope, alert: AlertFacts, policy: CasePolicy) -> bool:
    subject = subject_of(alert.rule_id, alert.group, policy).text
    return (
        scope.rule_id in (None, alert.rule_id)
        and scope.group in (None, alert.group)
        and (
            scope.subject is None
            or subject == f'{{"field":"{scope.subject[0]}","value":"{scope.subject[1]}"}}'
        )
    )


@given(worked_logs(), st.data())
def test_a_snooze_leaves_everything_before_it_as_it_was(log: list[LogEntry], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(log)))
    request = asked_for(data.draw(st.sampled_from(SCOPES)), 10**9, four_eyes=False)
    assert text_of(folded([*log[:cut], SnoozeDone(10**6, request)])) == text_of(folded(log[:cut]))


@pytest.mark.parametrize(
    ("steps", "four_eyes", "now", "state"),
    [
        ([], True, 999, "requested"),
        ([], True, 1_000, "expired"),
        ([], False, 999, "in_force"),
        ([], False, 1_000, "expired"),
        ([APPROVED], True, 999, "in_force"),
        ([REJECTED], True, 5_000, "rejected"),
        ([ENDED], True, 5_000, "ended"),
        ([APPROVED, ENDED], True, 5_000, "ended"),
    ],
)
def test_states(steps: list[Any], now: int, state: SnoozeState, *, four_eyes: bool) -> None:
    snooze = Snooze(1, asked_for(RULE, 1_000, four_eyes=four_eyes))
    for step in steps:
        snooze = after(snooze, step)
    assert (snooze.state(now), snooze.version) == (state, 1 + len(steps))


APPROVE = ApproveSnooze(actor="bob", now=5, reason="so", content_hash=WHOLE.content_hash)
REJECT = RejectSnooze(actor="bob", now=5, reason="no")
END = EndSnooze(actor="ada", now=5, reason="over")


@pytest.mark.parametrize(
    ("steps", "command", "refusal"),
    [
        ([], replace(APPROVE, actor="ada"), SecondPersonNeeded),
        ([], replace(REJECT, actor="ada"), SecondPersonNeeded),
        ([], replace(APPROVE, content_hash="0" * 64), AnotherContent),
        ([], replace(APPROVE, now=1_000), SnoozeStateConflict),  # its time is over
        ([APPROVED], APPROVE, SnoozeStateConflict),
        ([APPROVED], REJECT, SnoozeStateConflict),
        ([REJECTED], APPROVE, SnoozeStateConflict),
        ([REJECTED], END, SnoozeStateConflict),
        ([ENDED], END, SnoozeStateConflict),
        ([ENDED], APPROVE, SnoozeStateConflict),
    ],
)
def test_what_cannot_be_done_is_refused(
    steps: list[Any], command: SnoozeCommand, refusal: type[AlertApiError]
) -> None:
    snooze = Snooze(1, WHOLE)
    for step in steps:
        snooze = after(snooze, step)
    with pytest.raises(refusal):
        decide_step(snooze, command)


@pytest.mark.parametrize(
    ("steps", "command", "expected"),
    [
        ([], APPROVE, SnoozeApproved),
        ([], REJECT, SnoozeRejected),
        ([], END, SnoozeEnded),
        ([APPROVED], END, SnoozeEnded),
        ([APPROVED], replace(END, actor="eve"), SnoozeEnded),
    ],
)
def test_what_can_be_done_names_what_was_asked_for(
    steps: list[Any], command: SnoozeCommand, expected: type
) -> None:
    snooze = Snooze(1, WHOLE)
    for step in steps:
        snooze = after(snooze, step)
    event = decide_step(snooze, command)
    assert type(event) is expected
    assert (event.actor, event.content_hash) == (command.actor, WHOLE.content_hash)


def test_a_request_needs_an_end_that_has_not_passed_and_is_near_enough() -> None:
    command = RequestSnooze(actor="ada", now=5, scope=RULE, until="u", expires_at=5, reason="r")
    with pytest.raises(SnoozeNotPossible, match="until: expected a time that has not passed"):
        decide_request(command, SnoozePolicy())
    with pytest.raises(SnoozeNotPossible, match="within 90 days"):
        decide_request(replace(command, expires_at=6 + 90 * DAY_MS), SnoozePolicy())
    assert decide_request(replace(command, expires_at=5 + 90 * DAY_MS), SnoozePolicy()).four_eyes


def test_the_hash_is_of_all_that_is_asked_for() -> None:
    command = RequestSnooze(actor="ada", now=5, scope=RULE, until="u", expires_at=50, reason="r")
    others = [
        replace(command, scope=SnoozeScope(rule_id=2)),
        replace(command, scope=SnoozeScope(1, None, GROUPS[0])),
        replace(command, scope=SnoozeScope(1, ("payeeId", "25"))),
        replace(command, until="v"),
        replace(command, reason="s"),
    ]
    hashes = {decide_request(asked, SnoozePolicy()).content_hash for asked in (command, *others)}
    assert len(hashes) == 1 + len(others)


@pytest.mark.parametrize(
    "log",
    [
        [SnoozeDone(1, ENDED)],
        [SnoozeDone(1, WHOLE), SnoozeDone(2, APPROVED), SnoozeDone(3, REJECTED)],
        [SnoozeDone(1, WHOLE), SnoozeDone(2, ENDED), SnoozeDone(3, ENDED)],
        [SnoozeDone(1, AT_ONCE), SnoozeDone(2, APPROVED)],
    ],
)
def test_a_log_that_cannot_have_happened_is_refused(log: list[LogEntry]) -> None:
    with pytest.raises(LifecycleBroken):
        folded(log)
