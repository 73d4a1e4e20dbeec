"""Indexes of the alerts that are built when all alerts are there, for that takes a tenth of the time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

_WHOLE = """
SELECT c.oid::regclass::text, pg_get_indexdef(c.oid)
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE i.indrelid = 'alerts.alerts'::regclass
"""
_OF_ID = """
SELECT conrelid::regclass::text, conname FROM pg_constraint JOIN pg_inherits ON inhrelid = conrelid
 WHERE contype = 'p' AND inhparent = 'alerts.alerts'::regclass
"""


@contextmanager
def put_off(connection: psycopg.Connection[Any]) -> Iterator[None]:
    """No index and no trigger meanwhile; afterwards those of before."""
    whole = connection.execute(_WHOLE).fetchall()
    of_id = connection.execute(_OF_ID).fetchall()
    for name, _ in whole:
        connection.execute(f"DROP INDEX {name}".encode())
    for table, name in of_id:
        connection.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}".encode())
    connection.execute("ALTER TABLE alerts.alerts DISABLE TRIGGER USER")
    yield
    connection.execute("ALTER TABLE alerts.alerts ENABLE TRIGGER USER")
    for table, name in of_id:
        connection.execute(f"ALTER TABLE {table} ADD CONSTRAINT {name} PRIMARY KEY (alert_id)".encode())
    for _, definition in whole:
        connection.execute(definition.replace(" ON ONLY ", " ON ").encode())
    connection.execute("SELECT alerts.bound_pending_entries()")
