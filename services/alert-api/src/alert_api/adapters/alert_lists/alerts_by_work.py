"""Alerts by what people did with their cases: the state, the outcome, the assignee.

What changes is the case, so no alert's row says it, and no index has both orders. Where few cases fit, their episodes
lead to the alerts. Where many do, the alerts are walked through, newest first, and those of other cases left out: a
page looks at so many of them and no more, and may have fewer than were asked for, or none, with a next one behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final, LiteralString

import psycopg

from alert_api.adapters.alert_lists.alert_conditions import alert_conditions, where
from alert_api.adapters.alert_rows import ALERT_COLUMNS, stored_alert
from alert_api.adapters.cases.case_conditions import case_conditions
from alert_api.adapters.cases.cases_of_alerts import Listed, cases_of, with_cases
from alert_api.domain.events import AlertId
from alert_api.service.alert_queries import AlertFilter, Page, Place
from alert_api.service.cases.case_queries import CaseFilter

MOST_CASES: Final = 200
PIECE: Final = 500
PIECES: Final = 4

LAST_TIME: Final = 2**63 - 1

SELECT_CASES: LiteralString = "SELECT c.case_id, c.last FROM alerts.cases c"
THESE_CASES: LiteralString = " AND c.case_id = ANY (%(case_ids)s::bigint[])"
CHOOSE_CASES: LiteralString = """
 AND c.first <= %(until)s AND c.last >= %(since)s ORDER BY c.last DESC, c.case_id DESC LIMIT %(cases)s"""

SELECT_THESE: LiteralString = f"""
SELECT {ALERT_COLUMNS} FROM alerts.alerts a WHERE a.alert_id = ANY (%s::uuid[])
 ORDER BY a.event_time DESC, a.alert_id"""  # noqa: S608 - constants

Connection = psycopg.Connection[Any]
Fits = Callable[[set[int]], set[int]]
"""Of these cases those that fit."""


def page_by_work(connection: Connection, alert_filter: AlertFilter, after: Place | None, limit: int) -> Page:
    """At most ``limit`` alerts after ``after`` whose cases fit."""
    case_filter = CaseFilter(alert_filter.case_state, alert_filter.outcome, alert_filter.assignee)
    case_where, case_values = case_conditions(case_filter)
    until = min(
        LAST_TIME if alert_filter.latest is None else alert_filter.latest,
        LAST_TIME if after is None else after.event_time,
    )
    values = {**case_values, "until": until, "since": alert_filter.earliest or 0, "cases": MOST_CASES + 1}
    chosen = connection.execute(SELECT_CASES + case_where + CHOOSE_CASES, values).fetchall()
    if not chosen:
        return Page((), None)
    if len(chosen) <= MOST_CASES:
        case_ids = [case_id for case_id, _ in chosen]
        of_cases = {"case_ids": case_ids, "until": until, "since": values["since"]}

        def among(cases: set[int]) -> set[int]:
            return cases.intersection(case_ids)

        return _page(connection, alert_filter, after, limit, (LISTED_OF_CASES, of_cases, among))

    def fitting(cases: set[int]) -> set[int]:
        asked = {**case_values, "case_ids": list(cases)}
        return {row[0] for row in connection.execute(SELECT_CASES + case_where + THESE_CASES, asked)}

    # Nothing that fits is newer than the newest of these cases.
    newest = replace(alert_filter, latest=min(until, chosen[0][1]))
    return _page(connection, newest, after, limit, (LISTED, {}, fitting))


LISTED: LiteralString = """
SELECT a.alert_id::text, a.event_time, a.rule_id, a.group_values FROM alerts.alerts a{where}
 ORDER BY a.event_time DESC, a.alert_id LIMIT %(rows)s"""

LISTED_OF_CASES: LiteralString = """
SELECT a.alert_id::text, a.event_time, a.rule_id, a.group_values
  FROM (SELECT DISTINCT x.alert_id, x.event_time, x.rule_id, x.group_values
          FROM alerts.case_episodes l JOIN alerts.episodes e USING (episode_id), LATERAL (
               SELECT alert_id, event_time, rule_id, group_values FROM alerts.alerts a{where}
                  AND rule_id = e.rule_id
                  AND jsonb_hash_extended(group_values, 0) = jsonb_hash_extended(e.group_text::jsonb, 0)
                  AND group_values = e.group_text::jsonb
                  AND event_time BETWEEN e.first AND e.last
                ORDER BY event_time DESC, alert_id LIMIT %(rows)s) x
         WHERE l.case_id = ANY (%(case_ids)s::bigint[]) AND e.first <= %(until)s AND e.last >= %(since)s) a
 ORDER BY a.event_time DESC, a.alert_id LIMIT %(rows)s"""


def _page(
    connection: Connection,
    alert_filter: AlertFilter,
    after: Place | None,
    limit: int,
    source: tuple[LiteralString, dict[str, Any], Fits],
) -> Page:
    query, source_values, fits = source
    kept: list[Listed] = []
    rows = PIECE if query is LISTED else limit + 1
    following = after
    for _ in range(PIECES):
        conditions, values = alert_conditions(alert_filter, following)
        asked = query.replace("{where}", where(conditions or ["true"]))
        values = {**values, **source_values, "rows": rows}
        piece = [Listed(*row) for row in connection.execute(asked, values)]
        cases = cases_of(connection, piece)
        fitting = fits(set(cases.values()))
        kept += [alert for alert in piece if cases.get(alert.alert_id) in fitting]
        if len(kept) > limit:
            following = Place(kept[limit - 1].event_time, kept[limit - 1].alert_id)
            break
        if len(piece) < rows:
            following = None
            break
        following = Place(piece[-1].event_time, piece[-1].alert_id)
    return Page(_these(connection, [alert.alert_id for alert in kept[:limit]]), following)


def _these(connection: Connection, alert_ids: Sequence[AlertId]) -> tuple[Any, ...]:
    rows = connection.execute(SELECT_THESE, (list(alert_ids),)).fetchall()
    return with_cases(connection, [stored_alert(row) for row in rows])
