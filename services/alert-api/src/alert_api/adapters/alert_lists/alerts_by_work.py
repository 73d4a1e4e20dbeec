"""Alerts by what people did with their cases: the state, the outcome, the assignee.

What changes is the case, so no alert's row says it, and no index has both orders. Where nothing is asked of the alerts
themselves, the cases that end last lead to the newest of them. Else, where few cases fit, their episodes do. Where many
fit, the alerts are walked through, newest first, and those of other cases left out: a page looks at so many of them and
no more, and may have fewer than were asked for, or none, with a next one behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final, LiteralString

import psycopg

from alert_api.adapters.alert_lists.alert_conditions import alert_conditions, others, where
from alert_api.adapters.alert_lists.alert_walking import walked
from alert_api.adapters.alert_lists.newest_of_cases import newest_of_cases
from alert_api.adapters.alert_rows import ALERT_COLUMNS, stored_alert
from alert_api.adapters.cases.case_conditions import case_conditions
from alert_api.adapters.cases.cases_of_alerts import Listed, of_these_cases
from alert_api.adapters.cases.plain_arrays import plain_array
from alert_api.service.alert_queries import AlertFilter, Page, Place, StoredAlert
from alert_api.service.cases.case_queries import CaseFilter

MOST_CASES: Final = 200
PIECES: Final = (2, 4, 10, 24)
"""Alerts that are looked at, one piece after the other, as often as a page has rows: 2,000 for fifty."""

LAST_TIME: Final = 2**63 - 1

SELECT_CASES: LiteralString = "SELECT c.case_id, c.last FROM alerts.cases c"
THESE_CASES: LiteralString = " AND c.case_id = ANY (%(case_ids)s::bigint[])"
CHOOSE_CASES: LiteralString = """
 AND c.first <= %(until)s AND c.last >= %(since)s ORDER BY c.last DESC, c.case_id DESC LIMIT %(cases)s"""

# The event time leads to the one partition that has the alert.
SELECT_THESE: LiteralString = f"""
SELECT {ALERT_COLUMNS} FROM unnest(%s::bigint[], %s::uuid[]) AS asked (event_time, alert_id)
  JOIN alerts.alerts a ON a.event_time = asked.event_time AND a.alert_id = asked.alert_id
 ORDER BY a.event_time DESC, a.alert_id"""  # noqa: S608 - constants

Connection = psycopg.Connection[Any]
Fits = Callable[[set[int]], set[int]]
"""Of these cases those that fit."""

Piece = tuple[list[Listed], Place | None]
"""Some alerts, and the place behind which there may be more."""


def page_by_work(connection: Connection, alert_filter: AlertFilter, after: Place | None, limit: int) -> Page:
    """At most ``limit`` alerts after ``after`` whose cases fit."""
    if not others(alert_filter)[0]:
        newest = newest_of_cases(connection, alert_filter, after, limit)
        if newest is not None:
            return Page(_these(connection, newest[0]), newest[1])
    pieces = [pages * limit for pages in PIECES]
    kept, following = listed_by_work(connection, alert_filter, after, limit, pieces)
    return Page(_these(connection, kept), following)


def listed_by_work(
    connection: Connection, alert_filter: AlertFilter, after: Place | None, limit: int, pieces: Sequence[int]
) -> Piece:
    """The same, of which ``pieces`` say how many are looked at."""
    case_filter = CaseFilter(alert_filter.case_state, alert_filter.outcome, alert_filter.assignee)
    case_where, case_values = case_conditions(case_filter)
    until = min(
        LAST_TIME if alert_filter.latest is None else alert_filter.latest,
        LAST_TIME if after is None else after.event_time,
    )
    values = {**case_values, "until": until, "since": alert_filter.earliest or 0, "cases": MOST_CASES + 1}
    chosen = connection.execute(SELECT_CASES + case_where + CHOOSE_CASES, values).fetchall()
    if not chosen:
        return [], None
    if len(chosen) <= MOST_CASES:
        case_ids = {case_id for case_id, _ in chosen}
        of_cases = {"case_ids": plain_array(case_ids), "since": values["since"]}

        def few(following: Place | None, _most: int) -> Piece:
            conditions, asked = alert_conditions(alert_filter, following)
            asked = {**asked, **of_cases, "rows": limit + 1}
            asked["until"] = until if following is None else min(until, following.event_time)
            # Of what the alerts themselves have to be, nobody knows how many of an episode are: then all are looked at.
            newest = not others(alert_filter)[0]
            by_rule = bool(alert_filter.rule_ids)
            rows = connection.execute(few_query(conditions, newest=newest, by_rule=by_rule), asked).fetchall()
            if newest and len(rows) <= limit:
                rows = connection.execute(few_query(conditions, newest=False), asked).fetchall()
            return _piece(rows, None, limit + 1)

        return _fitting(connection, after, (limit, pieces), few, case_ids.intersection)

    def fitting(cases: set[int]) -> set[int]:
        asked = {**case_values, "case_ids": plain_array(cases)}
        return {row[0] for row in connection.execute(SELECT_CASES + case_where + THESE_CASES, asked)}

    # Nothing that fits is newer than the newest of these cases.
    newest = replace(alert_filter, latest=min(until, chosen[0][1]))

    def walk(following: Place | None, most: int) -> Piece:
        return _piece(*walked(connection, newest, following, LISTED, most), most)

    return _fitting(connection, after, (limit, pieces), walk, fitting, once=True)


def _piece(rows: Sequence[tuple[Any, ...]], end: Place | None, most: int) -> Piece:
    listed = [Listed(*row) for row in rows]
    return listed, Place(listed[-1].event_time, listed[-1].alert_id) if len(listed) == most else end


LISTED: Final[LiteralString] = "a.alert_id::text, a.event_time, a.rule_id, a.group_values"

# Each episode has an alert at its end: as many episodes as the page has rows have its alerts, those that end last. What
# goes on behind the page's beginning counts for none, and is looked at anyhow.
LISTED_OF_CASES: LiteralString = """
WITH mine AS MATERIALIZED (
    SELECT DISTINCT episode_id, e.rule_id, e.group_text::jsonb AS group_values, e.first, e.last
      FROM alerts.case_episodes l JOIN alerts.episodes e USING (episode_id)
     WHERE l.case_id = ANY (%(case_ids)s::bigint[]) AND e.first <= %(until)s AND e.last >= %(since)s{rules}
)
SELECT x.alert_id::text, x.event_time, x.rule_id, x.group_values
  FROM (SELECT * FROM mine{newest}) e, LATERAL (
       SELECT alert_id, event_time, rule_id, group_values FROM alerts.alerts a{where}
          AND rule_id = e.rule_id
          AND jsonb_hash_extended(group_values, 0) = jsonb_hash_extended(e.group_values, 0)
          AND group_values = e.group_values
          AND event_time BETWEEN e.first AND e.last
        ORDER BY event_time DESC, alert_id LIMIT %(rows)s) x
 ORDER BY x.event_time DESC, x.alert_id LIMIT %(rows)s"""
NEWEST_EPISODES: LiteralString = """ WHERE last >= %(until)s OR last >= coalesce((
       SELECT last FROM mine WHERE last < %(until)s ORDER BY last DESC LIMIT 1 OFFSET %(rows)s - 1), 0)"""


def few_query(conditions: list[LiteralString], *, newest: bool, by_rule: bool = False) -> LiteralString:
    """The alerts of some cases' episodes; of all of them, of those of the filter's rules, or that have the newest."""
    rules: LiteralString = " AND e.rule_id = ANY (%(rule_ids)s::bigint[])" if by_rule else ""
    query = LISTED_OF_CASES.replace("{where}", where(conditions or ["true"])).replace("{rules}", rules)
    return query.replace("{newest}", NEWEST_EPISODES if newest else "")


def _fitting(
    connection: Connection,
    after: Place | None,
    most: tuple[int, Sequence[int]],
    read: Callable[[Place | None, int], Piece],
    fits: Fits,
    *,
    once: bool = False,
) -> Piece:
    """Pieces of the list, until the alerts of fitting cases are so many, or it has been looked for long enough: a walk
    is not gone on with, `once`, that has not led to as many as it was to."""
    limit, pieces = most
    kept: list[Listed] = []
    following = after
    for size in pieces:
        piece, following = read(following, size)
        kept += of_these_cases(connection, piece, fits)
        if len(kept) > limit:
            following = Place(kept[limit - 1].event_time, kept[limit - 1].alert_id)
            break
        if following is None or (once and len(piece) < size):
            break
    return kept[:limit], following


def _these(connection: Connection, listed: Sequence[Listed]) -> tuple[StoredAlert, ...]:
    """The same alerts, with all that is stored of them, in the cases that they were chosen by."""
    cases = {alert.alert_id: alert.case_id for alert in listed}
    keys = plain_array(alert.event_time for alert in listed), plain_array(cases)
    rows = connection.execute(SELECT_THESE, keys).fetchall()
    return tuple(stored_alert(row, cases[row[0]]) for row in rows)
