"""Dead letters and rejected records seen by who deletes them: their sizes and ages, and not what is in them."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Literal, LiteralString

import psycopg
from psycopg import sql

from alert_api.adapters.retention.retention_connection import retention_connection
from alert_api.service.retention import Kept, RetentionPolicy

BATCH = 1000
"""Deleted in one transaction: a first round may find millions."""

# Of those that have to go the newest: it, and all before it, are beyond one of the bounds.
NEWEST_TO_DELETE = """
SELECT stored_at, kafka_topic, kafka_partition, kafka_offset
  FROM (SELECT stored_at, kafka_topic, kafka_partition, kafka_offset,
               row_number() OVER newest_first AS records, sum(kept_bytes) OVER newest_first AS bytes
          FROM {sizes}
        WINDOW newest_first AS
               (ORDER BY stored_at DESC, kafka_topic DESC, kafka_partition DESC, kafka_offset DESC)) counted
 WHERE stored_at < now() - make_interval(days => %(days)s) OR records > %(records)s OR bytes > %(bytes)s
 ORDER BY stored_at DESC, kafka_topic DESC, kafka_partition DESC, kafka_offset DESC
 LIMIT 1
"""

DELETE_OLDEST = """
DELETE FROM {records}
 WHERE (kafka_topic, kafka_partition, kafka_offset) IN (
       SELECT kafka_topic, kafka_partition, kafka_offset FROM {records}
        WHERE (stored_at, kafka_topic, kafka_partition, kafka_offset) <= (%s, %s, %s, %s)
        ORDER BY stored_at, kafka_topic, kafka_partition, kafka_offset
        LIMIT %s)
"""

KEPT = "SELECT count(*), coalesce(sum(kept_bytes), 0)::bigint FROM {sizes}"


class PostgresDeadLetters:
    """``DeadLetters`` of one of the two tables, over a connection for each call: there is one a minute."""

    def __init__(self, dsn: str, which: Literal["unreadable", "rejected"] = "unreadable") -> None:
        self._dsn = dsn
        self._tables = {
            "records": sql.Identifier("alerts", f"{which}_records"),
            "sizes": sql.Identifier("alerts", f"{which}_sizes"),
        }

    def delete_beyond(self, policy: RetentionPolicy) -> int:
        """In transactions of at most ``BATCH`` records each, oldest first."""
        bounds = {"days": policy.days, "records": policy.records, "bytes": policy.bytes}
        with self._connection() as connection:
            newest = connection.execute(self._query(NEWEST_TO_DELETE), bounds).fetchone()
            if newest is None:
                return 0
            deleted = 0
            delete = self._query(DELETE_OLDEST)
            while (count := connection.execute(delete, (*newest, BATCH)).rowcount) == BATCH:
                deleted += count
            return deleted + count

    def kept(self) -> Kept:
        """Number and bytes."""
        with self._connection() as connection:
            records, size = connection.execute(self._query(KEPT)).fetchone() or (0, 0)
            return Kept(records, size)

    def check(self) -> None:
        """Return if the database can be reached now."""
        with self._connection() as connection:
            connection.execute(self._query("SELECT FROM {sizes} LIMIT 0"))

    def _query(self, text: LiteralString) -> sql.Composed:
        return sql.SQL(text).format(**self._tables)

    def _connection(self) -> AbstractContextManager[psycopg.Connection[Any]]:
        return retention_connection(self._dsn, autocommit=True)
