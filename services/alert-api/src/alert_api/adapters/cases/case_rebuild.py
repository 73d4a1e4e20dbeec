"""Episodes, cases and what snoozes covered made again from the log, and compared with those that are there."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, Final, LiteralString

import psycopg

from alert_api.adapters.cases.case_fold import Cursor, fold_chunk, lock_cursor
from alert_api.adapters.postgres_errors import translated

TABLES: Final[dict[str, LiteralString]] = {
    "cases": "case_id",
    "episodes": "episode_id",
    "case_episodes": "case_id, episode_id",
    "case_openings": "case_id, version",
    "snoozed_alerts": "alert_id",
    "snooze_counts": "snooze_id",
}
"""What is projected, each table with what its rows are in order of."""

Digests = dict[str, str]
"""SHA-256 of all rows of each table, as Postgres writes them."""


def rebuild(dsn: str, *, keep: bool, progress: Callable[[int], None]) -> tuple[Digests, Digests]:
    """Fold the whole log anew, in one transaction; gives the digests of before and after.

    What came out is kept or, without ``keep``, rolled back. Alerts and work wait meanwhile; readers see the state of
    before. ``progress`` is told the position after each chunk. Raises StoreUnavailable.
    """
    try:
        with psycopg.connect(dsn, application_name="tripline-cases-rebuild") as connection:
            digests = _folded_anew(connection, progress)
            if not keep:
                connection.rollback()
    except psycopg.Error as error:
        raise translated(error) from error
    return digests


def _folded_anew(
    connection: psycopg.Connection[Any], progress: Callable[[int], None]
) -> tuple[Digests, Digests]:
    with connection.cursor() as cursor:
        lock_cursor(cursor)
        before = _digests(connection)
        for table in TABLES:
            cursor.execute(f"DELETE FROM alerts.{table}".encode())  # noqa: S608 - constants
        folded = Cursor(-1, None)  # the first policy is at 0
        while (moved := fold_chunk(cursor, folded)) != folded:
            folded = moved
            progress(folded.position)
    return before, _digests(connection)


def _digests(connection: psycopg.Connection[Any]) -> Digests:
    digests = {}
    for table, order in TABLES.items():
        digest = hashlib.sha256()
        with connection.cursor(name=f"all_{table}") as cursor:
            cursor.itersize = 10_000
            cursor.execute(f"SELECT t::text FROM alerts.{table} t ORDER BY {order}".encode())  # noqa: S608 - constants
            for (row,) in cursor:
                digest.update(row.encode() + b"\n")
        digests[table] = digest.hexdigest()
    return digests
