"""Alembic's environment: one history for all schemas, forward only, each revision in a transaction of its own.

The database is named by TRIPLINE_MIGRATIONS_DSN, anything that libpq takes; beyond this machine its certificate has to
be verified, as the services' (tripline_http.database_address). Two upgrades at once wait for each other.
"""

from __future__ import annotations

import os
import sys

import psycopg
from alembic import context
from environs import Env, EnvError
from sqlalchemy import create_engine, pool, text

from tripline_http.database_address import ALLOW_UNVERIFIED, checked_dsn
from tripline_http.errors import ConfigurationError

# Arbitrary, and used for nothing else: "tripline migrations" is one session at a time.
LOCK = 7_411_001


def connect() -> psycopg.Connection[tuple[object, ...]]:
    """A connection as the DSN says; ends the process with a sentence where it says nothing."""
    dsn = os.environ.get("TRIPLINE_MIGRATIONS_DSN", "")
    if not dsn:
        sys.exit("Set TRIPLINE_MIGRATIONS_DSN to the database to migrate, as a user who may create schemas.")
    try:
        checked_dsn("TRIPLINE_MIGRATIONS_DSN", dsn, allow_unverified=Env().bool(ALLOW_UNVERIFIED, False))
    except (ConfigurationError, EnvError) as refused:
        sys.exit(str(refused))
    return psycopg.connect(dsn, connect_timeout=10)


def run() -> None:
    """Brings the database to the wanted revision."""
    if context.is_offline_mode():
        sys.exit("Migrations run against a database; there is no offline mode.")
    engine = create_engine("postgresql+psycopg://", creator=connect, poolclass=pool.NullPool)
    with engine.connect() as connection:
        connection.execute(text("SELECT pg_advisory_lock(:lock)"), {"lock": LOCK})
        connection.commit()
        context.configure(connection=connection, transaction_per_migration=True)
        with context.begin_transaction():
            context.run_migrations()
        connection.commit()


run()
