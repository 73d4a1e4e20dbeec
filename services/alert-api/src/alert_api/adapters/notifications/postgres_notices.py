"""``NoticeStore`` over one connection, opened when needed and again after it broke."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg

from alert_api.adapters.notifications.notice_feed import notices_after
from alert_api.adapters.postgres_errors import translated
from alert_api.domain.notifications.case_notice import CaseNotice

# Held until the transaction ends: of two publishers one waits.
LOCK_POSITION = "SELECT position FROM alerts.notice_cursor FOR UPDATE"
MOVE_POSITION = "UPDATE alerts.notice_cursor SET position = %s"


class PostgresNotices:
    """The publisher's side of the database."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._connection: psycopg.Connection[Any] | None = None

    @contextmanager
    def next_batch(self, limit: int) -> Iterator[Sequence[CaseNotice]]:
        """The notices behind the position, which moves behind them where nothing is raised."""
        with self._transaction() as cursor:
            [(position,)] = cursor.execute(LOCK_POSITION).fetchall()
            notices = notices_after(cursor, position, limit)
            yield notices
            if notices:
                cursor.execute(MOVE_POSITION, (notices[-1].position,))

    def check(self) -> None:
        """Return if the database can be reached now, on a connection of its own: for other threads."""
        with psycopg.connect(self._dsn, connect_timeout=2) as connection:
            connection.execute("SELECT position FROM alerts.notice_cursor")

    def close(self) -> None:
        """Give the connection back."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @contextmanager
    def _transaction(self) -> Iterator[psycopg.Cursor[Any]]:
        try:
            if self._connection is None or self._connection.closed:
                self._connection = psycopg.connect(
                    self._dsn,
                    autocommit=True,
                    connect_timeout=5,
                    keepalives_idle=10,
                    tcp_user_timeout=20_000,
                    application_name="tripline-notifier",
                    options="-c statement_timeout=60s",
                )
            with self._connection.transaction(), self._connection.cursor() as cursor:
                yield cursor
        except psycopg.Error as error:
            self.close()
            raise translated(error) from error
