"""The registry's database for the verification of the trail: one connection, one moment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rules_registry.adapters import statements
from rules_registry.adapters.audit import audit_statements
from rules_registry.adapters.postgres import Connection, connect, translated
from rules_registry.adapters.rows import entry_of
from rules_registry.domain.audit.audit_entry import AuditEntry
from rules_registry.domain.audit.trail_comparison import StandingRule
from rules_registry.domain.reports.position_report import PositionReport


class TrailReader:
    """Reads row by row. Raises `StoreUnavailable` when the session is gone."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def entries(self) -> Iterator[AuditEntry]:
        """The trail in its order."""
        for row in self._rows("entries", audit_statements.WHOLE_TRAIL):
            yield entry_of(row)

    def events(self) -> Iterator[dict[str, Any]]:
        """The log in its order."""
        for row in self._rows("events", audit_statements.WHOLE_LOG):
            yield row["body"]

    def rules(self) -> Iterator[StandingRule]:
        """Every rule as it stands, deleted ones too."""
        for row in self._rows("rules", audit_statements.WHOLE_RULES):
            yield StandingRule(**row)

    def reported_positions(self) -> Sequence[PositionReport]:
        """Where the shards of engines stand, by what each said last."""
        with translated():
            return [PositionReport(**row) for row in self._connection.execute(statements.POSITIONS)]

    def _rows(self, name: str, statement: str) -> Iterator[dict[str, Any]]:
        with translated(), self._connection.cursor(name) as cursor:
            cursor.itersize = 1000
            yield from cursor.execute(statement)


@contextmanager
def open_trail(dsn: str) -> Iterator[TrailReader]:
    """A session that sees the database at one moment. Raises `StoreUnavailable`."""
    connection = connect(dsn)
    try:
        with translated(), connection.transaction():
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield TrailReader(connection)
    finally:
        connection.close()
