"""``PerformanceReader`` over the API's pool."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final, cast

import psycopg
from psycopg_pool import ConnectionPool

from alert_api.adapters.alert_rows import SELECT_NAMES
from alert_api.adapters.postgres_errors import pooled
from alert_api.domain.cases.work_events import Outcome
from alert_api.service.alert_counts import HOUR_MS, Span
from alert_api.service.performance.rule_performance import DayCount, Spread, VersionKey, VersionPerformance

_DAY_HOURS: Final = 24

# Whole hours: a count of alerts is kept by the hour.
COUNT_VERSIONS = """
SELECT rule_id, rule_version, sum(alerts)::bigint FROM (
    SELECT rule_id, rule_version, open_count + acknowledged_count AS alerts FROM alerts.alert_counts
     WHERE hour BETWEEN %(first_hour)s AND %(last_hour)s
    UNION ALL
    SELECT rule_id, rule_version, raised FROM alerts.alert_count_changes
     WHERE hour BETWEEN %(first_hour)s AND %(last_hour)s) counted
 WHERE %(rule_ids)s::bigint[] IS NULL OR rule_id = ANY (%(rule_ids)s::bigint[])
 GROUP BY 1, 2 HAVING sum(alerts) > 0
"""

COUNT_DAYS = """
SELECT hour / %(day_hours)s, rule_version, sum(alerts)::bigint FROM (
    SELECT rule_id, hour, rule_version, open_count + acknowledged_count AS alerts FROM alerts.alert_counts
     WHERE hour BETWEEN %(first_hour)s AND %(last_hour)s
    UNION ALL
    SELECT rule_id, hour, rule_version, raised FROM alerts.alert_count_changes
     WHERE hour BETWEEN %(first_hour)s AND %(last_hour)s) counted
 WHERE rule_id = %(rule_id)s
 GROUP BY 1, 2 HAVING sum(alerts) > 0 ORDER BY 1, 2
"""

# A case counts once for each version that has an alert in it. The alerts of an episode are those of its rule and group
# between its ends: each episode is one walk along the index, as in the list of a case's alerts.
JUDGE_VERSIONS = """
WITH resolved AS MATERIALIZED (
    SELECT case_id, outcome, opened_at, acknowledged_at, resolved_at FROM alerts.cases
     WHERE state = 'resolved' AND resolved_at BETWEEN %(earliest)s AND %(latest)s
       AND (%(rule_ids)s::bigint[] IS NULL OR rule_ids && %(rule_ids)s::bigint[])
), involved AS (
    SELECT DISTINCT r.case_id, e.rule_id, a.rule_version
      FROM resolved r JOIN alerts.case_episodes l USING (case_id) JOIN alerts.episodes e USING (episode_id), LATERAL (
           SELECT DISTINCT x.rule_version FROM alerts.alerts x
            WHERE x.rule_id = e.rule_id
              AND jsonb_hash_extended(x.group_values, 0) = jsonb_hash_extended(e.group_text::jsonb, 0)
              AND x.group_values = e.group_text::jsonb
              AND x.event_time BETWEEN e.first AND e.last) a
     WHERE %(rule_ids)s::bigint[] IS NULL OR e.rule_id = ANY (%(rule_ids)s::bigint[])
)
SELECT i.rule_id, i.rule_version, jsonb_object_agg(outcome, cases),
       max(ack_median), max(ack_p95), max(resolve_median), max(resolve_p95)
  FROM (SELECT rule_id, rule_version, outcome, count(*) AS cases FROM involved JOIN resolved USING (case_id)
         GROUP BY 1, 2, 3) i
  JOIN (SELECT rule_id, rule_version,
               percentile_cont(0.5) WITHIN GROUP (ORDER BY acknowledged_at - opened_at) AS ack_median,
               percentile_cont(0.95) WITHIN GROUP (ORDER BY acknowledged_at - opened_at) AS ack_p95,
               percentile_cont(0.5) WITHIN GROUP (ORDER BY resolved_at - opened_at) AS resolve_median,
               percentile_cont(0.95) WITHIN GROUP (ORDER BY resolved_at - opened_at) AS resolve_p95
          FROM involved JOIN resolved USING (case_id) GROUP BY 1, 2) d
       USING (rule_id, rule_version)
 GROUP BY 1, 2
"""


class PostgresPerformance:
    """Reads counts and resolved cases; raises StoreUnavailable."""

    def __init__(self, pool: ConnectionPool[psycopg.Connection[Any]]) -> None:
        self._pool = pool

    def of_versions(self, span: Span, rule_ids: Collection[int]) -> Sequence[VersionPerformance]:
        """By rule and version, ascending; versions of which nothing came are left out."""
        values = {**_values(span), "rule_ids": sorted(set(rule_ids)) or None}
        with pooled(self._pool) as connection:
            counted = {
                VersionKey(rule_id, version): alerts
                for rule_id, version, alerts in connection.execute(COUNT_VERSIONS, values)
            }
            judged = {
                VersionKey(rule_id, version): (outcomes, spreads)
                for rule_id, version, outcomes, *spreads in connection.execute(JUDGE_VERSIONS, values)
            }
            keys = sorted({*counted, *judged})
            names = dict(
                connection.execute(SELECT_NAMES, (sorted({key.rule_id for key in keys}),)).fetchall()
            )
        return [
            _performance(
                key, names.get(key.rule_id, ""), counted.get(key, 0), *judged.get(key, ({}, [None] * 4))
            )
            for key in keys
        ]

    def days(self, span: Span, rule_id: int) -> Sequence[DayCount]:
        """Ascending by day and version; days without alerts are left out."""
        values = {**_values(span), "rule_id": rule_id, "day_hours": _DAY_HOURS}
        with pooled(self._pool) as connection:
            return [DayCount(*row) for row in connection.execute(COUNT_DAYS, values).fetchall()]


def _values(span: Span) -> dict[str, Any]:
    return {
        "earliest": span.earliest,
        "latest": span.latest,
        "first_hour": span.earliest // HOUR_MS,
        "last_hour": span.latest // HOUR_MS,
    }


def _performance(
    key: VersionKey, name: str, alerts: int, outcomes: dict[str, int], spreads: list[float | None]
) -> VersionPerformance:
    ack_median, ack_p95, resolve_median, resolve_p95 = spreads
    return VersionPerformance(
        key,
        name,
        alerts,
        cast("dict[Outcome, int]", outcomes),
        _spread(ack_median, ack_p95),
        _spread(resolve_median, resolve_p95),
    )


def _spread(median: float | None, p95: float | None) -> Spread | None:
    return None if median is None or p95 is None else Spread(round(median), round(p95))
