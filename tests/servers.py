"""What the fixtures `kafka` and `postgres` give to tests, and how a test gets a database or a topic of its own."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import psycopg
from psycopg import sql

from tripline_demo import logins, migrations
from tripline_demo.embedded.postgres import Cluster
from tripline_demo.groups import login_of

RIGHTS = """
SELECT CASE grantee WHEN 0 THEN NULL ELSE grantee::regrole::text END, privilege_type
  FROM pg_database, aclexplode(coalesce(datacl, acldefault('d', datdba)))
 WHERE datname = %s AND grantee <> datdba
"""
"""Who may what with a database; PUBLIC is nobody by name. A copy of a database is without them."""


@dataclass(frozen=True, slots=True)
class PostgresServer:
    """A real PostgreSQL for this test process. `migrated` has the name of its database that all migrations have seen,
    once there is one, and nobody else: others are copies of it, which takes a tenth of the time."""

    cluster: Cluster
    migrated: list[str] = field(default_factory=list)

    @property
    def admin_dsn(self) -> str:
        """Superuser, database `postgres`."""
        return self.cluster.dsn()

    @contextmanager
    def database(self, *, migrated: bool = False) -> Iterator[str]:
        """The superuser's DSN of a fresh database, dropped afterwards; `migrated`: with all migrations."""
        name = _new_name()
        if migrated:
            self._copy(self._template(), name)
        else:
            logins.ensure_database(self.admin_dsn, name)
        try:
            yield self.cluster.dsn(name)
        finally:
            logins.drop_database(self.admin_dsn, name)

    def login(self, dsn: str, group: str) -> str:
        """The DSN of a login user in a group role that the migrations made, for the same database."""
        password = secrets.token_urlsafe(18)
        logins.ensure_logins(self.admin_dsn, {group: password})
        return logins.with_user(dsn, login_of(group), password)

    def _template(self) -> str:
        if not self.migrated:
            name = _new_name()
            logins.ensure_database(self.admin_dsn, name)
            migrations.upgrade(self.cluster.dsn(name))
            self.migrated.append(name)
        return self.migrated[0]

    def _copy(self, template: str, name: str) -> None:
        copied, original = sql.Identifier(name), sql.Identifier(template)
        with psycopg.connect(self.admin_dsn, autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(copied, original))
            connection.execute(sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(copied))
            for group, right in connection.execute(RIGHTS, [template]).fetchall():
                grantee = sql.SQL("PUBLIC") if group is None else sql.Identifier(group)
                grant = sql.SQL("GRANT {} ON DATABASE {} TO {}")
                connection.execute(grant.format(sql.SQL(right), copied, grantee))


def _new_name() -> str:
    return f"test_{secrets.token_hex(6)}"
