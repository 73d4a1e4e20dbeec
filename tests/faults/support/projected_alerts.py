"""Alerts of an engine under test, carried into a real Postgres by the real projector."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from bench.independent.expected import Expected
from tests.integration.alert_api.support.servers import projector
from tests.registry_log import publish_everything
from tests.servers import PostgresServer


@contextmanager
def projected_alerts(postgres: PostgresServer, kafka: str, topic: str) -> Iterator[str]:
    """The owner's DSN of a database that the alert projector fills from that topic while the block runs."""
    with postgres.database(migrated=True) as owner:
        # a rule changes all the while
        publish_everything(owner, rules=10, versions=5_000)
        dsn = postgres.login(owner, "tripline_alert_projector")
        with projector(kafka, topic, dsn):
            yield owner


def assert_stored(dsn: str, expected: dict[str, Expected]) -> None:
    """Every alert once, with its value and the number of its contributors."""
    query = (
        "SELECT content->>'alertId', content->>'value', content->'contributors'->>'count' FROM alerts.alerts"
    )
    with psycopg.connect(dsn) as connection:
        rows = connection.execute(query).fetchall()
    stored = {identity: Expected(value, int(count)) for identity, value, count in rows}
    double = len(rows) - len(stored)
    missing, more = expected.keys() - stored.keys(), stored.keys() - expected.keys()
    other = {
        identity for identity in expected.keys() & stored.keys() if expected[identity] != stored[identity]
    }
    counts = f"{len(missing)} missing, {len(more)} too many, {len(other)} with another value, {double} double"
    assert (len(missing), len(more), len(other), double) == (0, 0, 0, 0), counts
