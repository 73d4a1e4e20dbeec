"""The sessions of the console in Postgres, by the hashes of their ids."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg_pool import ConnectionPool

from alert_api.adapters.postgres_errors import pooled
from alert_api.service.sessions import SealedSession

FORGET_ENDED = "DELETE FROM alerts.console_sessions WHERE expires_at <= %s"
ADD = """
INSERT INTO alerts.console_sessions (sha256, actor, sealed, created_at, expires_at) VALUES (%s, %s, %s, %s, %s)
"""
FORGET_OLDEST = """
DELETE FROM alerts.console_sessions WHERE sha256 IN (
    SELECT sha256 FROM alerts.console_sessions WHERE actor = %s ORDER BY created_at DESC, sha256 OFFSET %s)
"""
FIND = """
SELECT sha256, actor, sealed, created_at, expires_at FROM alerts.console_sessions
 WHERE sha256 = %s AND expires_at > %s
"""
REMOVE = "DELETE FROM alerts.console_sessions WHERE sha256 = %s"


class PostgresSessions:
    """``SessionStore`` over the API's pool; raises StoreUnavailable."""

    def __init__(self, pool: ConnectionPool[psycopg.Connection[Any]]) -> None:
        self._pool = pool

    def add(self, session: SealedSession, most: int) -> None:
        """Stores it, and forgets those that had ended when it began, and the actor's oldest beyond ``most``."""
        row = [session.sha256, session.actor, session.sealed, session.created_at, session.expires_at]
        with pooled(self._pool) as connection:
            connection.execute(FORGET_ENDED, [session.created_at])
            connection.execute(ADD, row)
            connection.execute(FORGET_OLDEST, [session.actor, most])

    def find(self, sha256: str, now: int) -> SealedSession | None:
        """The one with this hash, unless it has ended."""
        with pooled(self._pool) as connection:
            row = connection.execute(FIND, [sha256, now]).fetchone()
        return None if row is None else SealedSession(*row)

    def remove(self, sha256: str) -> None:
        """Forgets it, if it is there."""
        with pooled(self._pool) as connection:
            connection.execute(REMOVE, [sha256])
