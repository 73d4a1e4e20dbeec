"""Rejected records in a migrated database, seen with the rights of two."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256

import psycopg
import pytest

from alert_api.adapters.postgres_alerts import open_pool
from alert_api.adapters.rejected.postgres_redrive import PostgresRedrive
from alert_api.adapters.rejected.postgres_rejected_records import PostgresRejectedRecords
from alert_api.domain.rejected_records import Decision, RecordPlace
from alert_api.service.rejected.reading import ReceivedReject
from tests.integration.alert_api.conftest import AlertsDatabase
from tests.servers import PostgresServer

NOW = 1_763_690_000_000
EVENTS = "transactions.v1"
BACKFILL = "9f0c3a52-9f43-4b6c-8e0e-6f5b0a1c2d3e"
DISCARD = Decision("discard", "ops", "a test of theirs", NOW)


@pytest.fixture
def database(alerts_database: AlertsDatabase) -> AlertsDatabase:
    with psycopg.connect(alerts_database.owner) as connection:
        connection.execute("TRUNCATE alerts.rejected_records CASCADE")
    return alerts_database


@pytest.fixture
def records(database: AlertsDatabase) -> Iterator[PostgresRejectedRecords]:
    with open_pool(database.api, 2) as pool:
        yield PostgresRejectedRecords(pool, EVENTS)


@pytest.fixture
def store(postgres: PostgresServer, database: AlertsDatabase) -> Iterator[PostgresRedrive]:
    with closing(PostgresRedrive(postgres.login(database.owner, "tripline_alert_redrive"))) as opened:
        yield opened


def reject(offset: int, cause: str = "unparseable", value: bytes = b"{") -> ReceivedReject:
    digest = sha256(value).hexdigest()
    record_place = RecordPlace(offset % 2, offset)
    return ReceivedReject(
        EVENTS, record_place, cause, "not JSON", len(value), digest, value, NOW + offset // 3
    )


def again(value: bytes = b'{"a": 1}', backfill: str | None = None) -> Decision:
    return Decision("sendAgain", "ops", "repaired", NOW, value, backfill)
