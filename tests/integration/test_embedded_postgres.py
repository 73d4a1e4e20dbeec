"""The embedded PostgreSQL asks for passwords, keeps roles to their rights, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import psutil
import psycopg
import pytest
from psycopg import errors

from tests.servers import PostgresServer
from tripline_demo import logins
from tripline_demo.embedded import postgres as embedded
from tripline_demo.groups import login_of
from tripline_demo.processes import leash, ports

pytestmark = pytest.mark.integration

GROUP = "test_readers"


@pytest.fixture(scope="module")
def reader(postgres: PostgresServer, database: str) -> str:
    """The DSN of a login user whose group may read one table and do nothing else."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {GROUP} NOLOGIN")
        connection.execute("CREATE TABLE facts (n int); INSERT INTO facts VALUES (7)")
        connection.execute(f"GRANT SELECT ON facts TO {GROUP}")
    return postgres.login(database, GROUP)


def test_a_login_user_may_do_what_its_group_may(reader: str) -> None:
    with psycopg.connect(reader) as connection:
        assert connection.execute("SELECT n FROM facts").fetchall() == [(7,)]


@pytest.mark.parametrize(
    "statement",
    ["INSERT INTO facts VALUES (8)", "UPDATE facts SET n = 8", "DELETE FROM facts", "CREATE TABLE mine (n int)",
     "CREATE ROLE other", "CREATE DATABASE other"],
)  # fmt: skip
def test_and_nothing_else(reader: str, statement: str) -> None:
    with (
        psycopg.connect(reader, autocommit=True) as connection,
        pytest.raises(errors.InsufficientPrivilege),
    ):
        connection.execute(statement)


@pytest.mark.parametrize("user", [embedded.ADMIN, login_of(GROUP), "postgres", "root"])
def test_a_wrong_password_is_refused(reader: str, user: str) -> None:
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(logins.with_user(reader, user, "wrong"), connect_timeout=5)


def test_no_password_is_refused(reader: str) -> None:
    address = reader.partition("@")[2]
    with pytest.raises(psycopg.OperationalError, match="no password supplied"):
        psycopg.connect(f"postgresql://{embedded.ADMIN}@{address}", connect_timeout=5)


def test_a_new_password_replaces_the_old_one(postgres: PostgresServer, database: str, reader: str) -> None:
    renewed = postgres.login(database, GROUP)
    assert embedded.is_ready(renewed)
    assert not embedded.is_ready(reader)


def test_it_runs_unprivileged(postgres: PostgresServer) -> None:
    pid = int((postgres.cluster.data / "postmaster.pid").read_text().splitlines()[0])
    assert psutil.Process(pid).uids().effective != 0


def test_each_module_has_a_database_of_its_own(postgres: PostgresServer, database: str) -> None:
    with postgres.database() as other:
        assert other != database
        with psycopg.connect(other) as connection:
            assert connection.execute("SELECT to_regclass('facts')").fetchone() == (None,)
    assert not embedded.is_ready(other)


@pytest.fixture
def home(servers_folder: Path) -> Path:
    """Where the unprivileged user gets through; a folder in between is closed to it on purpose."""
    closed = servers_folder / "closed"
    closed.mkdir(exist_ok=True)
    closed.chmod(0o700)
    return closed / f"postgres-{os.urandom(4).hex()}"


def test_data_survives_a_restart_and_a_kill(home: Path) -> None:
    with embedded.running(home, settings=()) as first:
        logins.ensure_database(first.dsn(), "kept")
    cluster = embedded.Cluster(home, ports.free_ports(1)[0], first.password)
    cluster.prepare()
    server = leash.start(cluster.command(), log=home / "log", stop_signal=signal.SIGINT, user=cluster.user())
    try:
        assert ports.wait_until_open(cluster.port, 120)
        postmaster = int((cluster.data / "postmaster.pid").read_text().splitlines()[0])
        os.kill(postmaster, signal.SIGKILL)
        server.process.wait(30)
    finally:
        server.stop()
    _wait_until_gone(cluster)
    cluster = embedded.Cluster(home, ports.free_ports(1)[0], first.password)
    cluster.prepare()
    server = leash.start(cluster.command(), log=home / "log", stop_signal=signal.SIGINT, user=cluster.user())
    try:
        assert ports.wait_until_open(cluster.port, 120)
        _wait_until_ready(cluster.dsn("kept"))
    finally:
        server.stop()
    _wait_until_gone(cluster)


def _wait_until_ready(dsn: str) -> None:
    deadline = time.monotonic() + 120
    while not embedded.is_ready(dsn):
        assert time.monotonic() < deadline, "the database did not come back"
        time.sleep(0.05)


def _wait_until_gone(cluster: embedded.Cluster) -> None:
    deadline = time.monotonic() + 120
    while left := [p.pid for p in psutil.process_iter() if _works_in(p, cluster.data)]:
        assert time.monotonic() < deadline, f"left behind: {left}"
        time.sleep(0.05)


def _works_in(process: psutil.Process, folder: Path) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE and process.cwd() == str(folder)
    except (psutil.Error, OSError):
        return False
