"""Cases in a migrated database, the notifier's login, and webhooks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest

from alert_api.adapters.cases.postgres_case_desk import PostgresCaseDesk
from alert_api.adapters.notifications.postgres_notices import PostgresNotices
from alert_api.adapters.postgres_alerts import open_pool
from alert_api.adapters.postgres_intake import PostgresIntake
from alert_api.domain.cases.policy import CasePolicy
from alert_api.domain.cases.work import Command
from alert_api.service.cases.case_work import Origin
from tests.integration.alert_api.conftest import AlertsDatabase
from tests.integration.alert_api.support.webhook_office import Office
from tests.servers import PostgresServer
from tests.unit.alert_api.support.samples import EPOCH, alert, received

HOUR = 3_600_000
POLICY = CasePolicy(None, ("payeeId",), 2 * HOUR)


class Stage:
    """A database in which alerts come and people work."""

    def __init__(self, database: AlertsDatabase, notifier: str) -> None:
        self.database, self.notifier = database, notifier

    def alerts(self, *happened: tuple[int, str, int, int]) -> None:
        """Each a number, a payee, a rule and an hour at which it happened and was detected."""
        made = [
            alert(
                number,
                group={"payeeId": payee},
                ruleId=rule,
                ruleName=f"Rule {rule}",
                eventTime=EPOCH + hour * HOUR,
                windowStart=EPOCH + hour * HOUR - HOUR // 2,
                windowEnd=EPOCH + hour * HOUR,
                detectedAt=EPOCH + hour * HOUR,
            )
            for number, payee, rule, hour in happened
        ]
        with PostgresIntake(self.database.projector, POLICY) as intake:
            intake.store([received(one) for one in made], [])

    def work(self, case_id: int, *commands: Command) -> None:
        with open_pool(self.database.api, 1) as pool:
            desk = PostgresCaseDesk(pool)
            for command in commands:
                desk.work(case_id, command, lambda _: True, Origin("r1"))

    def store(self) -> closing[PostgresNotices]:
        return closing(PostgresNotices(self.notifier))


@pytest.fixture
def stage(postgres: PostgresServer, alerts_database: AlertsDatabase) -> Stage:
    with psycopg.connect(alerts_database.owner) as connection:
        connection.execute("UPDATE alerts.notice_cursor SET position = 0")
        connection.execute("TRUNCATE alerts.webhooks, alerts.webhook_deliveries, alerts.webhook_steps")
        connection.execute("UPDATE alerts.webhook_lease SET until = '-infinity'")
        connection.execute("DELETE FROM registry.rule_purposes")
        connection.execute("ALTER SEQUENCE alerts.alert_events_position_seq RESTART")
    return Stage(alerts_database, postgres.login(alerts_database.owner, "tripline_alert_notifier"))


@pytest.fixture
def office(stage: Stage) -> Iterator[Office]:
    with closing(Office(stage)) as opened:
        yield opened
