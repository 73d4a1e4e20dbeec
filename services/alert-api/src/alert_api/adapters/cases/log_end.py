"""Commands of people: what they append follows on everything before it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg_pool import ConnectionPool

from alert_api.adapters.cases.case_fold import is_behind, lock_cursor
from alert_api.adapters.postgres_errors import translated
from alert_api.domain.cases.policy import CasePolicy
from alert_api.errors import StoreUnavailable


@dataclass(frozen=True, slots=True)
class LogEnd:
    """The end of the log, held until the transaction is over, and the policy that holds there."""

    cursor: psycopg.Cursor[Any]
    policy: CasePolicy | None

    def advance(self, position: int) -> None:
        """What was appended at this position has been folded."""
        self.cursor.execute("UPDATE alerts.case_cursor SET position = %s", (position,))


@contextmanager
def at_the_end_of_the_log(pool: ConnectionPool[psycopg.Connection[Any]]) -> Iterator[LogEnd]:
    """A transaction that nobody else appends beside. Raises StoreUnavailable, also where folding is behind."""
    try:
        with pool.connection() as connection, connection.transaction(), connection.cursor() as cursor:
            folded = lock_cursor(cursor)
            # What is decided here follows on everything before it, so that must have been folded.
            if is_behind(cursor, folded):
                raise StoreUnavailable("alerts that are stored already are still being folded into cases")
            yield LogEnd(cursor, folded.policy)
    except psycopg.Error as error:
        raise translated(error) from error
