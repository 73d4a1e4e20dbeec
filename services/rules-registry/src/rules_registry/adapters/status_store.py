"""registry.rule_status: the last word of each shard about each rule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rules_registry.adapters.postgres import Connection, connect, translated
from rules_registry.adapters.statements import UPSERT_STATUS
from rules_registry.domain.applied import Applied


class StatusStore:
    """Writes status. Raises `StoreUnavailable`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def put(self, statuses: Sequence[Applied]) -> None:
        """All of them, in one transaction; what is older than what is known changes nothing."""
        values = [
            {
                "rule_id": status.rule_id,
                "shard": status.shard,
                "shards": status.shards,
                "version": status.version,
                "position": status.position,
                "applied_at": status.applied_at,
                "warm_from": status.warm_from,
            }
            for status in statuses
        ]
        with translated(), self._connection.transaction(), self._connection.cursor() as cursor:
            cursor.executemany(UPSERT_STATUS, values)


@contextmanager
def open_status_store(dsn: str) -> Iterator[StatusStore]:
    """A session of its own. Raises `StoreUnavailable`."""
    connection = connect(dsn, options="-c statement_timeout=10000")
    try:
        yield StatusStore(connection)
    finally:
        connection.close()
