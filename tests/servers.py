"""What the fixtures `kafka` and `postgres` give to tests, and how a test gets a database or a topic of its own."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tripline_demo import logins, migrations
from tripline_demo.embedded.postgres import Cluster
from tripline_demo.groups import login_of


@dataclass(frozen=True, slots=True)
class PostgresServer:
    """A real PostgreSQL for this test process."""

    cluster: Cluster

    @property
    def admin_dsn(self) -> str:
        """Superuser, database `postgres`."""
        return self.cluster.dsn()

    @contextmanager
    def database(self, *, migrated: bool = False) -> Iterator[str]:
        """The superuser's DSN of a fresh database, dropped afterwards; `migrated`: with all migrations."""
        name = f"test_{secrets.token_hex(6)}"
        logins.ensure_database(self.admin_dsn, name)
        try:
            dsn = self.cluster.dsn(name)
            if migrated:
                migrations.upgrade(dsn)
            yield dsn
        finally:
            logins.drop_database(self.admin_dsn, name)

    def login(self, dsn: str, group: str) -> str:
        """The DSN of a login user in a group role that the migrations made, for the same database."""
        password = secrets.token_urlsafe(18)
        logins.ensure_logins(self.admin_dsn, {group: password})
        return logins.with_user(dsn, login_of(group), password)
