"""Migrated databases, the DSNs of the two roles, and the stores over them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import psycopg
import pytest

from alert_api.adapters.postgres_alerts import PostgresAlerts, open_pool
from alert_api.adapters.postgres_intake import PostgresIntake
from tests.registry_log import COMMANDS, issue_voids, publish_everything
from tests.servers import PostgresServer
from tests.unit.alert_api.support.samples import command_id


@dataclass(frozen=True, slots=True)
class AlertsDatabase:
    """One database, seen with the rights of three."""

    owner: str
    projector: str
    api: str


@pytest.fixture(scope="module")
def module_database(postgres: PostgresServer) -> Iterator[AlertsDatabase]:
    """One for all tests of a module: migrations take seconds."""
    with postgres.database(migrated=True) as owner:
        publish_everything(owner)
        issue_voids(owner, {100 + name: command_id(name) for name in range(COMMANDS)})
        yield AlertsDatabase(
            owner,
            postgres.login(owner, "tripline_alert_projector"),
            postgres.login(owner, "tripline_alert_api"),
        )


@pytest.fixture
def alerts_database(module_database: AlertsDatabase) -> AlertsDatabase:
    """The module's, emptied."""
    with psycopg.connect(module_database.owner) as connection:
        connection.execute(
            "TRUNCATE alerts.alerts, alerts.alert_events, alerts.unreadable_records, alerts.voided_transactions,"
            " alerts.case_events, alerts.cases, alerts.episodes, alerts.case_episodes, alerts.case_openings,"
            " alerts.past_alerts, alerts.alert_counts, alerts.alert_count_changes, alerts.alert_verifications,"
            " alerts.snooze_requests, alerts.snooze_steps, alerts.snoozed_alerts, alerts.snooze_counts,"
            " alerts.saved_views"
        )
        connection.execute("UPDATE alerts.case_cursor SET position = 0, policy = NULL")
    return module_database


@pytest.fixture
def alerts(alerts_database: AlertsDatabase) -> Iterator[PostgresAlerts]:
    adapter = PostgresAlerts(open_pool(alerts_database.api, 4))
    yield adapter
    adapter.close()


@pytest.fixture
def intake(alerts_database: AlertsDatabase) -> Iterator[PostgresIntake]:
    with PostgresIntake(alerts_database.projector) as opened:
        yield opened
