"""Queries of cases and their results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from alert_api.domain.cases.case import Case, CaseState, Standing
from alert_api.domain.cases.episode import Episode
from alert_api.domain.cases.severity import Severity
from alert_api.domain.cases.subject import Subject
from alert_api.domain.cases.work_events import Outcome
from alert_api.service.alert_queries import Page, Place
from alert_api.service.cases.case_graph import CaseGraph, Ends


@dataclass(frozen=True, slots=True)
class CaseFilter:
    """Every condition given must hold; `rule_ids` are of any of these rules. Times are ms since the epoch, both ends
    included, on the event time of the case's newest alert.

    :ivar severity: the worst of its rules', as they are now
    :ivar overdue_at: unresolved, and due before this instant
    """

    standing: Standing | None = None
    outcome: Outcome | None = None
    assignee: str | None = None
    rule_ids: tuple[int, ...] = ()
    subject: Subject | None = None
    earliest: int | None = None
    latest: int | None = None
    severity: Severity | None = None
    overdue_at: int | None = None


class CasePlace(NamedTuple):
    """The last row of a page: the next one starts right after it in (time down, id down), by due time in (time up, id
    up)."""

    time: int
    row_id: int


@dataclass(frozen=True, slots=True)
class StoredCase:
    """A case, how many episodes it has, what its rules are called now, the worst of their severities, and when it is
    due by that: None of a resolved case, and of one that may wait for ever."""

    case: Case
    episodes: int
    rule_names: Mapping[int, str]
    severity: Severity | None = None
    due_at: int | None = None


@dataclass(frozen=True, slots=True)
class CasePage:
    """Some cases, newest first; ``following`` is None on the last page."""

    cases: Sequence[StoredCase]
    following: CasePlace | None


@dataclass(frozen=True, slots=True)
class StoredEpisode:
    """An episode, and what its rule is called now."""

    episode: Episode
    rule_name: str


@dataclass(frozen=True, slots=True)
class EpisodePage:
    """Some episodes of a case, newest first; ``following`` is None on the last page."""

    episodes: Sequence[StoredEpisode]
    following: CasePlace | None


@dataclass(frozen=True, slots=True)
class CaseEvent:
    """Something that happened to a case; `actor` is None where an alert did it."""

    version: int
    kind: str
    occurred_at: int
    actor: str | None = None
    comment: str | None = None
    assignee: str | None = None
    outcome: Outcome | None = None


@dataclass(frozen=True, slots=True)
class CaseEvents:
    """Some events of a case, newest first; ``following`` is the version of the last where there are more."""

    events: Sequence[CaseEvent]
    following: int | None


class CaseReader(Protocol):
    """The cases, to look at. All raise StoreUnavailable when the database is away."""

    def page(
        self, case_filter: CaseFilter, after: CasePlace | None, limit: int, *, by_due: bool = False
    ) -> CasePage:
        """At most ``limit`` cases after ``after``: those with the newest alert first, or those due first."""

    def counts(self, case_filter: CaseFilter) -> Mapping[CaseState, int]:
        """Cases by state; states without cases are left out."""

    def get(self, case_id: int) -> StoredCase:
        """One case. Raises CaseNotFound, as the next three do."""

    def episodes(self, case_id: int, after: CasePlace | None, limit: int) -> EpisodePage:
        """At most ``limit`` of its episodes after ``after``."""

    def events(self, case_id: int, before: int | None, limit: int) -> CaseEvents:
        """At most ``limit`` of its events of versions below ``before``."""

    def alerts(self, case_id: int, episode_id: int | None, after: Place | None, limit: int) -> Page:
        """At most ``limit`` of the alerts of its episodes, or of one of them."""

    def graph(self, case_id: int, ends: Ends) -> CaseGraph:
        """Between whom the transactions of its newest alerts went; nothing for a case that there is not."""
