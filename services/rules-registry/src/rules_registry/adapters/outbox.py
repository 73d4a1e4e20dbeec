"""The relay's side of Postgres: the log as an outbox, the cursor, and the lock that makes one relay the active one.

All of it is one session of its own: a relay that has lost its session has lost the lock with it, and cannot move the
cursor any more.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rules_registry.adapters import statements
from rules_registry.adapters.postgres import Connection, connect, translated
from rules_registry.domain.outbox_event import OutboxEvent
from rules_registry.domain.reports.position_report import PositionReport
from rules_registry.errors import RelayCursorMoved

# A server that waits for a lock notices a dead client only if told to look; without it a killed relay would keep the
# lock for as long as its last statement waits.
_OPTIONS = "-c client_connection_check_interval=1000 -c idle_in_transaction_session_timeout=15000"


class Outbox:
    """A session on the log. Every method raises `StoreUnavailable` when the session is gone."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def try_lock(self) -> bool:
        """True where this session holds the relay's lock now. The lock lasts as long as the session."""
        with translated():
            row = self._connection.execute(statements.TRY_RELAY_LOCK).fetchone()
        return bool(row and row["taken"])

    def cursor(self) -> int:
        """The position up to which everything has been delivered."""
        with translated():
            row = self._connection.execute(statements.RELAY_CURSOR).fetchone()
        assert row is not None  # the migration put it there
        return int(row["position"])

    def undelivered(self, after: int, limit: int) -> list[OutboxEvent]:
        """Events after a position, in order, without holes: at a hole (which the writers' lock does not let happen)
        it ends, and what is behind waits until the hole is filled."""
        with translated():
            rows = self._connection.execute(
                statements.UNDELIVERED, {"after": after, "limit": limit}
            ).fetchall()
        dense = []
        for expected, row in enumerate(rows, start=after + 1):
            if row["position"] != expected:
                break
            dense.append(OutboxEvent(**row))
        return dense

    def advance(self, since: int, to: int) -> None:
        """Moves the cursor. Raises `RelayCursorMoved` if it does not stand at `since`."""
        with translated(), self._connection.transaction():
            # A transaction and not autocommit: the server of a relay that was killed must not finish the move alone.
            moved = self._connection.execute(
                statements.ADVANCE_RELAY_CURSOR, {"since": since, "to": to}
            ).rowcount
        if moved != 1:
            raise RelayCursorMoved(f"The relay's cursor does not stand at {since}.")

    def reported_positions(self) -> list[PositionReport]:
        """Where the shards of engines stand, by what each said last."""
        with translated():
            return [PositionReport(**row) for row in self._connection.execute(statements.POSITIONS)]

    def rewind(self, to: int = 0) -> None:
        """Puts the cursor back: everything behind position `to` is undelivered again."""
        with translated(), self._connection.transaction():
            self._connection.execute(statements.REWIND_RELAY_CURSOR, {"to": to})

    def last_position(self) -> int:
        """The end of the log; 0 before any event."""
        with translated():
            row = self._connection.execute(statements.LAST_POSITION).fetchone()
        assert row is not None  # an aggregate without GROUP BY is one row
        return int(row["last"])

    def wait(self, seconds: float) -> None:
        """Returns at the next notification, at the latest after `seconds`. It is a hint: reading tells."""
        with translated():
            for _ in self._connection.notifies(timeout=seconds, stop_after=1):
                pass


@contextmanager
def open_outbox(dsn: str) -> Iterator[Outbox]:
    """A session that listens for new events. Raises `StoreUnavailable`."""
    connection = connect(dsn, options=_OPTIONS)
    try:
        with translated():
            connection.execute(f"LISTEN {statements.CHANNEL}")
        yield Outbox(connection)
    finally:
        connection.close()
