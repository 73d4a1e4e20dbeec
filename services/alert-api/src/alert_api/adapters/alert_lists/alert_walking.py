"""Reads the alerts that a filter chooses, from the way on that leads to few of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, LiteralString

import psycopg
from psycopg.pq import TransactionStatus

from alert_api.adapters.alert_lists.alert_conditions import others, times
from alert_api.adapters.alert_lists.amount_steps import AMOUNTS, LOOKED_FIRST, by_steps, newest_that_fit
from alert_api.adapters.alert_lists.walks import (
    LEAST_LOOKED,
    LOOKED,
    LOOKED_APART,
    ORDER,
    Start,
    Walk,
    by_detection,
    starts,
)
from alert_api.service.alert_queries import AlertFilter, Place

FEW: Final = 500
"""Alerts of one kind that are all looked at, whatever else is asked for."""

FEW_AMOUNTS: Final = 2000
"""The same where amount, time and place in the list are all that is asked for, which one index has."""

Connection = psycopg.Connection[Any]
Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Route:
    """Walks that together lead to all that a filter chooses, and what each looks at at most; it may be known that this
    is more than there are."""

    walks: tuple[Walk, ...]
    looked: int
    all_looked_at: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """A filter as SQL: conditions on the place in the list, the others, and the values of all."""

    timed: list[LiteralString]
    others: list[LiteralString]
    values: dict[str, Any]


def walked(
    connection: Connection, alert_filter: AlertFilter, after: Place | None, columns: LiteralString, rows: int
) -> tuple[list[Row], Place | None]:
    """The next ``rows`` alerts as these columns, of which the first are id and event time; fewer where there are no
    more, or where they have been looked for long enough: then the place comes too from which to go on.
    """
    timed, time_values = times(alert_filter, after)
    conditions, values = others(alert_filter)
    asked = Asked(timed, conditions, {**values, **time_values})
    with along_indexes(connection):
        route = _route(connection, alert_filter, asked, rows)
        read = connection.execute(
            page_query(route, timed, columns, rows), asked.values, prepare=True
        ).fetchall()
        last = read[-1][1] if len(read) >= rows else None
        end = _end(connection, route, asked, last)
    if end is None:
        return read, None
    until = (-end.event_time, end.alert_id)
    within = [row for row in read if (-row[1], row[0]) <= until]
    return within, end if len(within) < rows else None


SETTINGS: Final = {"plan_cache_mode": ("force_generic_plan", "auto"), "enable_sort": ("off", "on")}
SET: LiteralString = "SELECT set_config('plan_cache_mode', %s, false), set_config('enable_sort', %s, false)"


@contextmanager
def along_indexes(connection: Connection) -> Iterator[None]:
    """Statements are planned once, for to plan for all partitions takes ten times as long as to read a page; and what
    an index has in order is read in order: where Postgres guesses that few alerts fit, it would read and sort them."""
    for_walks, before = zip(*SETTINGS.values(), strict=True)
    connection.execute(SET, for_walks)
    try:
        yield
    finally:
        if not connection.closed and connection.info.transaction_status is not TransactionStatus.INERROR:
            connection.execute(SET, before)


def page_query(route: Route, timed: list[LiteralString], columns: LiteralString, rows: int) -> LiteralString:
    """So many rows, the newest of all walks."""
    together: LiteralString = " UNION ALL ".join(f"({walk.query(timed)})" for walk in route.walks)
    query: LiteralString = f"SELECT {columns} FROM ({together}) a{ORDER} LIMIT %(rows)s"  # noqa: S608 - constants
    return numbered(query, rows=rows, looked=route.looked)


def numbered(query: LiteralString, **numbers: int) -> LiteralString:
    """With these numbers written in: a plan for any number is one for a tenth of all rows."""
    for name, number in numbers.items():
        query = query.replace(f"%({name})s", str(int(number)))
    return query


def _route(connection: Connection, alert_filter: AlertFilter, asked: Asked, rows: int) -> Route:
    """The first of all ways that begins with few alerts, else the first one of all."""
    amounts = tuple(condition for condition in asked.others if condition in AMOUNTS)
    ways = starts(alert_filter)
    for way in ways:
        asked.values.update(way.values)
    if amounts and len(amounts) == len(asked.others):
        keys = Walk(amounts, kind="keys")
        if _count(connection, Start((keys,)), asked, FEW_AMOUNTS) <= FEW_AMOUNTS:
            return Route((keys,), rows, all_looked_at=True)
    elif amounts:
        ways.append(Start((Walk(amounts, kind="few"),), amounts))
    if len(ways) > 1:
        for way in ways:
            if way.is_apart and _count(connection, way, asked, FEW) <= FEW:
                # Twice as many: some may have come since they were counted.
                return Route(way.with_rest(asked.others), max(2 * FEW, rows), all_looked_at=True)
    if amounts and not ways[0].is_apart:
        ways[0] = _of_amounts(connection, alert_filter, asked, rows) or ways[0]
    walks = by_detection(ways[0].with_rest(asked.others), asked.others, alert_filter)
    looked = LOOKED_APART if ways[0].is_apart else LOOKED
    if walks[0].kind == "of rules":
        looked = max(LEAST_LOOKED, looked // len(alert_filter.rule_ids))
    elif walks[0].kind == "of amounts" and len(amounts) < len(asked.others):
        looked = max(LEAST_LOOKED, looked // max(1, len(asked.values["steps"])))
    return Route(walks, looked if walks[0].is_of_each else max(looked, rows))


def _of_amounts(connection: Connection, alert_filter: AlertFilter, asked: Asked, rows: int) -> Start | None:
    """Walks through steps of amounts, unless the newest alerts are a page already."""
    query = numbered(newest_that_fit(asked.timed, asked.others), looked=LOOKED_FIRST)
    [(newest,)] = connection.execute(query, asked.values, prepare=True).fetchall()
    way = None if newest >= rows else by_steps(connection, alert_filter)
    if way is not None:
        asked.values.update(way.values)
    return way


def _count(connection: Connection, way: Start, asked: Asked, most: int) -> int:
    """How many alerts it begins with, of each walk up to one more than ``most``."""
    count: LiteralString = " + ".join(
        f"(SELECT count(*) FROM ({walk.some_query(asked.timed)}) s)"  # noqa: S608 - constants
        for walk in way.walks
    )
    query = numbered("SELECT " + count, most=most + 1)
    [row] = connection.execute(query, asked.values, prepare=True).fetchall()
    return int(row[0])


def _end(connection: Connection, route: Route, asked: Asked, last: int | None) -> Place | None:
    """The newest alert behind which one of the walks may have more that nobody looked at. Of a full page, whose last
    event time is given, only what is before its end counts."""
    bounded = [walk for walk in route.walks if walk.can_end_early]
    one_order = len(route.walks) == 1 and not route.walks[0].is_of_each
    if route.all_looked_at or not bounded or (last is not None and one_order):
        return None
    timed, values = asked.timed, asked.values
    if last is not None:
        timed, values = [*timed, "event_time >= %(last_time)s"], {**values, "last_time": last}
    ends: LiteralString = " UNION ALL ".join(f"({walk.end_query(timed)})" for walk in bounded)
    query: LiteralString = f"SELECT a.event_time, a.alert_id::text FROM ({ends}) a{ORDER} LIMIT 1"  # noqa: S608
    rows = connection.execute(numbered(query, looked=route.looked - 1), values, prepare=True).fetchall()
    return Place(*rows[0]) if rows else None
