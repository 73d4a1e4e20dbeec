"""Databases and login users of a Postgres server.

Migrations make group roles that nobody can log in as, with what each may do. A deployment makes a login user with a
password in each; this module is that part of a deployment.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import sql

from tripline_demo.groups import CONNECTIONS, login_of

NO_LIMIT = -1
"""Of connections, as Postgres writes it."""


def with_user(dsn: str, user: str, password: str) -> str:
    """The same server and database for another user. Passwords must need no URL quoting."""
    parts = urlsplit(dsn)
    return urlunsplit(parts._replace(netloc=f"{user}:{password}@{parts.hostname}:{parts.port}"))


def with_database(dsn: str, database: str) -> str:
    """The same server and user with another database."""
    return urlunsplit(urlsplit(dsn)._replace(path=f"/{database}"))


def ensure_database(admin_dsn: str, database: str) -> None:
    """Creates the database if it is not there."""
    with psycopg.connect(admin_dsn, autocommit=True) as connection:
        if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [database]).fetchone() is None:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(database)))


def drop_database(admin_dsn: str, database: str) -> None:
    """Drops the database, whoever is still connected to it."""
    with psycopg.connect(admin_dsn, autocommit=True) as connection:
        connection.execute(
            sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(database))
        )


def ensure_logins(admin_dsn: str, passwords: Mapping[str, str]) -> None:
    """For each group (key) a login user in it and in nothing else, with that password and its share of connections."""
    with psycopg.connect(admin_dsn, autocommit=True) as connection:
        for group, password in passwords.items():
            login = login_of(group)
            known = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [login]).fetchone()
            verb = sql.SQL("ALTER ROLE" if known else "CREATE ROLE")
            connection.execute(
                sql.SQL(
                    "{} {} WITH LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE CONNECTION LIMIT {} PASSWORD {}"
                ).format(
                    verb,
                    sql.Identifier(login),
                    sql.Literal(CONNECTIONS.get(group, NO_LIMIT)),
                    sql.Literal(password),
                )
            )
            connection.execute(sql.SQL("GRANT {} TO {}").format(sql.Identifier(group), sql.Identifier(login)))
