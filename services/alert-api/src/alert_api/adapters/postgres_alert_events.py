"""The events of all alerts as one sequence, and alerts counted: readings that look at many alerts at once."""

from __future__ import annotations

from typing import Any, LiteralString

import psycopg
from psycopg_pool import ConnectionPool

from alert_api.adapters.alert_lists.alert_counting import counted
from alert_api.adapters.alert_rows import ALERT_COLUMNS
from alert_api.adapters.cases.cases_of_alerts import with_cases
from alert_api.adapters.postgres_errors import pooled
from alert_api.service.alert_counts import Counted
from alert_api.service.alert_queries import AlertFilter
from alert_api.service.alert_stream import StreamBatch, StreamedEvent, StreamPlace

# One statement, so one snapshot: horizon and rows are of the same moment.
SELECT_AFTER: LiteralString = f"""
WITH horizon AS MATERIALIZED (SELECT pg_snapshot_xmin(pg_current_snapshot()) AS running)
SELECT horizon.running::text, told.*
  FROM horizon LEFT JOIN LATERAL (
       SELECT e.written_in::text, e.position, e.type, {ALERT_COLUMNS}
         FROM alerts.alert_events e JOIN alerts.alerts a USING (alert_id)
        WHERE (e.written_in, e.position) > (%s::xid8, %s) AND e.written_in < horizon.running
        ORDER BY e.written_in, e.position
        LIMIT %s) told ON true
 ORDER BY told.written_in::xid8, told.position
"""  # noqa: S608 - constants

SELECT_HORIZON = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text"


class PostgresAlertEvents:
    """``Happenings`` and ``AlertCounter`` over the API's pool; raises StoreUnavailable."""

    def __init__(self, pool: ConnectionPool[psycopg.Connection[Any]]) -> None:
        self._pool = pool

    def present(self) -> StreamPlace:
        """Right before the oldest transaction that still runs."""
        with pooled(self._pool) as connection:
            [(horizon,)] = connection.execute(SELECT_HORIZON).fetchall()
        return StreamPlace(int(horizon), 0)

    def after(self, cursor: StreamPlace, limit: int) -> StreamBatch:
        """At most ``limit`` events after ``cursor``; fewer means that the reader is at the horizon."""
        with pooled(self._pool) as connection:
            rows = connection.execute(
                SELECT_AFTER, (str(cursor.transaction), cursor.position, limit)
            ).fetchall()
            told = [row[1:] for row in rows if row[1] is not None]
            alerts = with_cases(connection, [row[3:] for row in told])
        happened = tuple(
            StreamedEvent(StreamPlace(int(row[0]), row[1]), row[2], alert)
            for row, alert in zip(told, alerts, strict=True)
        )
        if len(happened) == limit:
            return StreamBatch(happened, happened[-1].place)
        # The horizon only rises, so a place beyond it is another database's: it leads to the present of this one.
        return StreamBatch(happened, StreamPlace(int(rows[0][0]), 0))

    def count(self, asked: AlertFilter) -> Counted:
        """By rule and by hour; those without alerts are left out."""
        with pooled(self._pool) as connection:
            return counted(connection, asked)
