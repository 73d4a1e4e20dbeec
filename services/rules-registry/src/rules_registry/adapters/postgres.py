"""Connections to Postgres, and its errors in our words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.rows import DictRow, dict_row
from psycopg_pool import ConnectionPool, PoolTimeout

from rules_registry.adapters.statements import LAST_POSITION
from rules_registry.errors import ConcurrentChange, StoreUnavailable

Connection = psycopg.Connection[DictRow]
Pool = ConnectionPool[Connection]

# A statement that takes longer has met a fault; the caller is waiting. TCP keepalives notice a dead server.
_OPTIONS = "-c statement_timeout=10000 -c lock_timeout=8000 -c idle_in_transaction_session_timeout=15000"
_LIVENESS: dict[str, Any] = {
    "connect_timeout": 5,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}


def open_pool(dsn: str, *, size: int) -> Pool:
    """A pool of at most `size` connections; it opens in the background, so a server that is down is no reason to
    fail at start. Close it."""
    return ConnectionPool(
        dsn,
        connection_class=Connection,
        kwargs={"row_factory": dict_row, "options": _OPTIONS, **_LIVENESS},
        min_size=1,
        max_size=size,
        timeout=5,
        check=ConnectionPool.check_connection,
        open=True,
        name="registry",
    )


def connect(dsn: str, *, options: str = "") -> Connection:
    """One connection of its own, in autocommit. Raises `StoreUnavailable`."""
    with translated():
        return psycopg.connect(dsn, autocommit=True, row_factory=dict_row, options=options, **_LIVENESS)


@contextmanager
def translated() -> Iterator[None]:
    """Turns psycopg's errors into the registry's; those that mean a fault of ours pass as they are."""
    try:
        yield
    except psycopg.errors.UniqueViolation as error:
        raise ConcurrentChange(f"Another writer was first ({error.diag.constraint_name}).") from error
    except (psycopg.OperationalError, PoolTimeout) as error:
        raise StoreUnavailable(f"The database did not answer: {type(error).__name__}.") from error


def check_database(pool: Pool) -> None:
    """The readiness check: the log can be read. Raises `StoreUnavailable`."""
    with translated(), pool.connection(timeout=2) as connection:
        connection.execute(LAST_POSITION)
