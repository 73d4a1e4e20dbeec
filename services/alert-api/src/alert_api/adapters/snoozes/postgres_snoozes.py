"""``SnoozeReader`` over the API's pool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, LiteralString

import psycopg
from psycopg_pool import ConnectionPool

from alert_api.adapters.alert_rows import SELECT_NAMES
from alert_api.adapters.cases.snooze_rows import LAST_POSITION, SNOOZE_COLUMNS, stored_snooze
from alert_api.adapters.postgres_errors import pooled
from alert_api.domain.cases.snooze import SnoozeState
from alert_api.errors import SnoozeNotFound
from alert_api.service.snoozes.snooze_queries import SnoozeCounts, SnoozePage, StoredSnooze

# `Snooze.state`, said in SQL.
STATE: Final[LiteralString] = """
LEFT JOIN LATERAL (
    SELECT bool_or(type = 'SnoozeApproved') AS approved, bool_or(type = 'SnoozeRejected') AS rejected,
           bool_or(type = 'SnoozeEnded') AS ended
      FROM alerts.snooze_steps WHERE snooze_id = r.snooze_id) done ON true
CROSS JOIN LATERAL (
    SELECT CASE WHEN done.rejected THEN 'rejected' WHEN done.ended THEN 'ended'
                WHEN r.expires_at <= %(now)s THEN 'expired'
                WHEN NOT r.four_eyes OR done.approved THEN 'in_force' ELSE 'requested' END AS state) standing
"""

SELECT_SNOOZES: Final[LiteralString] = f"""
SELECT {SNOOZE_COLUMNS}, coalesce(c.alerts, 0), c.first, c.last
  FROM alerts.snooze_requests r LEFT JOIN alerts.snooze_counts c USING (snooze_id)"""  # noqa: S608 - constants

OPEN_STATES: Final = ("requested", "in_force")

COUNT_SNOOZES: Final[LiteralString] = f"""
SELECT count(*) FILTER (WHERE standing.state = 'requested'), count(*) FILTER (WHERE standing.state = 'in_force'),
       coalesce(sum(c.alerts) FILTER (WHERE standing.state = 'in_force'), 0)::bigint
  FROM alerts.snooze_requests r LEFT JOIN alerts.snooze_counts c USING (snooze_id) {STATE}
 WHERE r.expires_at > %(now)s
"""  # noqa: S608 - constants

SELECT_COVERING = """
SELECT alert_id::text, snooze_id FROM alerts.snoozed_alerts WHERE alert_id = ANY (%s::uuid[])
"""


class PostgresSnoozes:
    """Reads snoozes; raises StoreUnavailable."""

    def __init__(self, pool: ConnectionPool[psycopg.Connection[Any]]) -> None:
        self._pool = pool

    def page(self, state: SnoozeState | None, now: int, before: int | None, limit: int) -> SnoozePage:
        """At most ``limit`` of the snoozes with ids below ``before``, newest first."""
        where: LiteralString = " WHERE r.snooze_id < %(below)s"
        if state is not None:
            where = f"{STATE}{where} AND standing.state = %(state)s"
        if state in OPEN_STATES:
            where += " AND r.expires_at > %(now)s"  # said for the index
        values = {
            "below": before or LAST_POSITION,
            "before": LAST_POSITION,
            "now": now,
            "state": state,
            "rows": limit + 1,
        }
        query = SELECT_SNOOZES + where + " ORDER BY r.snooze_id DESC LIMIT %(rows)s"
        rows = self._fetch(query, values)
        snoozes = self._stored(rows[:limit])
        return SnoozePage(snoozes, snoozes[-1].snooze.snooze_id if len(rows) > limit else None)

    def counts(self, now: int) -> SnoozeCounts:
        """How many there are now."""
        [row] = self._fetch(COUNT_SNOOZES, {"now": now})
        return SnoozeCounts(*row)

    def covering(self, alert_ids: Sequence[str]) -> Mapping[str, int]:
        """The snoozes that cover these alerts, by alert; those that none covers are left out."""
        return dict(self._fetch(SELECT_COVERING, (list(alert_ids),))) if alert_ids else {}

    def get(self, snooze_id: int) -> StoredSnooze:
        """One snooze. Raises SnoozeNotFound."""
        values = {"snooze_id": snooze_id, "before": LAST_POSITION}
        rows = self._fetch(SELECT_SNOOZES + " WHERE r.snooze_id = %(snooze_id)s", values)
        if not rows:
            raise SnoozeNotFound(snooze_id)
        return self._stored(rows)[0]

    def _stored(self, rows: Sequence[tuple[Any, ...]]) -> list[StoredSnooze]:
        snoozes = [StoredSnooze(stored_snooze(*row[:3]), *row[3:]) for row in rows]
        scopes = [stored.snooze.request.scope for stored in snoozes]
        rule_ids = sorted({scope.rule_id for scope in scopes if scope.rule_id is not None})
        names = dict(self._fetch(SELECT_NAMES, (rule_ids,))) if rule_ids else {}
        return [
            replace(stored, rule_name=names.get(stored.snooze.request.scope.rule_id)) for stored in snoozes
        ]

    def _fetch(self, query: LiteralString, values: dict[str, Any] | tuple[Any, ...]) -> list[tuple[Any, ...]]:
        with pooled(self._pool) as connection:
            return connection.execute(query, values).fetchall()
