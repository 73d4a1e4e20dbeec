"""Cases in memory with the contract of the Postgres ones: a log, folded as it grows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from alert_api.api.application import Cases
from alert_api.domain.cases.alert_facts import AlertFacts
from alert_api.domain.cases.case import Case, CaseState
from alert_api.domain.cases.folding import CaseBook, WorkDone
from alert_api.domain.cases.work import Command, decide
from alert_api.errors import CaseNotFound, CountChanged, KeyReused, StaleCase
from alert_api.service.alert_queries import Page, Place
from alert_api.service.cases.case_graph import CaseGraph, Edge, Ends
from alert_api.service.cases.case_queries import (
    CaseEvent,
    CaseEvents,
    CaseFilter,
    CasePage,
    CasePlace,
    EpisodePage,
    StoredCase,
    StoredEpisode,
)
from alert_api.service.cases.case_work import Origin
from tests.unit.alert_api.support.case_log import POLICY, unresolved_of
from tests.unit.alert_api.support.fake_snoozes import FakeSnoozes

WAIT = 6_890
"""Every case is due so long after it was opened."""


class FakeCases:
    """Reader and desk; pages are whole, and `asked` is what was asked for last."""

    def __init__(self, *alerts: AlertFacts) -> None:
        self.book = CaseBook(POLICY)
        self.book.fold(alerts)
        self.position = 1_000
        self.done: list[tuple[WorkDone, Origin]] = []
        self.broken: Exception | None = None
        self.asked: Any = None

    def page(
        self, case_filter: CaseFilter, after: CasePlace | None, limit: int, *, by_due: bool = False
    ) -> CasePage:
        self._check()
        self.by_due = by_due
        self.asked = (case_filter, after, limit)
        cases = sorted(self.book.cases.values(), key=lambda case: (-case.last, -case.case_id))
        following = CasePlace(cases[limit - 1].last, cases[limit - 1].case_id) if len(cases) > limit else None
        return CasePage([self._stored(case) for case in cases[:limit]], following)

    def counts(self, case_filter: CaseFilter) -> Mapping[CaseState, int]:
        self.asked = case_filter
        due_before = None if case_filter.overdue_at is None else case_filter.overdue_at - WAIT
        return Counter(
            case.state
            for case in self.book.cases.values()
            if due_before is None or (case.unresolved and case.active_at < due_before)
        )

    def get(self, case_id: int) -> StoredCase:
        self._check()
        if case_id not in self.book.cases:
            raise CaseNotFound(case_id)
        return self._stored(self.book.cases[case_id])

    def episodes(self, case_id: int, after: CasePlace | None, limit: int) -> EpisodePage:
        self.get(case_id)
        self.asked = (after, limit)
        episodes = [
            StoredEpisode(episode, "Large sums")
            for series in self.book.episodes.values()
            for episode in series.values()
            if case_id in self.book.links[episode.episode_id]
        ]
        return EpisodePage(episodes[:limit], None)

    def events(self, case_id: int, before: int | None, limit: int) -> CaseEvents:
        self.get(case_id)
        self.asked = (before, limit)
        done = [
            CaseEvent(2 + number, type(work.event).__name__, work.event.occurred_at, work.event.actor)
            for number, (work, _) in enumerate(self.done)
            if work.event.case_id == case_id
        ]
        opened = CaseEvent(1, "CaseOpened", self.book.cases[case_id].opened_at)
        return CaseEvents([*reversed(done), opened], None)

    def alerts(self, case_id: int, episode_id: int | None, after: Place | None, limit: int) -> Page:
        self.get(case_id)
        self.asked = (episode_id, after, limit)
        return Page((), None)

    def graph(self, case_id: int, ends: Ends) -> CaseGraph:
        self.asked = (case_id, ends)
        return CaseGraph([Edge("25", "12", 3, "7.5", 160)], 4, 3, 3, 1)

    def work(self, case_id: int, command: Command, expects: Callable[[int], bool], origin: Origin) -> None:
        case = self.get(case_id).case
        for work, before in self.done:
            if origin.key is not None and before.key == origin.key and work.event.actor == command.actor:
                if before.request_hash != origin.request_hash:
                    raise KeyReused
                return
        if not expects(case.version):
            raise StaleCase(case_id, case.version)
        self._do(case, command, origin)

    def work_on_all(self, case_filter: CaseFilter, expected: int, command: Command, origin: Origin) -> int:
        self._check()
        self.asked = case_filter
        if len(self.book.cases) != expected:
            raise CountChanged(expected, len(self.book.cases))
        return sum(self._do(case, command, origin) for case in list(self.book.cases.values()))

    def _do(self, case: Case, command: Command, origin: Origin) -> bool:
        event = decide(case, command, unresolved_of(self.book, case))
        if event is None:
            return False
        self.position += 1
        done = WorkDone(self.position, event)
        self.book.fold([done])
        self.done.append((done, origin))
        return True

    def _stored(self, case: Case) -> StoredCase:
        links = [cases for cases in self.book.links.values() if case.case_id in cases]
        return StoredCase(case, len(links), dict.fromkeys(case.rule_ids, "Large sums"))

    def _check(self) -> None:
        if self.broken is not None:
            raise self.broken


def no_cases() -> Cases:
    """A reader and a desk that have none."""
    cases = FakeCases()
    snoozes = FakeSnoozes()
    return Cases(cases, cases, snoozes, snoozes)
