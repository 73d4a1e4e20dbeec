"""Alerts partitioned by month, on a real Postgres: no alert is without a place, none is there twice, lists keep their
order; and a database of before becomes one."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import psycopg
import pytest

from alert_api.adapters.postgres_alerts import PostgresAlerts, open_pool
from alert_api.adapters.postgres_intake import PostgresIntake
from alert_api.adapters.retention.postgres_partitions import PostgresPartitions
from alert_api.domain.events import AlertAcknowledged
from alert_api.errors import RecordNotStorable, StoreUnavailable
from alert_api.service.alert_queries import AlertFilter
from alert_api.service.verifications import KeptVerification
from tests.integration.alert_api.conftest import AlertsDatabase
from tests.integration.alert_api.support.servers import rows
from tests.integration.test_migrations import STORE, stored_row
from tests.registry_log import publish_everything
from tests.servers import PostgresServer
from tests.unit.alert_api.support.samples import alert, alert_id, received
from tripline_demo import migrations

pytestmark = pytest.mark.integration

BEFORE_PARTITIONS = "0030_snoozes"
JUST_PARTITIONED = "0031_alert_partitions"
PARTITIONS = "SELECT name, begins, ends FROM alerts.alert_partitions ORDER BY begins NULLS FIRST"
DAY_MS = 86_400_000
FAR = datetime(2999, 12, 31, tzinfo=UTC)


def ms(moment: datetime) -> int:
    return int(moment.timestamp()) * 1000


def month_of(moment: datetime, later: int = 0) -> datetime:
    """The first moment of that month, or of so many later."""
    months = moment.year * 12 + moment.month - 1 + later
    return datetime(months // 12, months % 12 + 1, 1, tzinfo=UTC)


def partition_name(moment: datetime) -> str:
    return f"alerts_{moment:%Y_%m}"


@pytest.fixture
def partitions(postgres: PostgresServer, alerts_database: AlertsDatabase) -> PostgresPartitions:
    return PostgresPartitions(postgres.login(alerts_database.owner, "tripline_alert_retention"))


@pytest.fixture
def unmade(alerts_database: AlertsDatabase) -> AlertsDatabase:
    """As the migration left it: months are not made yet."""
    with psycopg.connect(alerts_database.owner) as connection:
        for (name,) in connection.execute("SELECT name FROM alerts.alert_partitions").fetchall():
            connection.execute(f"DROP TABLE alerts.{name}".encode())
        edge = ms(month_of(datetime.now(UTC)))
        for name, ends in (("alerts_before", (None, edge)), ("alerts_after", (edge, None))):
            connection.execute("SELECT alerts.add_alert_partition(%s, %s, %s)", (name, *ends))
    return alerts_database


def test_months_are_made_ahead_and_once(unmade: AlertsDatabase, partitions: PostgresPartitions) -> None:
    now = datetime.now(UTC)
    assert partitions.extend(35) in {2, 3}, "35 days are up to three months"
    assert partitions.extend(35) == 0
    made = rows(unmade.owner, PARTITIONS)
    months = [month_of(now, later) for later in range(len(made) - 1)]
    assert [name for name, _, _ in made] == [
        "alerts_before", *(partition_name(month) for month in months[:-1]), "alerts_after",
    ]  # fmt: skip
    edges = [ms(month) for month in months]
    assert [begins for _, begins, _ in made] == [None, *edges]
    assert [ends for _, _, ends in made] == [*edges, None]


def test_what_came_before_the_months_were_made_stays_what_it_is(
    unmade: AlertsDatabase, partitions: PostgresPartitions, alerts: PostgresAlerts, intake: PostgresIntake
) -> None:
    """Of this month, of long ago and of a wrong clock; a month that is made later takes the last of them in."""
    now = datetime.now(UTC)
    times = [ms(now), ms(month_of(now, -50)), ms(FAR), ms(month_of(now, 1)) + DAY_MS, 0]
    stored = [received(alert(number, eventTime=time)) for number, time in enumerate(times)]
    assert intake.store(stored, []) == len(times)
    partitions.extend(70)
    page = alerts.page(AlertFilter(), None, 10)
    assert [one.event_time for one in page.alerts] == sorted(times, reverse=True)
    query = "SELECT tableoid::regclass::text, alert_id::text FROM alerts.alerts"
    held = {identity: table for table, identity in rows(unmade.owner, query)}
    assert [held[alert_id(number)] for number in range(5)] == [
        f"alerts.{name}"
        for name in (
            partition_name(now), "alerts_before", "alerts_after", partition_name(month_of(now, 1)), "alerts_before",
        )
    ]  # fmt: skip
    assert intake.store(stored, []) == 0


def test_months_that_nobody_made_in_time_are_one_partition(
    unmade: AlertsDatabase, partitions: PostgresPartitions, intake: PostgresIntake
) -> None:
    """Retention begins when there are alerts already: what the last partition holds is not taken apart."""
    now = datetime.now(UTC)
    begin = month_of(now, -3)
    with psycopg.connect(unmade.owner) as connection:
        connection.execute("DROP TABLE alerts.alerts_before, alerts.alerts_after")
        for name, ends in (("alerts_before", (None, ms(begin))), ("alerts_after", (ms(begin), None))):
            connection.execute("SELECT alerts.add_alert_partition(%s, %s, %s)", (name, *ends))
    intake.store([received(alert(1, eventTime=ms(begin))), received(alert(2, eventTime=ms(now)))], [])
    partitions.extend(0)
    names = [name for name, _, _ in rows(unmade.owner, PARTITIONS)]
    assert names == ["alerts_before", f"{partition_name(begin)}_to_{now:%Y_%m}", "alerts_after"]


def test_an_id_is_stored_once_whatever_its_time(
    unmade: AlertsDatabase, partitions: PostgresPartitions, intake: PostgresIntake
) -> None:
    partitions.extend(35)
    now = ms(datetime.now(UTC))
    assert intake.store([received(alert(1, eventTime=now))], []) == 1
    for other in (now, now + 1, now - 400 * DAY_MS):
        assert intake.store([received(alert(1, eventTime=other))], []) == 0
    assert rows(unmade.owner, "SELECT event_time FROM alerts.alerts") == [(now,)]


def test_who_waits_too_long_for_the_others_tries_again(
    unmade: AlertsDatabase, partitions: PostgresPartitions
) -> None:
    with psycopg.connect(unmade.owner) as connection:
        connection.execute("SELECT FROM alerts.alerts")
        with pytest.raises(StoreUnavailable, match="lock timeout"):
            partitions.extend(35)
    assert partitions.extend(35) > 0


def test_nothing_is_about_an_alert_that_is_not_there(alerts: PostgresAlerts) -> None:
    nobody = alert_id(404)
    kept = KeptVerification("match", (), "engine", None, 5, "ada")
    with pytest.raises(RecordNotStorable, match="there is no alert"):
        alerts.append(AlertAcknowledged(nobody, 5, "ada", None), 2)
    with pytest.raises(RecordNotStorable, match="there is no alert"):
        alerts.keep_verification(nobody, kept)


def test_lists_read_the_newest_partition_first_and_no_other(
    unmade: AlertsDatabase, partitions: PostgresPartitions, intake: PostgresIntake
) -> None:
    """A DEFAULT partition would have Postgres look into all of them for the newest alert."""
    partitions.extend(35)
    now = ms(datetime.now(UTC))
    intake.store([received(alert(number, eventTime=now + number)) for number in range(20)], [])
    query = (
        "EXPLAIN (ANALYZE, FORMAT JSON) SELECT * FROM alerts.alerts WHERE rule_version = 1"
        " AND event_time <= %s ORDER BY event_time DESC, alert_id LIMIT 5"
    )
    with psycopg.connect(unmade.owner) as connection:
        for way in ("seqscan", "bitmapscan", "sort"):  # of so few rows they would be cheaper
            connection.execute(f"SET enable_{way} = off".encode())
        [(plan,)] = connection.execute(query.encode(), (now + 100,)).fetchall()
    limited = plan[0]["Plan"]["Plans"][0]
    assert limited["Node Type"] == "Append", plan
    assert [part["Actual Loops"] for part in limited["Plans"]] == [1] + [0] * (len(limited["Plans"]) - 1)


@pytest.fixture(scope="module")
def moved(postgres: PostgresServer) -> Iterator[AlertsDatabase]:
    """A database of before, with alerts of long ago, of this month and of a wrong clock, with work; migrated."""
    now = datetime.now(UTC)
    with postgres.database() as owner:
        migrations.upgrade(owner, BEFORE_PARTITIONS)
        publish_everything(owner, 10, 2)
        with psycopg.connect(owner) as connection:
            for number, time in enumerate((ms(month_of(now, -30)), ms(now), ms(FAR))):
                connection.execute(STORE, stored_row(alert(number, eventTime=time)))
            connection.execute(
                "INSERT INTO alerts.alert_events (alert_id, version, type, occurred_at, actor)"
                " VALUES (%s, 2, 'AlertAcknowledged', 7, 'ada')",
                (alert_id(0),),
            )
        before = described(owner)
        migrations.upgrade(owner, JUST_PARTITIONED)
        assert described(owner) == before, "columns, checks, indexes, triggers and grants are those of before"
        migrations.upgrade(owner)
        login = {group: postgres.login(owner, f"tripline_alert_{group}") for group in ("projector", "api")}
        yield AlertsDatabase(owner, login["projector"], login["api"])


def described(owner: str) -> dict[str, Any]:
    """The table as the catalogue has it, but for its key."""
    queries = {
        "columns": "SELECT attname, atttypid::regtype::text, attnotnull, attacl::text FROM pg_attribute"
        " WHERE attrelid = 'alerts.alerts'::regclass AND attnum > 0 AND attname <> 'alert_id' ORDER BY attnum",
        "checks": "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint"
        " WHERE conrelid = 'alerts.alerts'::regclass AND contype = 'c' ORDER BY 1",
        "indexes": "SELECT relname, replace(pg_get_indexdef(oid), ' ON ONLY ', ' ON ') FROM pg_class JOIN pg_index"
        " ON indexrelid = oid WHERE indrelid = 'alerts.alerts'::regclass AND NOT indisunique ORDER BY 1",
        "triggers": "SELECT pg_get_triggerdef(oid) FROM pg_trigger"
        " WHERE tgrelid = 'alerts.alerts'::regclass AND NOT tgisinternal ORDER BY 1",
        "grants": "SELECT relacl::text FROM pg_class WHERE oid = 'alerts.alerts'::regclass",
    }
    return {name: sorted(map(str, rows(owner, query))) for name, query in queries.items()}


def test_a_database_of_before_keeps_its_alerts(moved: AlertsDatabase) -> None:
    pool = open_pool(moved.api, 2)
    alerts = PostgresAlerts(pool)
    for wanted in (AlertFilter(), AlertFilter(min_amount=Decimal(1))):
        page = alerts.page(wanted, None, 10)
        assert [one.alert_id for one in page.alerts] == [alert_id(2), alert_id(1), alert_id(0)]
    assert alerts.get(alert_id(0)).acknowledged_by == "ada"
    assert alerts.append(AlertAcknowledged(alert_id(1), 5, "bob", None), 2)
    assert not alerts.append(AlertAcknowledged(alert_id(1), 6, "eve", None), 2)
    assert alerts.get(alert_id(1)).acknowledged_by == "bob"
    counted = "SELECT sum(acknowledged) FROM alerts.alert_count_changes"
    assert rows(moved.owner, counted) == [(2,)], "one of before, one of now"
    with PostgresIntake(moved.projector) as intake:
        stored = [received(alert(number, eventTime=5)) for number in range(4)]
        assert intake.store(stored, []) == 1
    pool.close()


def test_what_was_there_is_not_copied(moved: AlertsDatabase) -> None:
    now = datetime.now(UTC)
    assert rows(moved.owner, PARTITIONS) == [
        ("alerts_before", None, ms(month_of(now, 1))),
        ("alerts_after", ms(month_of(now, 1)), None),
    ]
    assert rows(moved.owner, "SELECT count(*) FROM alerts.alerts_after") == [(1,)], "the wrong clock's"
    behind = "SELECT count(*) FROM pg_index WHERE indrelid = 'alerts.alerts_before'::regclass"
    of_all = "SELECT count(*) + 1 FROM pg_index WHERE indrelid = 'alerts.alerts'::regclass"
    assert rows(moved.owner, behind) == rows(moved.owner, of_all), (
        "its indexes are those of before, and its key"
    )


@pytest.mark.parametrize("group", ["projector", "api"])
def test_partitions_are_nobody_elses(moved: AlertsDatabase, group: str) -> None:
    for name in ("alerts_before", "alerts_after"):
        with (
            psycopg.connect(getattr(moved, group)) as connection,
            pytest.raises(psycopg.errors.InsufficientPrivilege),
        ):
            connection.execute(f"SELECT alert_id FROM alerts.{name}".encode())
