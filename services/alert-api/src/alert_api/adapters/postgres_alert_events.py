"""The events of all alerts as one sequence, and alerts counted: readings that look at many alerts at once."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, LiteralString

import psycopg
from psycopg_pool import ConnectionPool

from alert_api.adapters.alert_rows import ALERT_COLUMNS, SELECT_NAMES, stored_alert
from alert_api.adapters.cases.cases_of_alerts import with_cases
from alert_api.adapters.postgres_errors import pooled
from alert_api.service.alert_counts import HOUR_MS, Counted, Span, Tally
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

# Whole hours are counted already (migration 0027), but for the newest changes; alerts are counted one by one in what is
# left of an hour at both ends.
COUNT_ALERTS: LiteralString = """
SELECT rule_id, hour, sum(open_count)::bigint, sum(acknowledged_count)::bigint
  FROM (SELECT rule_id, rule_version, hour, open_count, acknowledged_count FROM alerts.alert_counts
         WHERE hour BETWEEN %(first_hour)s AND %(last_hour)s
         UNION ALL
        SELECT rule_id, rule_version, hour, raised - acknowledged, acknowledged FROM alerts.alert_count_changes
         WHERE hour BETWEEN %(first_hour)s AND %(last_hour)s
         UNION ALL
        SELECT rule_id, rule_version, event_time / %(hour_ms)s,
               count(*) - count(acknowledged_at), count(acknowledged_at)
          FROM alerts.alerts
         WHERE event_time BETWEEN %(earliest)s AND %(before)s OR event_time BETWEEN %(behind)s AND %(latest)s
         GROUP BY 1, 2, 3) counted
 WHERE (%(rule_ids)s::bigint[] IS NULL OR rule_id = ANY (%(rule_ids)s))
   AND (%(rule_version)s::bigint IS NULL OR rule_version = %(rule_version)s)
 GROUP BY GROUPING SETS ((rule_id), (hour))
HAVING sum(open_count) + sum(acknowledged_count) > 0
 ORDER BY rule_id, hour
"""


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
            alerts = with_cases(connection, [stored_alert(row[3:]) for row in told])
        happened = tuple(
            StreamedEvent(StreamPlace(int(row[0]), row[1]), row[2], alert)
            for row, alert in zip(told, alerts, strict=True)
        )
        if len(happened) == limit:
            return StreamBatch(happened, happened[-1].place)
        # The horizon only rises, so a place beyond it is another database's: it leads to the present of this one.
        return StreamBatch(happened, StreamPlace(int(rows[0][0]), 0))

    def count(self, span: Span, rule_ids: Collection[int], rule_version: int | None = None) -> Counted:
        """By rule and by hour; those without alerts are left out."""
        values = {
            **_parts(span),
            "hour_ms": HOUR_MS,
            "rule_ids": sorted(set(rule_ids)) or None,
            "rule_version": rule_version,
        }
        with pooled(self._pool) as connection:
            rows = connection.execute(COUNT_ALERTS, values).fetchall()
            by_rule = {rule: Tally(*counts) for rule, _, *counts in rows if rule is not None}
            by_hour = {hour: Tally(*counts) for _, hour, *counts in rows if hour is not None}
            names = dict(connection.execute(SELECT_NAMES, (sorted(by_rule),)).fetchall())
        return Counted(by_rule, by_hour, names)


def _parts(span: Span) -> dict[str, int]:
    """The span as whole hours and what is left before and behind them: `before` and `behind` are the inner ends."""
    first = -(-span.earliest // HOUR_MS)
    last = (span.latest + 1) // HOUR_MS - 1
    if last < first:
        # less than an hour, or parts of two: all of it is one part
        return {
            "first_hour": 1, "last_hour": 0, "earliest": span.earliest, "before": span.latest,
            "behind": 1, "latest": 0,
        }  # fmt: skip
    return {
        "first_hour": first, "last_hour": last, "earliest": span.earliest, "before": first * HOUR_MS - 1,
        "behind": (last + 1) * HOUR_MS, "latest": span.latest,
    }  # fmt: skip
