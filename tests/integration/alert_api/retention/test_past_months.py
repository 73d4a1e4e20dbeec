"""Months of alerts that go, on a real Postgres with the rights of retention's role: archived, emptied, not missed."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from operator import eq
from pathlib import Path

import psycopg
import pytest

from alert_api.adapters.cases.case_rebuild import rebuild
from alert_api.adapters.cases.postgres_case_desk import PostgresCaseDesk
from alert_api.adapters.postgres_alerts import PostgresAlerts, open_pool
from alert_api.adapters.postgres_intake import PostgresIntake
from alert_api.adapters.retention import postgres_past_partitions
from alert_api.adapters.retention.alert_files import AlertFiles
from alert_api.adapters.retention.postgres_past_partitions import PostgresPastPartitions
from alert_api.domain.cases.work import Resolve
from alert_api.domain.events import AlertAcknowledged
from alert_api.errors import AlertNotFound, StoreUnavailable
from alert_api.service.alert_queries import AlertFilter
from alert_api.service.cases.case_work import Origin
from alert_api.service.past_months import AlertPolicy, Hindrance, PastMonths
from alert_api.service.verifications import KeptVerification
from tests.integration.alert_api.conftest import AlertsDatabase
from tests.integration.alert_api.support.servers import rows
from tests.servers import PostgresServer
from tests.unit.alert_api.support.samples import alert, alert_id, received

pytestmark = pytest.mark.integration

NOW = int(datetime.now(UTC).timestamp()) * 1000
DAY_MS = 86_400_000
OLD = NOW - 400 * DAY_MS
ALERTS = 7
POLICY = AlertPolicy(90, unarchived=False)
CASES = "SELECT c::text FROM alerts.cases c ORDER BY case_id"
COUNTED = "SELECT coalesce(sum(open_count + acknowledged_count), 0)::bigint FROM alerts.alert_counts"


# As if retention had run since then: a month each, and the present one.
MONTHS = f"""
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM alerts.alert_partitions HAVING count(*) > 12) THEN
        DROP TABLE alerts.alerts_before, alerts.alerts_after;
        PERFORM alerts.add_alert_partition('alerts_before', NULL, edge),
                alerts.add_alert_partition('alerts_after', edge, NULL)
           FROM alerts.month_after({OLD - 31 * DAY_MS}) AS edge;
        PERFORM alerts.extend_alert_months(0);
    END IF;
