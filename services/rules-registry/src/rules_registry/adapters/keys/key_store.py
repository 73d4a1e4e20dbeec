"""API keys on Postgres: within the transaction of the log, and a page of them for admins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from rules_registry.adapters.postgres import Connection, Pool, translated
from rules_registry.domain.keys.api_key import Key, Secret

_COLUMNS: Final = """
k.name, k.role, k.created_at, k.created_by, k.revoked_at, k.revoked_by,
s.prefix, s.sha256, s.created_at AS secret_created_at, s.not_after, s.last_used_at
"""
_KEY: Final = f"""
SELECT {_COLUMNS} FROM registry.api_keys k JOIN registry.api_key_secrets s USING (name)
 WHERE k.name = %(name)s ORDER BY s.secret_id
"""  # noqa: S608 - constants
_PAGE: Final = f"""
SELECT {_COLUMNS}
  FROM (SELECT * FROM registry.api_keys WHERE name > %(after)s ORDER BY name LIMIT %(limit)s) k
  JOIN registry.api_key_secrets s USING (name) ORDER BY k.name, s.secret_id
"""  # noqa: S608 - constants
_NAMES: Final = "SELECT name FROM registry.api_keys"
_LIVING: Final = "SELECT count(*) AS living FROM registry.api_keys WHERE revoked_at IS NULL"
_ADD: Final = """
INSERT INTO registry.api_keys (name, role, created_at, created_by)
VALUES (%(name)s, %(role)s, %(created_at)s, %(created_by)s)
"""
_ADD_HASH: Final = """
INSERT INTO registry.api_key_secrets (name, prefix, sha256, created_at, not_after)
VALUES (%(name)s, %(prefix)s, %(sha256)s, %(created_at)s, %(not_after)s) ON CONFLICT (sha256) DO NOTHING
"""
_END: Final = """
UPDATE registry.api_key_secrets SET not_after = %(not_after)s
 WHERE sha256 = %(sha256)s AND not_after IS DISTINCT FROM %(not_after)s
"""
_REVOKE: Final = """
UPDATE registry.api_keys SET revoked_at = %(revoked_at)s, revoked_by = %(revoked_by)s WHERE name = %(name)s
"""


class PostgresKeys:
    """Reads and writes of one statement each."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(self, name: str) -> Key | None:
        """The key as it stands, revoked or not."""
        return next(_keys(self._connection.execute(_KEY, {"name": name})), None)

    def names(self) -> Sequence[str]:
        """All names that were ever given out."""
        return [row["name"] for row in self._connection.execute(_NAMES)]

    def living(self) -> int:
        """How many are not revoked."""
        row = self._connection.execute(_LIVING).fetchone()
        assert row is not None  # an aggregate without GROUP BY is one row
        return int(row["living"])

    def add(self, key: Key) -> None:
        """Writes a new key and its secret."""
        values = {"role": key.role, "created_at": key.created_at, "created_by": key.created_by}
        self._connection.execute(_ADD, {"name": key.name, **values})
        self._keep_secrets(key)

    def keep(self, key: Key) -> None:
        """Writes what changed: ends, a new secret, that it was revoked."""
        self._keep_secrets(key)
        if key.revoked_at is not None:
            values = {"name": key.name, "revoked_at": key.revoked_at, "revoked_by": key.revoked_by}
            self._connection.execute(_REVOKE, values)

    def _keep_secrets(self, key: Key) -> None:
        for secret in key.secrets:
            values = {
                "name": key.name,
                "prefix": secret.prefix,
                "sha256": secret.sha256,
                "created_at": secret.created_at,
                "not_after": secret.not_after,
            }
            if self._connection.execute(_ADD_HASH, values).rowcount == 0:
                self._connection.execute(_END, values)


@dataclass(frozen=True, slots=True)
class KeyPage:
    """Keys by name, and the name after which the next page begins (`None`: this is the last one)."""

    keys: Sequence[Key]
    next_after: str | None


class KeyQueries:
    """Reads of one statement each."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def page(self, after: str, limit: int) -> KeyPage:
        """Keys after a name ("": from the first), revoked ones too."""
        with translated(), self._pool.connection() as connection:
            keys = list(_keys(connection.execute(_PAGE, {"after": after, "limit": limit + 1})))
        return KeyPage(keys[:limit], keys[limit - 1].name if len(keys) > limit else None)


def _keys(rows: Iterable[Mapping[str, Any]]) -> Iterator[Key]:
    for name, of_name in groupby(rows, lambda row: row["name"]):
        secrets = list(of_name)
        row = secrets[0]
        yield Key(
            name=name,
            role=row["role"],
            created_at=row["created_at"],
            created_by=row["created_by"],
            revoked_at=row["revoked_at"],
            revoked_by=row["revoked_by"],
            secrets=tuple(
                Secret(
                    one["prefix"],
                    one["sha256"],
                    one["secret_created_at"],
                    one["not_after"],
                    one["last_used_at"],
                )
                for one in secrets
            ),
        )
