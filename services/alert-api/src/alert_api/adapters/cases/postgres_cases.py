"""``CaseReader`` over the API's pool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, LiteralString, cast

import psycopg
from psycopg_pool import ConnectionPool

from alert_api.adapters.alert_rows import ALERT_COLUMNS, SELECT_NAMES
from alert_api.adapters.cases.case_conditions import DUE_AT, NEVER, case_conditions, due_values
from alert_api.adapters.cases.case_graph_rows import SELECT_GRAPH, case_graph, graph_values
from alert_api.adapters.cases.case_rows import CASE_COLUMNS, EPISODE_COLUMNS, stored_case, stored_episode
from alert_api.adapters.cases.cases_of_alerts import with_cases
from alert_api.adapters.postgres_errors import pooled
from alert_api.domain.cases.case import Case, CaseState
from alert_api.domain.cases.due import DuePolicy, worst
from alert_api.domain.cases.severity import Severity
from alert_api.errors import CaseNotFound
from alert_api.service.alert_queries import Page, Place
from alert_api.service.cases.case_graph import CaseGraph, Ends
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

SELECT_CASES: LiteralString = f"""
SELECT {CASE_COLUMNS}, (SELECT count(*) FROM alerts.case_episodes l WHERE l.case_id = c.case_id)
  FROM alerts.cases c"""  # noqa: S608 - constants

CASE_ORDER: LiteralString = " ORDER BY c.last DESC, c.case_id DESC LIMIT %(rows)s"

BEHIND_NEWEST: LiteralString = " AND (c.last, c.case_id) < (%(time)s, %(row_id)s)"

# By due time cases are sorted as they are read: an order by what the registry says today has no index.
DUE_ORDER: LiteralString = " ORDER BY " + DUE_AT + ", c.case_id LIMIT %(rows)s"
BEHIND_DUE: LiteralString = " AND (" + DUE_AT + ", c.case_id) > (%(time)s, %(row_id)s)"

SELECT_SEVERITIES = "SELECT rule_id, severity FROM alerts.rule_severities WHERE rule_id = ANY (%s::bigint[])"

COUNT_CASES: LiteralString = "SELECT c.state, count(*) FROM alerts.cases c"

SELECT_EPISODES: LiteralString = f"""
SELECT {EPISODE_COLUMNS}
  FROM alerts.case_episodes l JOIN alerts.episodes e USING (episode_id)
 WHERE l.case_id = %(case_id)s
   AND (%(time)s::bigint IS NULL OR (e.last, e.episode_id) < (%(time)s, %(row_id)s))
 ORDER BY e.last DESC, e.episode_id DESC LIMIT %(rows)s
"""  # noqa: S608 - constants

SELECT_EVENTS = """
SELECT version, type, occurred_at, actor, comment, assignee, outcome FROM alerts.case_events
 WHERE case_id = %(case_id)s AND version < %(before)s
UNION ALL
SELECT version, CASE version WHEN 1 THEN 'CaseOpened' ELSE 'CaseReopened' END, occurred_at, NULL, NULL, NULL, NULL
  FROM alerts.case_openings WHERE case_id = %(case_id)s AND version < %(before)s
 ORDER BY 1 DESC LIMIT %(rows)s
"""

# The alerts of an episode are those of its rule and group between its ends, without what was snoozed: each episode is
# one walk along the index.
SELECT_ALERTS: LiteralString = f"""
SELECT {ALERT_COLUMNS}
  FROM alerts.case_episodes l JOIN alerts.episodes e USING (episode_id), LATERAL (
       SELECT x.* FROM alerts.alerts x
        WHERE x.rule_id = e.rule_id
          AND jsonb_hash_extended(x.group_values, 0) = jsonb_hash_extended(e.group_text::jsonb, 0)
          AND x.group_values = e.group_text::jsonb
          AND x.event_time BETWEEN e.first AND least(e.last, %(time)s)
          AND (x.event_time < %(time)s OR x.alert_id > %(alert_id)s::uuid)
          AND NOT EXISTS (SELECT FROM alerts.snoozed_alerts z WHERE z.alert_id = x.alert_id)
        ORDER BY x.event_time DESC, x.alert_id LIMIT %(rows)s) a
 WHERE l.case_id = %(case_id)s AND e.first <= %(time)s
   AND (%(episode_id)s::bigint IS NULL OR e.episode_id = %(episode_id)s)
 ORDER BY a.event_time DESC, a.alert_id LIMIT %(rows)s
