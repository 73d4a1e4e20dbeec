"""A page of the alerts that a filter chooses: newest first by event time, then id upwards."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, LiteralString

import psycopg

from alert_api.adapters.alert_lists.alert_walking import walked
from alert_api.adapters.alert_lists.alerts_by_work import page_by_work
from alert_api.adapters.alert_rows import ALERT_COLUMNS
from alert_api.adapters.cases.cases_of_alerts import with_cases
from alert_api.service.alert_queries import AlertFilter, Page, Place

SELECT_ALERTS: LiteralString = f"""
SELECT {ALERT_COLUMNS} FROM alerts.alerts a"""  # noqa: S608 - constants

SELECT_SEVERE = "SELECT rule_id FROM alerts.rule_severities WHERE severity = %s ORDER BY rule_id"


def alert_page(
    connection: psycopg.Connection[Any], alert_filter: AlertFilter, after: Place | None, limit: int
) -> Page:
    """At most ``limit`` alerts after ``after``."""
    asked = with_severe_rules(connection, alert_filter)
    if asked is None:
        return Page((), None)
    if asked.asks_for_work:
        return page_by_work(connection, asked, after, limit)
    # One row more than asked for tells whether there is a next page.
    rows, following = walked(connection, asked, after, ALERT_COLUMNS, limit + 1)
    alerts = with_cases(connection, rows[:limit])
    return Page(alerts, alerts[-1].place if len(rows) > limit else following)


def with_severe_rules(connection: psycopg.Connection[Any], alert_filter: AlertFilter) -> AlertFilter | None:
    """The filter with the rules of its severity in the severity's place; None where there are no such rules."""
    if alert_filter.severity is None:
        return alert_filter
    rows = connection.execute(SELECT_SEVERE, (alert_filter.severity,)).fetchall()
    severe = {rule_id for (rule_id,) in rows}
    rule_ids = severe.intersection(alert_filter.rule_ids) if alert_filter.rule_ids else severe
    return replace(alert_filter, severity=None, rule_ids=tuple(sorted(rule_ids))) if rule_ids else None
