"""Alerts of shadows: the projector stores them apart from all others, the API compares them with their rule's."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final, cast

import psycopg
from psycopg.types.json import Jsonb
from psycopg_pool import ConnectionPool

from alert_api.adapters.postgres_errors import pooled
from alert_api.adapters.shadows.postgres_arms import STILL, arms_of, rollouts_of
from alert_api.domain.performance.arms import RolloutSpan
from alert_api.service.alert_counts import HOUR_MS, Span
from alert_api.service.records import ReceivedAlert
from alert_api.service.shadows.shadow_comparison import Alerted, HourOfBoth, ShadowComparison

MOST_TOLD: Final = 10

STORE = """
INSERT INTO alerts.shadow_alerts
    (alert_id, rule_id, rule_version, event_time, detected_at, transaction_id, group_values)
VALUES (%s, %s, %s, %s, %s, %s, %s)
ON CONFLICT DO NOTHING
"""

# A transaction counts once, however many of its sides or groups were alerted about. While a shadow is rolled out some
# of its alerts are among the rule's, and some of the rule's among those of shadows.
_BOTH = """
WITH shadow AS (
    SELECT transaction_id, event_time FROM alerts.shadow_alerts
     WHERE rule_id = %(rule_id)s AND rule_version = %(version)s
       AND event_time BETWEEN %(earliest)s AND %(latest)s
    UNION
    SELECT transaction_id, event_time FROM alerts.alerts
     WHERE rule_id = %(rule_id)s AND rule_version = %(version)s
       AND event_time BETWEEN %(earliest)s AND %(latest)s
       AND detected_at >= %(since)s AND detected_at < %(until)s
), active AS (
    SELECT transaction_id, event_time FROM alerts.alerts
     WHERE rule_id = %(rule_id)s AND rule_version <> %(version)s
       AND event_time BETWEEN %(earliest)s AND %(latest)s
    UNION
    SELECT transaction_id, event_time FROM alerts.shadow_alerts
     WHERE rule_id = %(rule_id)s AND rule_version <> %(version)s
       AND event_time BETWEEN %(earliest)s AND %(latest)s
       AND detected_at >= %(since)s AND detected_at < %(until)s
), compared AS (
    SELECT transaction_id, event_time, active IS NOT NULL AS by_active, shadow IS NOT NULL AS by_shadow
      FROM active FULL JOIN shadow USING (transaction_id, event_time)
)
"""
COUNT_HOURS = f"""{_BOTH}
SELECT event_time / %(hour_ms)s, count(*) FILTER (WHERE by_active AND by_shadow),
       count(*) FILTER (WHERE NOT by_shadow), count(*) FILTER (WHERE NOT by_active)
  FROM compared GROUP BY 1 ORDER BY 1
"""  # noqa: S608 - constants
NEWEST = f"""{_BOTH}
(SELECT by_active, transaction_id, event_time FROM compared WHERE NOT by_shadow
  ORDER BY event_time DESC, transaction_id LIMIT %(most)s)
UNION ALL
(SELECT by_active, transaction_id, event_time FROM compared WHERE NOT by_active
  ORDER BY event_time DESC, transaction_id LIMIT %(most)s)
"""  # noqa: S608 - constants


def store_shadow_alerts(cursor: psycopg.Cursor[Any], alerts: Collection[ReceivedAlert]) -> int:
    """Stores each once; gives how many were new."""
    if not alerts:
        return 0
    # in one order for all: two projectors that store the same wait for each other and never in a circle
    rows = [_row(alert) for alert in sorted(alerts, key=lambda alert: alert.alert_id)]
    cursor.executemany(STORE, rows)
    return cursor.rowcount


class PostgresShadows:
    """``ShadowReader`` over the API's pool; raises StoreUnavailable."""

    def __init__(self, pool: ConnectionPool[psycopg.Connection[Any]]) -> None:
        self._pool = pool

    def compare(self, rule_id: int, version: int, span: Span) -> ShadowComparison:
        """Both over the span of event time."""
        with pooled(self._pool) as connection:
            rollouts = rollouts_of(connection, rule_id, version)
            values = _values(rule_id, version, span, rollouts)
            hours = [HourOfBoth(*row) for row in connection.execute(COUNT_HOURS, values).fetchall()]
            newest = connection.execute(NEWEST, values).fetchall()
            arms = arms_of(connection, rule_id, version, rollouts, span)
        told = {
            by_active: [
                Alerted(*cast("tuple[str, int]", tuple(row)))
                for active, *row in newest
                if active is by_active
            ]
            for by_active in (True, False)
        }
        return ShadowComparison(hours, told[True], told[False], arms)


def _values(rule_id: int, version: int, span: Span, rollouts: Sequence[RolloutSpan]) -> dict[str, Any]:
    """Before the first rollout and after the last no alerts change places."""
    return {
        "rule_id": rule_id,
        "version": version,
        "earliest": span.earliest,
        "latest": span.latest,
        "hour_ms": HOUR_MS,
        "most": MOST_TOLD,
        "since": rollouts[0].since if rollouts else STILL,
        "until": rollouts[-1].until if rollouts else STILL,
    }


def _row(alert: ReceivedAlert) -> tuple[Any, ...]:
    return (
        alert.alert_id,
        alert.rule_id,
        alert.rule_version,
        alert.event_time,
        alert.detected_at,
        alert.transaction_id,
        Jsonb(alert.group),
    )
