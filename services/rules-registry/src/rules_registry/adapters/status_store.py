"""Reports of the shards: registry.rule_status, the last word of each about each rule; exports; positions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict

from psycopg import Cursor
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from rules_registry.adapters.postgres import Connection, connect, translated
from rules_registry.adapters.statements import (
    KNOWN_COMMANDS,
    KNOWN_EVENTS,
    UPSERT_EXPORT,
    UPSERT_POSITION,
    UPSERT_STATUS,
)
from rules_registry.domain.reports.position_report import PositionReport
from rules_registry.domain.reports.shard_reports import Applied, Exported, held_json


class StatusStore:
    """Writes status. Raises `StoreUnavailable`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def put(self, statuses: Sequence[Applied | Exported | PositionReport]) -> int:
        """Stores them in one transaction; what is older than what is known changes nothing.

        :returns: how many are about an event that is not in the log; those are not stored
        """
        applied = [status for status in statuses if isinstance(status, Applied)]
        exported = [status for status in statuses if isinstance(status, Exported)]
        reports = [asdict(status) for status in statuses if isinstance(status, PositionReport)]
        with translated(), self._connection.transaction(), self._connection.cursor() as cursor:
            known_events, known_commands = _events(cursor, applied), _commands(cursor, exported)
            real = [
                _applied(status)
                for status in applied
                if (status.position, status.rule_id, status.version) in known_events
            ]
            answers = [
                _exported(status)
                for status in exported
                if (status.command_id, status.position) in known_commands
            ]
            for statement, rows in (
                (UPSERT_STATUS, real), (UPSERT_EXPORT, answers), (UPSERT_POSITION, reports),
            ):  # fmt: skip
                if rows:
                    cursor.executemany(statement, rows)
        return len(applied) - len(real) + len(exported) - len(answers)


def _events(cursor: Cursor[DictRow], applied: Sequence[Applied]) -> set[tuple[int, int, int]]:
    """Position, rule and version of each event that the log holds, at these positions."""
    if not applied:
        return set()
    cursor.execute(KNOWN_EVENTS, {"positions": [status.position for status in applied]})
    return {(row["position"], row["rule_id"], row["version"]) for row in cursor}


def _commands(cursor: Cursor[DictRow], exported: Sequence[Exported]) -> set[tuple[str, int]]:
    """Id and position of each of these commands that the registry has issued."""
    if not exported:
        return set()
    cursor.execute(KNOWN_COMMANDS, {"command_ids": [status.command_id for status in exported]})
    return {(row["command_id"], row["position"]) for row in cursor}


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
