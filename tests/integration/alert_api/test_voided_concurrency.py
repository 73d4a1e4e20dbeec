"""Alerts, void commands and acknowledgements in transactions that run at the same time."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from alert_api.adapters.postgres_alerts import PostgresAlerts
from alert_api.adapters.postgres_intake import PostgresIntake
from alert_api.domain.events import AlertRaised
from alert_api.service.acknowledgement import acknowledge
from tests.integration.alert_api.conftest import AlertsDatabase
from tests.integration.alert_api.support.servers import (
    eventually,
    rows,
)
from tests.integration.alert_api.support.voided import resting_on, store
from tests.unit.alert_api.support.samples import (
    EPOCH,
    alert,
    alert_id,
    received,
    void,
    voiding,
)

pytestmark = pytest.mark.integration


def test_alert_and_command_at_the_same_moment_see_each_other(
    alerts_database: AlertsDatabase, alerts: PostgresAlerts
) -> None:
    """Whichever of the two is first."""
    for number in range(1, 9):
        started = threading.Barrier(2)

        def one(made: Sequence[dict[str, Any]], voids: Sequence[dict[str, Any]], barrier: Any) -> None:
            with PostgresIntake(alerts_database.projector) as intake:
                intake.store([], [])  # connected
                barrier.wait(30)
                store(intake, made, voids)

        with ThreadPoolExecutor(2) as pool:
            work = [
                pool.submit(one, [resting_on(number)], [], started),
                pool.submit(one, [], [void(number, number)], started),
            ]
            for thread in work:
                thread.result(60)
        assert alerts.get(alert_id(number)).voided == (voiding(number, number),)


def test_a_command_waits_for_alerts_that_are_being_stored(
    alerts_database: AlertsDatabase, alerts: PostgresAlerts
) -> None:
    with psycopg.connect(alerts_database.projector) as storing, ThreadPoolExecutor(1) as pool:
        made = received(alert(1))
        storing.execute(
            """INSERT INTO alerts.alerts
                   (alert_id, rule_id, rule_version, group_values, event_time, detected_at, transaction_id, content)
               VALUES (%s, 1, 1, '{}', %s, 1, %s, %s)""",
            [made.alert_id, made.event_time, made.transaction_id, made.content],
        )
        storing.execute(
            "INSERT INTO alerts.alert_events (alert_id, version, type, occurred_at) VALUES (%s, 1, 'AlertRaised', 1)",
            [made.alert_id],
        )

        def void_it() -> None:
            with PostgresIntake(alerts_database.projector) as intake:
                store(intake, [], [void(1, 1)])

        waiting = pool.submit(void_it)
        query = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        eventually(lambda: rows(alerts_database.owner, query) == [(1,)], "the command waits")
        assert not waiting.done()
        storing.commit()
        waiting.result(60)
    assert alerts.get(alert_id(1)).voided == (voiding(1, 1),)


def test_acknowledgements_at_the_same_moment_leave_one_history(
    alerts_database: AlertsDatabase, alerts: PostgresAlerts, intake: PostgresIntake
) -> None:
    numbers = range(1, 9)
    store(intake, [resting_on(number, 0) for number in numbers], [])

    def void_all(name: int) -> None:
        with PostgresIntake(alerts_database.projector) as intake_of_thread:
            store(intake_of_thread, [], [void(0, name)])

    with ThreadPoolExecutor(6) as pool:
        work = [pool.submit(void_all, name) for name in (1, 2, 3)]
        work += [
            pool.submit(acknowledge, alerts, alert_id(number), "ada", None, lambda: EPOCH)
            for number in numbers
        ]
        for thread in work:
            thread.result(60)
    for number in numbers:
        kinds = [type(event) for event in alerts.events_of(alert_id(number))]
        assert sorted(kind.__name__ for kind in kinds) == [
            "AlertAcknowledged",
            "AlertRaised",
            *["AlertVoided"] * 3,
        ]
        assert kinds[0] is AlertRaised
    versions = rows(
        alerts_database.owner,
        "SELECT DISTINCT array_agg(version ORDER BY version) FROM alerts.alert_events GROUP BY alert_id",
    )
    assert versions == [([1, 2, 3, 4, 5],)]