END
$$
"""


class Tally:
    """The metrics."""

    def __init__(self) -> None:
        self.gone = 0
        self.left: dict[Hindrance, int] = {}

    def dropped(self, alerts: int) -> None:
        self.gone += alerts

    def kept(self, months: Mapping[Hindrance, int]) -> None:
        self.left = {reason: number for reason, number in months.items() if number}


@pytest.fixture
def past(
    postgres: PostgresServer, alerts_database: AlertsDatabase, monkeypatch: pytest.MonkeyPatch
) -> PostgresPastPartitions:
    with psycopg.connect(alerts_database.owner) as connection:
        connection.execute(MONTHS.encode())
    monkeypatch.setattr(postgres_past_partitions, "BATCH", 3)
    return PostgresPastPartitions(postgres.login(alerts_database.owner, "tripline_alert_retention"))


@pytest.fixture
def worked(
    alerts_database: AlertsDatabase,
    past: PostgresPastPartitions,
    intake: PostgresIntake,
    alerts: PostgresAlerts,
) -> AlertsDatabase:
    """Alerts of long ago, and one of now; work on them, all of their cases but the newest resolved."""
    old = [received(alert(number, eventTime=OLD + number)) for number in range(ALERTS)]
    intake.store(old, [])
    resolve_all(alerts_database)
    intake.store([received(alert(100, eventTime=NOW, group={"payeeId": "new"}))], [])
    alerts.append(AlertAcknowledged(alert_id(1), 5, "ada", "se\nen"), 2)
    alerts.keep_verification(alert_id(2), KeptVerification("match", (), "engine", None, 5, "ada"))
    with psycopg.connect(alerts_database.owner) as connection:
        connection.execute("SELECT alerts.settle_counts()")
    return alerts_database


def resolve_all(database: AlertsDatabase) -> None:
    pool = open_pool(database.api, 1)
    for case_id, version in rows(
        database.owner, "SELECT case_id, version FROM alerts.cases WHERE state <> 'resolved'"
    ):
        resolve = Resolve(actor="ada", now=9, comment=None, outcome="false_positive")
        PostgresCaseDesk(pool).work(case_id, resolve, partial(eq, version), Origin())
    pool.close()


def dropped(past: PostgresPastPartitions, archive: Path | None, policy: AlertPolicy = POLICY) -> Tally:
    """What a round does."""
    tally = Tally()
    files = None if archive is None else AlertFiles(archive)
    PastMonths(past, files, policy, tally, lambda: NOW).round()
    return tally


def test_a_month_is_archived_and_goes_and_nothing_else(
    worked: AlertsDatabase, past: PostgresPastPartitions, alerts: PostgresAlerts, tmp_path: Path
) -> None:
    cases = rows(worked.owner, CASES)
    contents = dict(rows(worked.owner, "SELECT alert_id::text, content::text FROM alerts.alerts"))
    tally = dropped(past, tmp_path)
    assert (tally.gone, tally.left) == (ALERTS, {})
    assert [one.alert_id for one in alerts.page(AlertFilter(), None, 10).alerts] == [alert_id(100)]
    assert rows(worked.owner, COUNTED) == [(1,)], "summaries have what lists have"
    with pytest.raises(AlertNotFound):
        alerts.get(alert_id(1))
    (file,) = tmp_path.iterdir()
    lines = [json.loads(line) for line in gzip.decompress(file.read_bytes()).splitlines()]
    archived = {line["alert"]["alert_id"]: line for line in lines}
    assert {identity: line["content"] for identity, line in archived.items()} == {
        alert_id(number): contents[alert_id(number)] for number in range(ALERTS)
    }
    assert [event["type"] for event in archived[alert_id(1)]["events"]] == [
        "AlertRaised",
        "AlertAcknowledged",
    ]
    assert archived[alert_id(1)]["alert"]["acknowledgement_comment"] == "se\nen"
    assert [one["outcome"] for one in archived[alert_id(2)]["verifications"]] == ["match"]
    assert rows(worked.owner, CASES) == cases
    before, after = rebuild(worked.projector, keep=False, progress=lambda _: None)
    assert before == after, "cases are still what the log adds up to"


def test_what_went_does_not_come_back(
    worked: AlertsDatabase, past: PostgresPastPartitions, intake: PostgresIntake, tmp_path: Path
) -> None:
    """A replay of the topic. A late alert of that time is stored, and goes to a file of its own."""
    dropped(past, tmp_path)
    again = [received(alert(number, eventTime=OLD + number)) for number in range(ALERTS)]
    assert intake.store(again, []) == 0
    assert intake.store([received(alert(50, eventTime=OLD))], []) == 1
    resolve_all(worked)
    assert dropped(past, tmp_path).gone == 1
    assert len(list(tmp_path.iterdir())) == 2


def test_a_month_with_an_unresolved_case_stays(
    worked: AlertsDatabase, past: PostgresPastPartitions, intake: PostgresIntake, tmp_path: Path
) -> None:
    intake.store([received(alert(60, eventTime=OLD, group={"payeeId": "late"}))], [])
    assert dropped(past, tmp_path).left == {"unresolved_cases": 1}
    assert dropped(past, None, AlertPolicy(90, unarchived=True)).left == {"unresolved_cases": 1}
    resolve_all(worked)
    assert dropped(past, tmp_path).gone == ALERTS + 1


def test_without_an_archive_nothing_goes_unless_told(
    worked: AlertsDatabase, past: PostgresPastPartitions
) -> None:
    assert dropped(past, None).left == {"no_archive": 1}
    assert dropped(past, None, AlertPolicy(500, unarchived=True)).gone == 0, "not old enough"
    assert dropped(past, None, AlertPolicy(90, unarchived=True)).gone == ALERTS
    assert rows(worked.owner, "SELECT count(*) FROM alerts.past_alerts") == [(ALERTS,)]


def test_what_changed_since_it_was_archived_stays(
    worked: AlertsDatabase, past: PostgresPastPartitions, alerts: PostgresAlerts
) -> None:
    (month,) = past.before(NOW - 90 * DAY_MS)
    mark = past.mark(month)
    past.keep_facts(month)
    alerts.append(AlertAcknowledged(alert_id(3), 5, "bob", None), 2)
    assert past.mark(month) != mark
    assert past.empty(month, mark) is None
    assert rows(worked.owner, "SELECT count(*) FROM alerts.alerts") == [(ALERTS + 1,)]


def test_facts_come_first(worked: AlertsDatabase, past: PostgresPastPartitions) -> None:
    (month,) = past.before(NOW - 90 * DAY_MS)
    assert past.empty(month, None) is None
    assert rows(worked.owner, "SELECT count(*) FROM alerts.alerts") == [(ALERTS + 1,)]


@pytest.mark.parametrize("name", ["alerts_after", "alerts", "alert_events", "x; DROP TABLE alerts.alerts"])
def test_what_is_not_over_is_not_touched(past: PostgresPastPartitions, name: str) -> None:
    for call in (past.mark, past.keep_facts, past.unresolved_cases, lambda name: past.empty(name, None)):
        with pytest.raises(StoreUnavailable, match="no partition that is over"):
            call(name)
