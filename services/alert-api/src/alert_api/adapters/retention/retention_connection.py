"""The connections of the retention process: one for each call, as there are a few a minute."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

from alert_api.adapters.postgres_errors import translated


@contextmanager
def retention_connection(
    dsn: str, *, autocommit: bool = False, statement_seconds: int = 60
) -> Iterator[psycopg.Connection[Any]]:
    """A connection whose errors are ours. Raises StoreUnavailable and RecordNotStorable."""
    try:
        with psycopg.connect(
            dsn,
            autocommit=autocommit,
            connect_timeout=5,
            tcp_user_timeout=20_000,
            application_name="tripline-retention",
            options=f"-c statement_timeout={statement_seconds}s",
        ) as connection:
            yield connection
    except psycopg.Error as error:
        raise translated(error) from error
