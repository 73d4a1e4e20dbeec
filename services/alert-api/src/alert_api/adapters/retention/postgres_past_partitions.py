"""``PastPartitions`` by the owner's functions (migration 0033): the login reads and empties what is over."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final

import psycopg

from alert_api.adapters.retention.retention_connection import retention_connection
from alert_api.service.past_months import Mark

BATCH: Final = 5_000
_FIRST: Final = "00000000-0000-0000-0000-000000000000"

BEFORE = "SELECT alerts.alert_partitions_before(%s)"
UNRESOLVED = "SELECT alerts.unresolved_cases_of(%s)"
MARK = "SELECT m.alerts, m.digest FROM alerts.mark_of_alert_partition(%s) m"
LINES = "SELECT alert_id::text, line FROM alerts.read_alert_partition(%s, %s, %s) ORDER BY alert_id"
KEEP = "SELECT alerts.keep_past_alerts(%s, %s, %s)::text"
EMPTY = "SELECT alerts.empty_alert_partition(%s, %s, %s)"


class PostgresPastPartitions:
    """Over a connection for each call."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn

    def before(self, moment: int) -> Sequence[str]:
        """By when they end."""
        with self._connection() as connection:
            return [name for (name,) in connection.execute(BEFORE, (moment,))]

    def unresolved_cases(self, partition: str) -> int:
        """Of its episodes."""
        return int(self._single(UNRESOLVED, partition)[0])

    def mark(self, partition: str) -> Mark:
        """All of it is read."""
        alerts, digest = self._single(MARK, partition)
        return Mark(alerts, int(digest))

    def lines(self, partition: str) -> Iterator[str]:
        """In order of id, some at a time, each time in a transaction of its own."""
        after = _FIRST
        with self._connection() as connection:
            while rows := connection.execute(LINES, (partition, after, BATCH)).fetchall():
                yield from (line for _, line in rows)
                after = rows[-1][0]

    def keep_facts(self, partition: str) -> None:
        """Some at a time: the alert stream tells nothing that is newer than a transaction which still writes."""
        after: str | None = _FIRST
        with self._connection() as connection:
            while after is not None:
                [(after,)] = connection.execute(KEEP, (partition, after, BATCH)).fetchall()

    def empty(self, partition: str, mark: Mark | None) -> int | None:
        """Alerts of it are not acknowledged meanwhile; who reads it waits for a moment."""
        (alerts,) = self._single(EMPTY, partition, mark and mark.alerts, mark and mark.digest)
        return None if alerts is None else int(alerts)

    def _single(self, query: Any, *values: Any) -> tuple[Any, ...]:
        with self._connection() as connection:
            [row] = connection.execute(query, values).fetchall()
        return tuple(row)

    def _connection(self) -> AbstractContextManager[psycopg.Connection[Any]]:
        return retention_connection(self._dsn, autocommit=True, statement_seconds=3600)
