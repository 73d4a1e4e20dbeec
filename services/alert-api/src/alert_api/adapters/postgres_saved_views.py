"""``SavedViews`` over the API's pool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg.types.json import Jsonb
from psycopg_pool import ConnectionPool

from alert_api.adapters.postgres_errors import pooled
from alert_api.errors import TooManyViews, ViewNotFound
from alert_api.service.saved_views import MOST_VIEWS, SavedView

SELECT = 'SELECT name, filter, saved_at FROM alerts.saved_views WHERE actor = %s ORDER BY name COLLATE "C"'
# Two pages of one person save one after the other, as soon as there is a view: so the count is right where it matters.
# In one order, else they would wait for each other.
LOCK = 'SELECT FROM alerts.saved_views WHERE actor = %s ORDER BY name COLLATE "C" FOR UPDATE'
SAVE = """
INSERT INTO alerts.saved_views (actor, name, filter, saved_at)
SELECT %(actor)s, %(name)s, %(filter)s, %(saved_at)s
 WHERE (SELECT count(*) FROM alerts.saved_views WHERE actor = %(actor)s AND name <> %(name)s) < %(most)s
ON CONFLICT (actor, name) DO UPDATE SET filter = excluded.filter, saved_at = excluded.saved_at
"""
REMOVE = "DELETE FROM alerts.saved_views WHERE actor = %s AND name = %s"


class PostgresSavedViews:
    """Raises StoreUnavailable."""

    def __init__(self, pool: ConnectionPool[psycopg.Connection[Any]]) -> None:
        self._pool = pool

    def of(self, actor: str) -> Sequence[SavedView]:
        """All of one person, by name."""
        with pooled(self._pool) as connection:
            return [SavedView(*row) for row in connection.execute(SELECT, [actor])]

    def save(self, actor: str, view: SavedView) -> None:
        """Keeps it in place of the one of that name. Raises TooManyViews."""
        values = {
            "actor": actor,
            "name": view.name,
            "filter": Jsonb(view.filter),
            "saved_at": view.saved_at,
            "most": MOST_VIEWS,
        }
        with pooled(self._pool) as connection, connection.transaction():
            connection.execute(LOCK, [actor])
            if connection.execute(SAVE, values).rowcount == 0:
                raise TooManyViews(MOST_VIEWS)

    def remove(self, actor: str, name: str) -> None:
        """Forgets it. Raises ViewNotFound."""
        with pooled(self._pool) as connection:
            if connection.execute(REMOVE, [actor, name]).rowcount == 0:
                raise ViewNotFound(name)
