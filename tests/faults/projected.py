"""Alerts of an engine under test, carried into a real Postgres by the real projector."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.integration.alert_api.servers import projector
from tests.servers import PostgresServer


@contextmanager
def projected_alerts(postgres: PostgresServer, kafka: str, topic: str) -> Iterator[str]:
    """The owner's DSN of a database that the alert projector fills from that topic while the block runs."""
    with postgres.database(migrated=True) as owner:
        dsn = postgres.login(owner, "tripline_alert_projector")
        with projector(kafka, topic, dsn):
            yield owner
