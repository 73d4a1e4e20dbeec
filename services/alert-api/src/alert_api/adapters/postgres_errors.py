"""One translation of database errors for everything in this package, and connections that go by it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, LiteralString

import psycopg
from psycopg_pool import ConnectionPool

from alert_api.errors import RecordNotStorable, StoreUnavailable

CONTENT_CLASSES = frozenset({"22", "23", "54"})
"""SQLSTATE classes that speak of the values given: data, integrity, a limit of the server exceeded."""


def translated(error: psycopg.Error) -> RecordNotStorable | StoreUnavailable:
    """The error as callers see it.

    What is not about the values is taken as an outage, a missing table or grant too: those are mended by an
    operator, and the same records can be stored after that.
    """
    sentence = str(error).strip().partition("\n")[0] or type(error).__name__
    about_content = isinstance(error, psycopg.DataError) or (error.sqlstate or "")[:2] in CONTENT_CLASSES
    return RecordNotStorable(sentence) if about_content else StoreUnavailable(sentence)


@contextmanager
def pooled(pool: ConnectionPool[psycopg.Connection[Any]]) -> Iterator[psycopg.Connection[Any]]:
    """A connection of the API's pool, whose errors are ours. Raises StoreUnavailable and RecordNotStorable."""
    try:
        with pool.connection() as connection:
            yield connection
    except psycopg.Error as error:
        raise translated(error) from error


class HeldConnection:
    """The one connection of a process, opened when needed and again after it broke.

    :param application: what Postgres shows of it
    :param readable: a query that shows whether the database can be reached, and the grants are there
    """

    def __init__(self, dsn: str, application: str, readable: LiteralString) -> None:
        self._dsn, self._application, self._readable = dsn, application, readable
        self._connection: psycopg.Connection[Any] | None = None

    def check(self) -> None:
        """Return if the database can be reached now, on a connection of its own: for other threads."""
        with psycopg.connect(self._dsn, connect_timeout=2) as connection:
            connection.execute(self._readable)

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
                    application_name=self._application,
                    options="-c statement_timeout=60s",
                )
            with self._connection.transaction(), self._connection.cursor() as cursor:
                yield cursor
        except psycopg.Error as error:
            self.close()
            raise translated(error) from error
