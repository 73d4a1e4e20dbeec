"""The case of each alert, by the episode that covers its event time.

Mostly an episode is in one case. One that went on after its case was resolved is in several: an alert is in the case
that was opened or reopened last before the alert came. A snoozed alert is in none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import psycopg

from alert_api.adapters.alert_rows import stored_alert
from alert_api.adapters.cases.plain_arrays import plain_array
from alert_api.domain.cases.episode import group_identity
from alert_api.domain.events import AlertId
from alert_api.service.alert_queries import StoredAlert

# Episodes of a series do not overlap: the first one that reaches to the alert is the only one that can cover it.
SELECT_CASES = """
SELECT asked.alert_id::text,
       CASE cardinality(linked.case_ids) WHEN 1 THEN linked.case_ids[1] ELSE (
           SELECT one.case_id
             FROM unnest(linked.case_ids) AS one (case_id), LATERAL (
                  SELECT one.case_id AS position
                   UNION ALL
                  SELECT o.position FROM alerts.case_openings o WHERE o.case_id = one.case_id
                   UNION ALL
                  SELECT w.position FROM alerts.case_events w
                   WHERE w.case_id = one.case_id AND w.type = 'CaseReopened') active
            WHERE active.position <= (SELECT e.position FROM alerts.alert_events e
                                       WHERE e.alert_id = asked.alert_id AND e.version = 1)
            ORDER BY active.position DESC LIMIT 1) END
  FROM unnest(%s::uuid[], %s::bigint[], %s::text[], %s::bigint[]) AS asked (alert_id, rule_id, group_key, event_time),
       LATERAL (SELECT e.episode_id, e.first FROM alerts.episodes e
                 WHERE e.rule_id = asked.rule_id AND e.group_key = asked.group_key AND e.until >= asked.event_time
                 ORDER BY e.until LIMIT 1) covering,
       LATERAL (SELECT ARRAY(SELECT l.case_id FROM alerts.case_episodes l
                              WHERE l.episode_id = covering.episode_id) AS case_ids) linked
 WHERE covering.first <= asked.event_time
   AND NOT EXISTS (SELECT FROM alerts.snoozed_alerts z WHERE z.alert_id = asked.alert_id)
"""


class Listed(NamedTuple):
    """What is needed of an alert to find its case, and its place in a list; the case, once it was asked for."""

    alert_id: AlertId
    event_time: int
    rule_id: int
    group: Mapping[str, str]
    case_id: int | None = None


def cases_of(connection: psycopg.Connection[Any], alerts: Sequence[Listed]) -> dict[AlertId, int]:
    """The case of each alert that is folded."""
    if not alerts:
        return {}
    columns = (
        plain_array(alert.alert_id for alert in alerts),
        plain_array(alert.rule_id for alert in alerts),
        plain_array(group_identity(alert.group)[1] for alert in alerts),
        plain_array(alert.event_time for alert in alerts),
    )
    rows = connection.execute(SELECT_CASES, columns).fetchall()
    return {AlertId(alert_id): case_id for alert_id, case_id in rows if case_id is not None}


def of_these_cases(
    connection: psycopg.Connection[Any], alerts: Sequence[Listed], fits: Callable[[set[int]], set[int]]
) -> list[Listed]:
    """Those whose case fits, with it: ``fits`` gives of cases those that do."""
    cases = cases_of(connection, alerts)
    fitting = fits(set(cases.values()))
    known = [alert._replace(case_id=cases.get(alert.alert_id)) for alert in alerts]
    return [alert for alert in known if alert.case_id in fitting]


def with_cases(
    connection: psycopg.Connection[Any], rows: Sequence[tuple[Any, ...]]
) -> tuple[StoredAlert, ...]:
    """The alerts that rows of ALERT_COLUMNS are, with the case that each is in."""
    cases = cases_of(connection, [Listed(*row[:4]) for row in rows])
    return tuple(stored_alert(row, cases.get(row[0])) for row in rows)
