"""Folding the log: alerts, people's work, snoozes and changes of the policy, each at its position, into episodes and
cases. An alert that a snooze covers is in none of them: it is marked with the snooze, and counted there.

Entries are folded one by one in the order of the log, so batches make no difference. A book holds what a batch touches,
or everything: what is not touched by an entry does not change.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from alert_api.domain.cases.alert_facts import AlertFacts
from alert_api.domain.cases.case import Case, evolve, opened, reopened, with_alert
from alert_api.domain.cases.episode import Episode, Series, episode_of, merged
from alert_api.domain.cases.policy import CasePolicy
from alert_api.domain.cases.snooze import Silence
from alert_api.domain.cases.snooze_events import (
    SnoozeApproved,
    SnoozeEnded,
    SnoozeEvent,
    SnoozeRejected,
    SnoozeRequested,
)
from alert_api.domain.cases.subject import Subject, subject_of
from alert_api.domain.cases.work_events import WorkEvent
from alert_api.errors import LifecycleBroken


@dataclass(frozen=True, slots=True)
class WorkDone:
    """An event of a person, at its position."""

    position: int
    event: WorkEvent


@dataclass(frozen=True, slots=True)
class PolicySet:
    """From this position on another policy holds."""

    position: int
    policy: CasePolicy


@dataclass(frozen=True, slots=True)
class SnoozeDone:
    """A snooze was asked for, and has this position as its id; or something was done about one."""

    position: int
    event: SnoozeEvent


LogEntry = AlertFacts | WorkDone | PolicySet | SnoozeDone


@dataclass(frozen=True, slots=True)
class Opening:
    """An alert opened a case (version 1) or reopened it, as its version."""

    case_id: int
    version: int
    position: int
    occurred_at: int


@dataclass(frozen=True, slots=True)
class Suppressed:
    """A snooze covered an alert."""

    alert: AlertFacts
    snooze_id: int


@dataclass(slots=True)
class CaseBook:
    """Episodes and cases to fold into, and what changed since.

    :ivar newest: of each subject the case that was active last: what comes goes there, or opens another one
    :ivar links: which case has which episodes; an episode that goes on after its case was resolved may be in several
    """

    policy: CasePolicy
    episodes: dict[Series, dict[int, Episode]] = field(default_factory=dict)
    cases: dict[int, Case] = field(default_factory=dict)
    newest: dict[Subject, int] = field(default_factory=dict)
    links: dict[int, set[int]] = field(default_factory=dict)
    """Cases by episode."""
    openings: list[Opening] = field(default_factory=list)
    changed_episodes: set[tuple[Series, int]] = field(default_factory=set)
    changed_cases: set[int] = field(default_factory=set)
    joined: set[int] = field(default_factory=set)
    """Ids of episodes that went into earlier ones."""
    silence: Silence = field(default_factory=Silence)
    suppressed: list[Suppressed] = field(default_factory=list)

    def fold(self, entries: Iterable[LogEntry]) -> None:
        """Take the entries in, in the order of the log."""
        for entry in entries:
            match entry:
                case AlertFacts():
                    snooze_id = self.silence.covering(entry, self.policy)
                    if snooze_id is None:
                        self._take_alert(entry)
                    else:
                        self.suppressed.append(Suppressed(entry, snooze_id))
                case WorkDone():
                    self._take_work(entry)
                case PolicySet():
                    self.policy = entry.policy
                case SnoozeDone(position, SnoozeRequested() as request):
                    self.silence.request(position, request)
                case SnoozeDone(_, SnoozeApproved() | SnoozeRejected() | SnoozeEnded() as step):
                    self.silence.step(step)

    def add_episode(self, episode: Episode, cases: Iterable[int]) -> None:
        """Know an episode that is there already."""
        self.episodes.setdefault(episode.series, {})[episode.episode_id] = episode
        self.links[episode.episode_id] = set(cases)

    def add_case(self, case: Case, *, newest: bool) -> None:
        """Know a case that is there already."""
        self.cases[case.case_id] = case
        if newest:
            self.newest[case.subject] = case.case_id

    def _take_alert(self, alert: AlertFacts) -> None:
        episode = self._into_episode(episode_of(alert, self.policy))
        case = with_alert(self._case_for(alert), alert)
        self.cases[case.case_id] = case
        self.changed_cases.add(case.case_id)
        self.links[episode.episode_id].add(case.case_id)

    def _into_episode(self, single: Episode) -> Episode:
        known = self.episodes.setdefault(single.series, {})
        touched = [episode for episode in known.values() if episode.touches(single)]
        episode = merged([*touched, single])
        cases: set[int] = set()
        for old in touched:
            del known[old.episode_id]
            cases |= self.links.pop(old.episode_id)
            if old.episode_id != episode.episode_id:
                self.joined.add(old.episode_id)
                self.changed_episodes.discard((old.series, old.episode_id))
        known[episode.episode_id] = episode
        self.links[episode.episode_id] = cases
        self.changed_episodes.add((episode.series, episode.episode_id))
        return episode

    def _case_for(self, alert: AlertFacts) -> Case:
        subject = subject_of(alert.rule_id, alert.group, self.policy)
        newest = self.newest.get(subject)
        if newest is not None:
            case = self.cases[newest]
            if case.resolved_at is None:
                return case
            if self.policy.reopen_ms and alert.detected_at < case.resolved_at + self.policy.reopen_ms:
                return self._opening(reopened(case, alert.position, alert.detected_at), alert)
        return self._opening(opened(alert, subject), alert)

    def _opening(self, case: Case, alert: AlertFacts) -> Case:
        self.newest[case.subject] = case.case_id
        self.openings.append(Opening(case.case_id, case.version, alert.position, alert.detected_at))
        return case

    def _take_work(self, done: WorkDone) -> None:
        event = done.event
        if event.case_id not in self.cases:
            raise LifecycleBroken(f"there is work on case {event.case_id}, and no alert has opened it")
        case = evolve(self.cases[event.case_id], event, done.position)
        self.cases[case.case_id] = case
        self.changed_cases.add(case.case_id)
        if case.unresolved:
            self.newest[case.subject] = case.case_id
