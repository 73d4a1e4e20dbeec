"""The keys in Postgres as a service reads them: by a view of its own schema, with its own login."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final, Literal, LiteralString

import psycopg
from psycopg_pool import PoolTimeout

from tripline_http.errors import KeysUnavailable
from tripline_http.keys.stored_keys import StoredKey

Schema = Literal["registry", "alerts"]
_LIVING: Final[dict[Schema, LiteralString]] = {
    "registry": "SELECT secret_id, name, role, sha256, not_after FROM registry.living_api_keys",
    "alerts": "SELECT secret_id, name, role, sha256, not_after FROM alerts.living_api_keys",
}
_NOTE: Final[dict[Schema, LiteralString]] = {
    "registry": "UPDATE registry.api_key_uses SET last_used_at = %(now)s"
    " WHERE secret_id = %(id)s AND coalesce(last_used_at, 0) <= %(now)s - 60000",
    "alerts": "UPDATE alerts.api_key_uses SET last_used_at = %(now)s"
    " WHERE secret_id = %(id)s AND coalesce(last_used_at, 0) <= %(now)s - 60000",
}


class PostgresKeyStore:
    """Reads and notes, a statement each."""

    def __init__(
        self, connection: Callable[[], AbstractContextManager[psycopg.Connection[Any]]], schema: Schema
    ) -> None:
        """`connection` lends one of a pool."""
        self._connection, self._schema = connection, schema

    def living(self) -> Sequence[StoredKey]:
        """Those that are not revoked. Raises KeysUnavailable."""
        try:
            with (
                self._connection() as connection,
                connection.cursor(row_factory=psycopg.rows.tuple_row) as cursor,
            ):
                return [StoredKey(*row) for row in cursor.execute(_LIVING[self._schema])]
        except (psycopg.OperationalError, PoolTimeout) as error:
            raise KeysUnavailable(f"the database does not answer: {type(error).__name__}") from error

    def note_use(self, secret_id: int, now_ms: int) -> None:
        """Writes when the key was used last, unless that was written within the last minute. Raises
        KeysUnavailable."""
        try:
            with self._connection() as connection:
                connection.execute(_NOTE[self._schema], {"id": secret_id, "now": now_ms})
        except (psycopg.OperationalError, PoolTimeout) as error:
            raise KeysUnavailable(f"the database does not answer: {type(error).__name__}") from error