"""  # noqa: S608 - constants

LAST_VERSION: Final = 2**31 - 1
LAST_TIME: Final = 2**63 - 1
NO_ALERT: Final = "00000000-0000-0000-0000-000000000000"


class PostgresCases:
    """Reads cases; raises StoreUnavailable."""

    def __init__(self, pool: ConnectionPool[psycopg.Connection[Any]], due: DuePolicy | None = None) -> None:
        self._pool = pool
        self._due = due or DuePolicy({})

    def page(
        self, case_filter: CaseFilter, after: CasePlace | None, limit: int, *, by_due: bool = False
    ) -> CasePage:
        """At most ``limit`` cases after ``after``: those with the newest alert first, or those due first."""
        where, values = case_conditions(case_filter, self._due)
        order, behind = (DUE_ORDER, BEHIND_DUE) if by_due else (CASE_ORDER, BEHIND_NEWEST)
        if by_due:
            values |= due_values(self._due)
        if after is not None:
            where += behind
            values |= {"time": after.time, "row_id": after.row_id}
        rows = self._fetch(SELECT_CASES + where + order, {**values, "rows": limit + 1})
        cases = self._stored(rows[:limit])
        if len(rows) <= limit:
            return CasePage(cases, None)
        last = cases[-1]
        due_at = NEVER if last.due_at is None else last.due_at
        return CasePage(cases, CasePlace(due_at if by_due else last.case.last, last.case.case_id))

    def counts(self, case_filter: CaseFilter) -> Mapping[CaseState, int]:
        """Cases by state; states without cases are left out."""
        where, values = case_conditions(case_filter, self._due)
        return cast("dict[CaseState, int]", dict(self._fetch(COUNT_CASES + where + " GROUP BY 1", values)))

    def get(self, case_id: int) -> StoredCase:
        """One case. Raises CaseNotFound."""
        rows = self._fetch(SELECT_CASES + " WHERE c.case_id = %(case_id)s", {"case_id": case_id})
        if not rows:
            raise CaseNotFound(case_id)
        return self._stored(rows)[0]

    def episodes(self, case_id: int, after: CasePlace | None, limit: int) -> EpisodePage:
        """At most ``limit`` of its episodes after ``after``, those with the newest alert first."""
        time, row_id = after or (None, None)
        values = {"case_id": case_id, "time": time, "row_id": row_id, "rows": limit + 1}
        rows = self._of_case(case_id, SELECT_EPISODES, values)
        episodes = [stored_episode(row) for row in rows[:limit]]
        names = self._names({episode.series.rule_id for episode in episodes})
        stored = [StoredEpisode(episode, names.get(episode.series.rule_id, "")) for episode in episodes]
        last = episodes[-1] if len(rows) > limit else None
        return EpisodePage(stored, None if last is None else CasePlace(last.last, last.episode_id))

    def events(self, case_id: int, before: int | None, limit: int) -> CaseEvents:
        """At most ``limit`` of its events of versions below ``before``, newest first."""
        values = {"case_id": case_id, "before": before or LAST_VERSION, "rows": limit + 1}
        rows = self._of_case(case_id, SELECT_EVENTS, values)
        events = [CaseEvent(*row) for row in rows[:limit]]
        return CaseEvents(events, events[-1].version if len(rows) > limit else None)

    def alerts(self, case_id: int, episode_id: int | None, after: Place | None, limit: int) -> Page:
        """At most ``limit`` alerts of its episodes, or of one of them, newest first."""
        values = {
            "case_id": case_id,
            "episode_id": episode_id,
            "time": LAST_TIME if after is None else after.event_time,
            "alert_id": NO_ALERT if after is None else after.alert_id,
            "rows": limit + 1,
        }
        rows = self._of_case(case_id, SELECT_ALERTS, values)
        with pooled(self._pool) as connection:
            alerts = with_cases(connection, rows[:limit])
        return Page(alerts, alerts[-1].place if len(rows) > limit else None)

    def graph(self, case_id: int, ends: Ends) -> CaseGraph:
        """Between whom the transactions of its newest alerts went."""
        return case_graph(self._fetch(SELECT_GRAPH, graph_values(case_id, ends)))

    def _stored(self, rows: Sequence[tuple[Any, ...]]) -> list[StoredCase]:
        cases = [(stored_case(row[:-1]), row[-1]) for row in rows]
        rule_ids = {rule_id for case, _ in cases for rule_id in case.rule_ids}
        names = self._names(rule_ids)
        severities = dict(self._fetch(SELECT_SEVERITIES, (sorted(rule_ids),))) if rule_ids else {}
        return [self._with_due(case, episodes, names, severities) for case, episodes in cases]

    def _with_due(
        self, case: Case, episodes: int, names: Mapping[int, str], severities: Mapping[int, Severity]
    ) -> StoredCase:
        severity = worst(severities.get(rule_id) for rule_id in case.rule_ids)
        named = {rule_id: names.get(rule_id, "") for rule_id in case.rule_ids}
        return StoredCase(case, episodes, named, severity, self._due.due_at(case, severity))

    def _names(self, rule_ids: set[int]) -> dict[int, str]:
        return dict(self._fetch(SELECT_NAMES, (sorted(rule_ids),))) if rule_ids else {}

    def _of_case(self, case_id: int, query: LiteralString, values: dict[str, Any]) -> list[tuple[Any, ...]]:
        rows = self._fetch(query, values)
        if not rows:
            self.get(case_id)
        return rows

    def _fetch(self, query: LiteralString, values: dict[str, Any] | tuple[Any, ...]) -> list[tuple[Any, ...]]:
        with pooled(self._pool) as connection:
            return connection.execute(query, values).fetchall()
