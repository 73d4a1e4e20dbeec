"""A page of the alerts that a filter chooses: newest first by event time, then id upwards."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, LiteralString

import psycopg

from alert_api.adapters.alert_lists.alert_conditions import alert_conditions, where
from alert_api.adapters.alert_lists.alerts_by_work import page_by_work
from alert_api.adapters.alert_rows import ALERT_COLUMNS, stored_alert
from alert_api.adapters.cases.cases_of_alerts import with_cases
from alert_api.service.alert_queries import AlertFilter, Page, Place

SELECT_ALERTS: LiteralString = f"""
SELECT {ALERT_COLUMNS} FROM alerts.alerts a"""  # noqa: S608 - constants

# Of the alert's row: unqualified, the id would be that of the answer, a text, which no index is in order of.
ORDER: Final[LiteralString] = " ORDER BY a.event_time DESC, a.alert_id LIMIT %(rows)s"

MOST_WALKS: Final = 100
"""Rules whose alerts are read each by itself, along the index."""

SELECT_SEVERE = "SELECT rule_id FROM alerts.rule_severities WHERE severity = %s ORDER BY rule_id"


def alert_page(
    connection: psycopg.Connection[Any], alert_filter: AlertFilter, after: Place | None, limit: int
) -> Page:
    """At most ``limit`` alerts after ``after``."""
    if alert_filter.severity is not None:
        rows = connection.execute(SELECT_SEVERE, (alert_filter.severity,)).fetchall()
        severe = {rule_id for (rule_id,) in rows}
        rule_ids = severe.intersection(alert_filter.rule_ids) if alert_filter.rule_ids else severe
        if not rule_ids:
            return Page((), None)
        alert_filter = replace(alert_filter, severity=None, rule_ids=tuple(sorted(rule_ids)))
    if alert_filter.asks_for_work:
        return page_by_work(connection, alert_filter, after, limit)
    query, values = page_query(alert_filter, after)
    # One row more than asked for tells whether there is a next page.
    rows = connection.execute(query, {**values, "rows": limit + 1}).fetchall()
    alerts = with_cases(connection, [stored_alert(row) for row in rows[:limit]])
    return Page(alerts, alerts[-1].place if len(rows) > limit else None)


def page_query(alert_filter: AlertFilter, after: Place | None) -> tuple[LiteralString, dict[str, Any]]:
    """The page's query and its values, but for the number of rows."""
    narrow = alert_filter.group or alert_filter.transaction_id is not None
    if not 1 < len(alert_filter.rule_ids) <= MOST_WALKS or narrow:
        conditions, values = alert_conditions(alert_filter, after)
        return SELECT_ALERTS + where(conditions) + ORDER, values
    # Of several rules the index has no common order: the newest of each are taken, and of these the newest.
    conditions, values = alert_conditions(replace(alert_filter, rule_ids=()), after)
    of_rule = where(["rule_id = asked.rule_id", *conditions])
    query: LiteralString = f"""
SELECT {ALERT_COLUMNS}
  FROM unnest(%(rule_ids)s::bigint[]) AS asked (rule_id), LATERAL (
       SELECT * FROM alerts.alerts a{of_rule} ORDER BY event_time DESC, alert_id LIMIT %(rows)s) a"""  # noqa: S608
    return query + ORDER, {**values, "rule_ids": list(alert_filter.rule_ids)}
