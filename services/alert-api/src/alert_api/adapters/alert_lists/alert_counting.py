"""Alerts counted: by the hours' counts where these know what is asked for, else one by one, the newest first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final, LiteralString

import psycopg

from alert_api.adapters.alert_lists.alert_listing import with_severe_rules
from alert_api.adapters.alert_lists.alert_walking import walked
from alert_api.adapters.alert_lists.alerts_by_work import listed_by_work
from alert_api.adapters.alert_rows import SELECT_NAMES
from alert_api.adapters.cases.plain_arrays import plain_array
from alert_api.service.alert_counts import HOUR_MS, Counted, Tally
from alert_api.service.alert_queries import AlertFilter, Place

MOST: Final = 2000
"""Alerts that are counted one by one."""

MOST_OF_WORK: Final = 500
"""The same where the case of each has to be asked for, which costs ten times as much."""

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

COLUMNS: LiteralString = "a.alert_id::text, a.event_time, a.rule_id, a.acknowledged_at IS NOT NULL"

SELECT_LISTED: LiteralString = f"""
SELECT {COLUMNS} FROM unnest(%s::bigint[], %s::uuid[]) AS asked (event_time, alert_id)
  JOIN alerts.alerts a ON a.event_time = asked.event_time AND a.alert_id = asked.alert_id"""  # noqa: S608 - constants

Connection = psycopg.Connection[Any]


def counted(connection: Connection, alert_filter: AlertFilter) -> Counted:
    """By rule and by hour; those without alerts are left out. The filter has a span."""
    asked = with_severe_rules(connection, alert_filter)
    if asked is None:
        return Counted({}, {}, {})
    counts = _of_hours(connection, asked) if _is_of_hours(asked) else _one_by_one(connection, asked)
    names = dict(connection.execute(SELECT_NAMES, (sorted(counts.by_rule),)).fetchall())
    return Counted(counts.by_rule, counts.by_hour, names, counts.since)


def _is_of_hours(asked: AlertFilter) -> bool:
    return asked == AlertFilter(
        rule_ids=asked.rule_ids,
        rule_version=asked.rule_version,
        state=asked.state,
        earliest=asked.earliest,
        latest=asked.latest,
    )


def _of_hours(connection: Connection, asked: AlertFilter) -> Counted:
    values = {
        **_parts(asked.earliest or 0, asked.latest or 0),
        "hour_ms": HOUR_MS,
        "rule_ids": list(asked.rule_ids) or None,
        "rule_version": asked.rule_version,
    }
    rows = connection.execute(COUNT_ALERTS, values).fetchall()
    by_rule = {rule: _of_state(asked, *counts) for rule, _, *counts in rows if rule is not None}
    by_hour = {hour: _of_state(asked, *counts) for _, hour, *counts in rows if hour is not None}
    return Counted(_without_nothing(by_rule), _without_nothing(by_hour), {})


def _of_state(asked: AlertFilter, are_open: int, acknowledged: int) -> Tally:
    return Tally(
        0 if asked.state == "acknowledged" else are_open, 0 if asked.state == "open" else acknowledged
    )


def _without_nothing(tallies: dict[int, Tally]) -> dict[int, Tally]:
    return {key: tally for key, tally in tallies.items() if tally != Tally(0, 0)}


def _one_by_one(connection: Connection, asked: AlertFilter) -> Counted:
    end: Place | None
    if asked.asks_for_work:
        listed, end = listed_by_work(connection, asked, None, MOST_OF_WORK, (MOST_OF_WORK,))
        times, ids = (alert.event_time for alert in listed), (alert.alert_id for alert in listed)
        keys = plain_array(times), plain_array(ids)
        rows = connection.execute(SELECT_LISTED, keys).fetchall()
    else:
        rows, end = walked(connection, asked, None, COLUMNS, MOST + 1)
        if len(rows) > MOST:
            end = Place(rows[MOST - 1][1], rows[MOST - 1][0])
    # Of one instant all are counted, or none.
    since = None if end is None else end.event_time + 1
    kept = [row[1:] for row in rows if since is None or row[1] >= since]
    by_rule = _tallied((rule_id, acknowledged) for _, rule_id, acknowledged in kept)
    by_hour = _tallied((time // HOUR_MS, acknowledged) for time, _, acknowledged in kept)
    return Counted(by_rule, by_hour, {}, since)


def _tallied(alerts: Iterable[tuple[int, bool]]) -> dict[int, Tally]:
    counts = Counter(alerts)
    return {key: Tally(counts[key, False], counts[key, True]) for key in sorted({key for key, _ in counts})}


def _parts(earliest: int, latest: int) -> dict[str, int]:
    """The span as whole hours and what is left before and behind them: `before` and `behind` are the inner ends."""
    first = -(-earliest // HOUR_MS)
    last = (latest + 1) // HOUR_MS - 1
    if last < first:
        # less than an hour, or parts of two: all of it is one part
        return {
            "first_hour": 1, "last_hour": 0, "earliest": earliest, "before": latest,
            "behind": 1, "latest": 0,
        }  # fmt: skip
    return {
        "first_hour": first, "last_hour": last, "earliest": earliest, "before": first * HOUR_MS - 1,
        "behind": (last + 1) * HOUR_MS, "latest": latest,
    }  # fmt: skip
