"""TLS to Postgres by the DSN: a real server that takes nothing else, and every kind of session that processes open."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import httpx
import psycopg
import pytest

from alert_api.adapters.notifications.postgres_notices import PostgresNotices
from alert_api.adapters.postgres_alerts import PostgresAlerts
from alert_api.adapters.postgres_alerts import open_pool as open_alerts
from alert_api.adapters.postgres_intake import PostgresIntake
from alert_api.adapters.rejected.postgres_redrive import PostgresRedrive
from alert_api.adapters.retention.postgres_dead_letters import PostgresDeadLetters
from alert_api.errors import StoreUnavailable as AlertsUnavailable
from rules_registry.adapters.outbox import open_outbox
from rules_registry.adapters.postgres import check_database, open_pool
from rules_registry.adapters.status_store import open_status_store
from rules_registry.errors import StoreUnavailable
from tests import tls_postgres
from tests.tls_postgres import TlsPostgres
from tripline_demo import logins, migrations
from tripline_demo.errors import PostgresFailed
from tripline_demo.groups import GROUPS, login_of
from tripline_demo.processes import leash, ports

pytestmark = pytest.mark.integration

IS_ENCRYPTED = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
DATABASE = "tripline"


@pytest.fixture(scope="module")
def server(servers_folder: Path) -> Iterator[TlsPostgres]:
    folder = tls_postgres.binaries()
    if folder is None:
        pytest.skip("no PostgreSQL with TLS on this machine: install one, of version 15 or newer")
    with tls_postgres.running(folder, servers_folder / "postgres-tls") as running:
        yield running


@pytest.fixture(scope="module")
def passwords(server: TlsPostgres) -> dict[str, str]:
    """Of the services' logins, in a database that was migrated over TLS."""
    logins.ensure_database(server.verified(), DATABASE)
    migrations.upgrade(server.verified(DATABASE))
    made = {group: f"password-of-{group}" for group in GROUPS}
    logins.ensure_logins(server.verified(DATABASE), made)
    return made


def of_login(dsn: str, group: str, passwords: dict[str, str]) -> str:
    return logins.with_user(dsn, login_of(group), passwords[group])


def test_a_verified_server_is_spoken_to_in_cipher(server: TlsPostgres) -> None:
    with psycopg.connect(server.verified()) as connection:
        assert connection.execute(IS_ENCRYPTED).fetchone() == (True,)


def test_another_authority_is_refused(server: TlsPostgres) -> None:
    for mode in ("verify-ca", "verify-full"):
        with pytest.raises(psycopg.OperationalError, match="certificate verify failed"):
            psycopg.connect(server.dsn(sslmode=mode, sslrootcert=str(server.other_authority)))


def test_another_name_is_refused_where_names_are_looked_at(server: TlsPostgres) -> None:
    given = {"name": "other.tripline.test", "sslrootcert": str(server.authority)}
    with pytest.raises(psycopg.OperationalError, match="does not match host name"):
        psycopg.connect(server.dsn(sslmode="verify-full", **given))
    psycopg.connect(server.dsn(sslmode="verify-ca", **given)).close()


def test_the_server_refuses_clear_text(server: TlsPostgres) -> None:
    with pytest.raises(psycopg.OperationalError, match="no encryption"):
        psycopg.connect(server.dsn(sslmode="disable"))


@contextmanager
def registry_pool(dsn: str) -> Iterator[None]:
    pool = open_pool(dsn, size=1)
    try:
        check_database(pool)
        yield
    finally:
        pool.close()


@contextmanager
def relay(dsn: str) -> Iterator[None]:
    with open_outbox(dsn) as outbox:
        assert outbox.try_lock()
        yield


@contextmanager
def status(dsn: str) -> Iterator[None]:
    with open_status_store(dsn) as store:
        store.put([])
        yield


@contextmanager
def projector(dsn: str) -> Iterator[None]:
    with PostgresIntake(dsn) as intake:
        intake.store([], [])
        intake.check()
        yield


@contextmanager
def alert_pool(dsn: str) -> Iterator[None]:
    alerts = PostgresAlerts(open_alerts(dsn, 1))
    try:
        alerts.check()
        yield
    finally:
        alerts.close()


@contextmanager
def retention(dsn: str) -> Iterator[None]:
    PostgresDeadLetters(dsn).kept()
    yield


@contextmanager
def redrive(dsn: str) -> Iterator[None]:
    with closing(PostgresRedrive(dsn)) as store:
        store.queued(1)
        yield


@contextmanager
def notifier(dsn: str) -> Iterator[None]:
    with closing(PostgresNotices(dsn)) as store, store.next_batch(1):
        yield


SESSIONS: dict[str, Callable[[str], AbstractContextManager[None]]] = {
    "tripline_registry_api": registry_pool,
    "tripline_registry_relay": relay,
    "tripline_registry_status": status,
    "tripline_alert_projector": projector,
    "tripline_alert_api": alert_pool,
    "tripline_alert_retention": retention,
    "tripline_alert_redrive": redrive,
    "tripline_alert_notifier": notifier,
}


@pytest.mark.parametrize("group", GROUPS)
def test_every_process_takes_it_from_its_dsn(
    server: TlsPostgres, passwords: dict[str, str], group: str
) -> None:
    """The server takes nothing but TLS: what comes through is encrypted."""
    with SESSIONS[group](of_login(server.verified(DATABASE), group, passwords)):
        pass
    wrong = server.dsn(database=DATABASE, sslmode="verify-full", sslrootcert=str(server.other_authority))
    with (
        pytest.raises((StoreUnavailable, AlertsUnavailable)),
        SESSIONS[group](of_login(wrong, group, passwords)),
    ):
        pass


@pytest.mark.parametrize("how", ["by the DSN", "by libpq's variables"])
def test_a_process_runs_over_it(
    server: TlsPostgres, passwords: dict[str, str], tmp_path: Path, how: str
) -> None:
    dsn, settings = server.verified(DATABASE), {}
    if how == "by libpq's variables":
        dsn = server.dsn(database=DATABASE)
        settings = {"PGSSLMODE": "verify-full", "PGSSLROOTCERT": str(server.authority)}
    (port,) = ports.free_ports(1)
    environment = {
        **os.environ,
        **settings,
        "TRIPLINE_ALERTS_DSN": of_login(dsn, "tripline_alert_retention", passwords),
        "TRIPLINE_METRICS_BIND": f"{ports.LOOPBACK}:{port}",
    }
    command = [str(Path(sys.executable).with_name("alert-api")), "retention"]
    process = leash.start(command, log=tmp_path / "log", environment=environment)
    try:
        assert ports.wait_until_open(port, 120), process.last_lines()
        assert httpx.get(f"http://{ports.LOOPBACK}:{port}/readyz", verify=False).status_code == 200
    finally:
        process.stop()


def test_migrations_ask_for_the_same(server: TlsPostgres) -> None:
    with pytest.raises(PostgresFailed, match=r"TRIPLINE_MIGRATIONS_DSN names 192\.0\.2\.1"):
        migrations.upgrade(server.dsn().replace("127.0.0.1", "192.0.2.1"))
