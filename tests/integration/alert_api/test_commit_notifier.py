"""Whoever waits for alerts is told of them by Postgres, and again after the connection broke."""

from __future__ import annotations

import time
from collections.abc import Iterator

import psycopg
import pytest

from alert_api.adapters.postgres_alerts import PostgresAlerts, open_pool
from alert_api.adapters.postgres_commit_notifier import PostgresCommitNotifier
from alert_api.service.acknowledgement import acknowledge
from tests.integration.alert_api.conftest import AlertsDatabase
from tests.integration.alert_api.support.api_process import seed
from tests.integration.alert_api.support.servers import eventually
from tests.unit.alert_api.support.samples import EPOCH, alert, alert_id

pytestmark = pytest.mark.integration

LONG = 120.0
KILL = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'tripline-alert-stream'"
)


@pytest.fixture
def notifier(alerts_database: AlertsDatabase) -> Iterator[PostgresCommitNotifier]:
    """One that listens."""
    opened = PostgresCommitNotifier(alerts_database.api)
    eventually(lambda: opened.notifications() > 0, "the notifier listens")
    yield opened
    opened.close()


def heard_within(notifier: PostgresCommitNotifier, heard: int) -> float:
    """Seconds until there are more notifications than that."""
    begin = time.monotonic()
    notifier.wait(heard, LONG)
    assert notifier.notifications() > heard
    return time.monotonic() - begin


def test_it_rings_when_alerts_are_stored_and_when_one_is_acknowledged(
    alerts_database: AlertsDatabase, notifier: PostgresCommitNotifier
) -> None:
    heard = notifier.notifications()
    seed(alerts_database.projector, [alert(1), alert(2)])
    assert heard_within(notifier, heard) < LONG / 2
    heard = notifier.notifications()
    alerts = PostgresAlerts(open_pool(alerts_database.api, 1))
    acknowledge(alerts, alert_id(1), "ada", None, lambda: EPOCH)
    alerts.close()
    assert heard_within(notifier, heard) < LONG / 2


def test_it_does_not_ring_when_nothing_happens(notifier: PostgresCommitNotifier) -> None:
    heard, begin = notifier.notifications(), time.monotonic()
    notifier.wait(heard, 0.2)
    assert (notifier.notifications(), time.monotonic() - begin >= 0.2) == (heard, True)


def test_it_listens_again_after_its_connection_broke(
    alerts_database: AlertsDatabase, notifier: PostgresCommitNotifier
) -> None:
    heard = notifier.notifications()
    with psycopg.connect(alerts_database.owner) as owner:
        assert owner.execute(KILL).fetchall() == [(True,)]
    # it notifies once it listens: something may have been missed
    assert heard_within(notifier, heard) < LONG / 2
    heard = notifier.notifications()
    seed(alerts_database.projector, [alert(3)])
    assert heard_within(notifier, heard) < LONG / 2


def test_closing_lets_go_whoever_waits(alerts_database: AlertsDatabase) -> None:
    closed = PostgresCommitNotifier(alerts_database.api)
    eventually(lambda: closed.notifications() > 0, "the notifier listens")
    heard = closed.notifications()
    closed.close()
    assert heard_within(closed, heard) < LONG / 2
