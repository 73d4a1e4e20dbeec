"""Reports of the shards: registry.rule_status, the last word of each about each rule, and registry.rule_exports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from psycopg.types.json import Jsonb

from rules_registry.adapters.postgres import Connection, connect, translated
from rules_registry.adapters.statements import UPSERT_EXPORT, UPSERT_STATUS
from rules_registry.domain.shard_reports import Applied, Exported, held_json


class StatusStore:
    """Writes status. Raises `StoreUnavailable`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def put(self, statuses: Sequence[Applied | Exported]) -> None:
        """All of them, in one transaction; what is older than what is known changes nothing."""
        applied = [_applied(status) for status in statuses if isinstance(status, Applied)]
        exported = [_exported(status) for status in statuses if isinstance(status, Exported)]
        with translated(), self._connection.transaction(), self._connection.cursor() as cursor:
            if applied:
                cursor.executemany(UPSERT_STATUS, applied)
            if exported:
                cursor.executemany(UPSERT_EXPORT, exported)


@contextmanager
def open_status_store(dsn: str) -> Iterator[StatusStore]:
    """A session of its own. Raises `StoreUnavailable`."""
    connection = connect(dsn, options="-c statement_timeout=10000")
    try:
        yield StatusStore(connection)
    finally:
        connection.close()


def _applied(status: Applied) -> dict[str, object]:
    return {
        "rule_id": status.rule_id,
        "shard": status.shard,
        "shards": status.shards,
        "version": status.version,
        "position": status.position,
        "applied_at": status.applied_at,
        "warm_from": status.warm_from,
    }


def _exported(export: Exported) -> dict[str, object]:
    return {
        "command_id": export.command_id,
        "shard": export.shard,
        "shards": export.shards,
        "position": export.position,
        "exported_at": export.exported_at,
        "rules": Jsonb([held_json(rule) for rule in export.rules]),
    }
