"""The events of all alerts as one sequence, and alerts counted: readings that look at many alerts at once."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any, LiteralString

import psycopg
from psycopg_pool import ConnectionPool

from alert_api.adapters.alert_rows import ALERT_COLUMNS, stored_alert
from alert_api.adapters.postgres_errors import translated
from alert_api.service.alert_counts import HOUR_MS, Cell, Counted, Span
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

COUNT_ALERTS: LiteralString = """
SELECT rule_id, event_time / %(hour_ms)s, acknowledged_at IS NOT NULL, count(*)
  FROM alerts.alerts
 WHERE event_time BETWEEN %(earliest)s AND %(latest)s
   AND (%(rule_ids)s::bigint[] IS NULL OR rule_id = ANY (%(rule_ids)s))
   AND (%(rule_version)s::bigint IS NULL OR rule_version = %(rule_version)s)
 GROUP BY 1, 2, 3
 ORDER BY 2, 1, 3
"""

SELECT_NAMES = """
SELECT asked.rule_id, newest.name
  FROM unnest(%s::bigint[]) AS asked (rule_id), LATERAL (
       SELECT content ->> 'ruleName' AS name FROM alerts.alerts
        WHERE rule_id = asked.rule_id ORDER BY event_time DESC, alert_id LIMIT 1) newest
"""


class PostgresAlertEvents:
    """``Happenings`` and ``AlertCounter`` over the API's pool; raises StoreUnavailable."""

    def __init__(self, pool: ConnectionPool[psycopg.Connection[Any]]) -> None:
        self._pool = pool

    def present(self) -> StreamPlace:
        """Right before the oldest transaction that still runs."""
        with self._connection() as connection:
            [(horizon,)] = connection.execute(SELECT_HORIZON).fetchall()
        return StreamPlace(int(horizon), 0)

    def after(self, cursor: StreamPlace, limit: int) -> StreamBatch:
        """At most ``limit`` events after ``cursor``; fewer means that the reader is at the horizon."""
        with self._connection() as connection:
            rows = connection.execute(
                SELECT_AFTER, (str(cursor.transaction), cursor.position, limit)
            ).fetchall()
        happened = tuple(_happened(row[1:]) for row in rows if row[1] is not None)
        if len(happened) == limit:
            return StreamBatch(happened, happened[-1].place)
        # The horizon only rises, so a place beyond it is another database's: it leads to the present of this one.
        return StreamBatch(happened, StreamPlace(int(rows[0][0]), 0))

    def count(self, span: Span, rule_ids: Collection[int], rule_version: int | None = None) -> Counted:
        """Cells by rule, hour and state; hours and rules without alerts are left out."""
        values = {
            "hour_ms": HOUR_MS,
            "earliest": span.earliest,
            "latest": span.latest,
            "rule_ids": sorted(set(rule_ids)) or None,
            "rule_version": rule_version,
        }
        with self._connection() as connection:
            cells = [Cell(*row) for row in connection.execute(COUNT_ALERTS, values).fetchall()]
            rules = sorted({cell.rule_id for cell in cells})
            names = dict(connection.execute(SELECT_NAMES, (rules,)).fetchall())
        return Counted(cells, names)

    @contextmanager
    def _connection(self) -> Iterator[psycopg.Connection[Any]]:
        try:
            with self._pool.connection() as connection:
                yield connection
        except psycopg.Error as error:
            raise translated(error) from error


def _happened(row: tuple[Any, ...]) -> StreamedEvent:
    written_in, position, kind, *alert = row
    return StreamedEvent(StreamPlace(int(written_in), position), kind, stored_alert(tuple(alert)))
