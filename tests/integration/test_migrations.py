"""Migrations on a database that holds something, and by a login that is no superuser."""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from alert_api.adapters.postgres_alerts import PostgresAlerts, open_pool
from alert_api.adapters.postgres_intake import PostgresIntake
from tests.integration.alert_api.support.voided import store
from tests.registry_log import issue_voids, publish_everything
from tests.servers import PostgresServer
from tests.unit.alert_api.support.samples import alert, alert_id, command_id, received, void, voiding
from tripline_demo import logins, migrations
from tripline_demo.embedded import postgres as embedded

pytestmark = pytest.mark.integration

BEFORE_THE_OWNER = "0010_issued_by_the_registry"
BEFORE_ISSUED_VOIDS = "0013_dead_letter_retention"
STORE = """
WITH stored AS (
    INSERT INTO alerts.alerts
        (alert_id, rule_id, rule_version, group_values, event_time, detected_at, transaction_id, content)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s) RETURNING alert_id
)
INSERT INTO alerts.alert_events (alert_id, version, type, occurred_at) SELECT alert_id, 1, 'AlertRaised', 1 FROM stored
"""


def store_one_alert(owner: str) -> None:
    """As the database was before migration 0011, when a service's login stored it."""
    with psycopg.connect(owner) as connection:
        connection.execute(STORE, stored_row(alert(1)))


def stored_row(content: dict[str, Any]) -> list[Any]:
    """The values of STORE."""
    made = received(content)
    return [
        made.alert_id, made.rule_id, made.rule_version, Jsonb(made.group), made.event_time, made.detected_at,
        made.transaction_id, made.content,
    ]  # fmt: skip


def test_what_is_there_keeps_its_meaning(postgres: PostgresServer) -> None:
    """An alert of before the owner role is found, and marked by a void command that comes afterwards."""
    with postgres.database() as owner:
        migrations.upgrade(owner, BEFORE_THE_OWNER)
        publish_everything(owner, 10, 2)
        issue_voids(owner, {107: command_id(7)})
        store_one_alert(owner)
        migrations.upgrade(owner)
        with PostgresIntake(postgres.login(owner, "tripline_alert_projector")) as intake:
            assert intake.store([received(alert(1)), received(alert(2))], []) == 1
            store(intake, [], [void(1, 7)])
        alerts = PostgresAlerts(open_pool(postgres.login(owner, "tripline_alert_api"), 2))
        assert alerts.get(alert_id(1)).voided == (voiding(1, 7),)
        alerts.close()


def test_voids_of_before_stay(postgres: PostgresServer) -> None:
    """Also one that the registry does not know; what comes now must be its own. An alert whose limit alone rests on it
    is marked by then."""
    listed = {"contributors": {"transactions": [{"transactionId": "t1", "eventTime": 1, "value": "5"}]}}
    resting = {**alert(2), "contributors": None, "conditions": [{"limitMeasure": listed}]}
    insert = "INSERT INTO alerts.voided_transactions VALUES (gen_random_uuid(), 1, 1, 'ada', 't1', 1)"
    with postgres.database() as owner:
        migrations.upgrade(owner, BEFORE_ISSUED_VOIDS)
        with psycopg.connect(owner) as connection:
            connection.execute(insert)
            connection.execute(STORE, [*stored_row(alert(2))[:-1], json.dumps(resting)])
        migrations.upgrade(owner)
        with psycopg.connect(owner) as connection:
            assert connection.execute("SELECT count(*) FROM alerts.voided_transactions").fetchone() == (1,)
            marks = (
                "SELECT alert_id::text, voided FROM alerts.alerts JOIN alerts.alert_events USING (alert_id)"
            )
            marked = connection.execute(f"{marks} WHERE type = 'AlertVoided'").fetchall()
            assert marked == [(alert_id(2), True)]
            with pytest.raises(psycopg.errors.InsufficientPrivilege, match="was never issued"):
                connection.execute(insert)


def test_they_run_twice(postgres: PostgresServer) -> None:
    with postgres.database(migrated=True) as owner:
        migrations.upgrade(owner)


def test_they_need_no_superuser(servers_folder: Path) -> None:
    """As in a hosted Postgres: what belongs to others stays as it is, without an error."""
    password = secrets.token_urlsafe(18)
    with embedded.running(servers_folder / "postgres-hosted") as cluster:
        with psycopg.connect(cluster.dsn(), autocommit=True) as connection:
            connection.execute(f"CREATE ROLE hosted LOGIN CREATEROLE CREATEDB PASSWORD '{password}'")
            connection.execute("CREATE DATABASE tripline OWNER hosted")
        hosted = cluster.dsn("tripline", "hosted", password)
        migrations.upgrade(hosted)
        logins.ensure_logins(hosted, {"tripline_alert_api": "x"})
        api = logins.with_user(hosted, "tripline_alert_api_login", "x")
        with psycopg.connect(api) as connection:
            assert connection.execute("SELECT count(*) FROM alerts.alerts").fetchone() == (0,)
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute("CREATE TEMPORARY TABLE mine (a int)")
