"""The log folded: in any batches the same, in any order of alerts the same episodes, and work where it was done."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alert_api.domain.cases.alert_facts import AlertFacts, Measured
from alert_api.domain.cases.case import Case
from alert_api.domain.cases.episode import Episode
from alert_api.domain.cases.folding import CaseBook, LogEntry, PolicySet, WorkDone
from alert_api.domain.cases.policy import CasePolicy
from alert_api.domain.cases.subject import Subject
from alert_api.domain.cases.work_events import CaseAcknowledged, CaseAssigned, CaseReopened, CaseResolved
from alert_api.errors import LifecycleBroken
from tests.unit.alert_api.support.case_log import (
    GROUPS,
    MINUTE,
    POLICY,
    alerts,
    facts,
    folded,
    text_of,
    unresolved_of,
    worked_logs,
)


def episodes_of(book: CaseBook) -> list[Episode]:
    return sorted(
        (episode for series in book.episodes.values() for episode in series.values()),
        key=lambda episode: (episode.first, episode.series),
    )


def only_case(book: CaseBook) -> Case:
    [case] = book.cases.values()
    return case


def resolved(position: int, now: int, case_id: int = 1) -> WorkDone:
    event = CaseResolved(case_id=case_id, occurred_at=now, actor="ada", outcome="false_positive")
    return WorkDone(position, event)


@given(worked_logs(), st.data())
def test_batches_make_no_difference(log: list[LogEntry], data: st.DataObject) -> None:
    book = CaseBook(POLICY)
    rest = log
    while rest:
        size = data.draw(st.integers(1, len(rest)))
        book.fold(rest[:size])
        rest = rest[size:]
    assert text_of(book) == text_of(folded(log))


@given(worked_logs())
def test_a_subject_has_one_unresolved_case_at_most(log: list[LogEntry]) -> None:
    book = folded(log)
    unresolved = [case.subject for case in book.cases.values() if case.unresolved]
    assert len(unresolved) == len(set(unresolved))
    for case in book.cases.values():
        if case.unresolved:
            active = [other for other in book.cases.values() if other.subject == case.subject]
            assert max(active, key=lambda other: other.active_since) is case
            assert unresolved_of(book, case) == case.case_id


@given(worked_logs())
def test_every_alert_is_in_one_episode_and_counted_in_one_case_or_snoozed(log: list[LogEntry]) -> None:
    book = folded(log)
    raised = [entry for entry in log if isinstance(entry, AlertFacts)]
    snoozed = {entry.alert.alert_id for entry in book.suppressed}
    assert len(snoozed) == len(book.suppressed)
    taken = [alert for alert in raised if alert.alert_id not in snoozed]
    assert len(taken) + len(snoozed) == len(raised)
    assert sum(episode.count for episode in episodes_of(book)) == len(taken)
    assert sum(case.count for case in book.cases.values()) == len(taken)
    for alert in taken:
        within = [
            episode
            for series, episodes in book.episodes.items()
            for episode in episodes.values()
            if series.rule_id == alert.rule_id
            and episode.group == next(iter(folded([alert]).episodes.values()))[alert.position].group
            and episode.first <= alert.event_time <= episode.last
        ]
        assert len(within) == 1, "event times tell an episode's alerts"
        assert book.links[within[0].episode_id]


@given(alerts(), st.randoms(use_true_random=False))
def test_the_order_of_alerts_makes_no_difference_to_episodes_and_cases(
    taken: list[AlertFacts], random: object
) -> None:
    shuffled = list(taken)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    shuffled = [replace(alert, position=1000 + number) for number, alert in enumerate(shuffled)]

    def without_ids(book: CaseBook) -> tuple[list[Episode], list[tuple[object, ...]]]:
        episodes = [replace(episode, episode_id=0) for episode in episodes_of(book)]
        cases = [
            (case.subject.text, case.state, case.count, case.first, case.last, case.rule_ids)
            for case in book.cases.values()
        ]
        return episodes, sorted(cases, key=str)

    assert without_ids(folded(shuffled)) == without_ids(folded(taken))


def test_what_touches_is_one_episode_and_what_does_not_is_another() -> None:
    book = folded([facts(1, 0), facts(2, MINUTE), facts(3, 2 * MINUTE + 1)])
    assert [(episode.first, episode.last, episode.count) for episode in episodes_of(book)] == [
        (0, MINUTE, 2),
        (2 * MINUTE + 1, 2 * MINUTE + 1, 1),
    ]
    assert only_case(book).count == 3


def test_a_window_that_ends_before_it_begins_covers_its_event() -> None:
    book = folded([facts(1, 500, window_ms=-400), facts(2, 500, window_ms=-400)])
    assert [(episode.until, episode.count) for episode in episodes_of(book)] == [(500, 2)]


def test_a_late_alert_joins_two_episodes_into_the_one_that_began_first_in_the_log() -> None:
    book = folded([facts(5, 100_000), facts(6, 0), facts(7, 50_000)])
    [episode] = episodes_of(book)
    assert (episode.episode_id, episode.first, episode.last, episode.count) == (5, 0, 100_000, 3)
    assert (book.links, book.joined) == ({5: {5}}, {6})


def test_the_peak_is_furthest_beyond_the_limit_in_the_direction_of_the_rule() -> None:
    low = [facts(n, n, measured=Measured(value, "<", "5")) for n, value in ((1, "4"), (2, "-2.5"), (3, "3"))]
    [episode] = episodes_of(folded(low))
    assert episode.peak is not None
    assert (episode.peak.measured.value, episode.peak.event_time) == ("-2.5", 2)
    far = [
        facts(1, 1, measured=Measured("100000000000000000000000000000000000.000001", ">", "5")),
        facts(2, 2, measured=Measured("100000000000000000000000000000000000.000002", ">", "5")),
        facts(3, 3, measured=None),
    ]
    [episode] = episodes_of(folded(far))
    assert episode.peak is not None
    assert episode.peak.event_time == 2, "exact beyond what a float can hold"


def test_all_rules_that_a_subject_tripped_are_one_case() -> None:
    book = folded([facts(1, 0), facts(2, 10**9, rule_id=2), facts(3, 5, rule_id=3, group=GROUPS[2])])
    case = only_case(book)
    assert (case.rule_ids, case.count, len(episodes_of(book))) == ((1, 2, 3), 3, 3)
    assert case.subject == Subject.of_field("payeeId", "25")


def test_without_a_subject_field_in_its_group_a_series_is_its_own_subject() -> None:
    book = folded([facts(1, 0, group=GROUPS[3]), facts(2, 0, group=GROUPS[3], rule_id=2)])
    assert [case.rule_ids for case in book.cases.values()] == [(1,), (2,)]


@pytest.mark.parametrize(
    ("detected_at", "reopen_ms", "expected"),
    [
        (5_999, 1000, [(1, "reopened")]),
        (6_000, 1000, [(1, "resolved"), (3, "open")]),
        (4_000, 1000, [(1, "reopened")]),  # detected before and stored after: nobody had seen it
        (4_000, 0, [(1, "resolved"), (3, "open")]),
    ],
)
def test_what_comes_after_a_resolution(
    detected_at: int, reopen_ms: int, expected: list[tuple[int, str]]
) -> None:
    policy = replace(POLICY, reopen_ms=reopen_ms)
    book = folded([facts(1, 0), resolved(2, 5_000), facts(3, 10, detected_at=detected_at)], policy)
    assert [(case.case_id, case.state) for case in book.cases.values()] == expected
    assert book.links == {1: {case_id for case_id, _ in expected}}, "the episode goes on and is in both"
    assert sum(case.count for case in book.cases.values()) == 2


def test_a_reopened_case_stays_with_the_person_who_had_it() -> None:
    work = [
        WorkDone(2, CaseAcknowledged(case_id=1, occurred_at=1, actor="ada")),
        WorkDone(3, CaseAssigned(case_id=1, occurred_at=2, actor="ada", assignee="bob")),
        resolved(4, 50),
    ]
    case = only_case(folded([facts(1, 0), *work, facts(5, 60)]))
    assert (case.state, case.assignee, case.outcome, case.version) == ("reopened", "bob", None, 5)
    assert (case.acknowledged_by, case.resolved_by) == (None, None)


def test_a_policy_holds_from_its_position_on() -> None:
    log: list[LogEntry] = [
        facts(1, 0),
        PolicySet(2, CasePolicy(0, (), 0)),
        facts(3, 10 * MINUTE),
        facts(4, 10 * MINUTE + 1),
    ]
    book = folded(log)
    assert [episode.count for episode in episodes_of(book)] == [1, 1, 1]
    assert len(book.cases) == 2, "from there on rule and group are the subject"


@pytest.mark.parametrize(
    "log",
    [
        [resolved(2, 5)],
        [facts(1, 0), resolved(2, 5), resolved(3, 6)],
        [facts(1, 0), WorkDone(2, CaseReopened(case_id=1, occurred_at=5, actor="ada"))],
    ],
)
def test_a_log_that_cannot_have_happened_is_refused(log: list[LogEntry]) -> None:
    with pytest.raises(LifecycleBroken):
        folded(log)
