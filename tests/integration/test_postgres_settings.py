"""Who may log in to the embedded PostgreSQL: said where its own user cannot write; no planted link is followed."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from tests.integration.registry.support.relay_process import until
from tests.servers import PostgresServer
from tripline_demo import closed_files
from tripline_demo.embedded import postgres as embedded
from tripline_demo.embedded.guarded_folders import own_folder
from tripline_demo.errors import PostgresFailed
from tripline_demo.processes import leash, ports

pytestmark = pytest.mark.integration

SECRET = "of somebody else\n"
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: else the server runs as ourselves")
TRY_TO_CHANGE = """
import os, pathlib, sys
path = pathlib.Path(sys.argv[1])
for attempt in (
    lambda: path.open("a"),
    lambda: path.chmod(0o666),
    lambda: path.unlink(),
    lambda: path.rename(path.with_name("away")),
    lambda: path.with_name("planted.new").symlink_to("/etc/passwd"),
    lambda: path.parent.rename(path.parent.with_name("away")),
):
    try:
        attempt()
    except PermissionError:
        continue
    sys.exit(f"{path} could be changed")
path.read_text()
"""


@pytest.fixture
def victim(servers_folder: Path) -> Path:
    path = servers_folder / f"victim-{os.urandom(4).hex()}"
    path.write_text(SECRET)
    return path


@pytest.fixture
def cluster(servers_folder: Path) -> embedded.Cluster:
    """One whose data are there already, as far as `prepare` looks."""
    made = embedded.Cluster(servers_folder / f"settings-{os.urandom(4).hex()}", 1, "x")
    made.data.mkdir(parents=True)
    (made.data / "PG_VERSION").write_text("18\n")
    return made


@pytest.mark.parametrize("where", ["data", "settings"])
@pytest.mark.parametrize("name", ["pg_hba.conf", "pg_hba.conf.new", "postgresql.conf", "pg_ident.conf"])
def test_a_planted_link_is_not_followed(
    cluster: embedded.Cluster, victim: Path, where: str, name: str
) -> None:
    planted = cluster.home / where / name
    planted.parent.mkdir(exist_ok=True)
    planted.symlink_to(victim)
    cluster.prepare()
    assert victim.read_text() == SECRET
    in_force = cluster.settings_folder / "pg_hba.conf"
    assert not in_force.is_symlink()
    assert "scram-sha-256" in in_force.read_text()


@pytest.mark.parametrize("name", ["", "settings"])
def test_a_link_in_the_place_of_a_folder_is_refused(
    cluster: embedded.Cluster, servers_folder: Path, name: str
) -> None:
    elsewhere = servers_folder / f"elsewhere-{os.urandom(4).hex()}"
    elsewhere.mkdir()
    folder = cluster.home / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.symlink_to(elsewhere)
    with pytest.raises(PostgresFailed, match="is no folder of the user"):
        cluster.prepare()
    assert list(elsewhere.iterdir()) == []


def test_the_password_of_the_beginning_goes_into_a_new_file(tmp_path: Path, victim: Path) -> None:
    (tmp_path / "password").symlink_to(victim)
    closed_files.write(tmp_path / "password", "new")
    assert (victim.read_text(), (tmp_path / "password").read_text()) == (SECRET, "new")


def test_a_folder_that_others_may_write_to_is_closed(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    own_folder(tmp_path)
    assert tmp_path.stat().st_mode & 0o022 == 0


def test_what_is_in_the_data_folder_does_not_count(postgres: PostgresServer) -> None:
    (postgres.cluster.data / "pg_hba.conf").write_text("host all all 127.0.0.1/32 trust\n")
    with psycopg.connect(postgres.cluster.dsn()) as connection:
        connection.execute("SELECT pg_reload_conf()")
        for option in ("config_file", "hba_file", "ident_file"):
            (shown,) = connection.execute(f"SHOW {option}").fetchone() or ("",)
            assert Path(shown).parent == postgres.cluster.settings_folder
        methods = connection.execute("SELECT auth_method FROM pg_hba_file_rules").fetchall()
    assert methods == [("scram-sha-256",)]
    assert not embedded.is_ready(postgres.cluster.dsn(password="wrong"))


def test_who_logs_in_is_in_the_log(postgres: PostgresServer) -> None:
    name = f"asks-{os.urandom(4).hex()}"
    with psycopg.connect(postgres.cluster.dsn(), application_name=name) as connection:
        for setting, value in (("log_connections", "authorization"), ("log_disconnections", "on")):
            assert connection.execute(f"SHOW {setting}").fetchone() == (value,)
    log = postgres.cluster.home / "postgres.log"
    authorized = f"connection authorized: user={embedded.ADMIN} database=postgres application_name={name}"
    until(lambda: authorized in log.read_text(errors="replace"), "the login is in the log")


@as_root
@pytest.mark.parametrize("option", ["config_file", "hba_file", "ident_file"])
def test_the_servers_user_cannot_change_what_is_in_force(postgres: PostgresServer, option: str) -> None:
    with psycopg.connect(postgres.cluster.dsn()) as connection:
        (in_force,) = connection.execute(f"SHOW {option}").fetchone() or ("",)
    user = pwd.getpwnam(postgres.cluster.user() or "")
    tried = subprocess.run(
        [sys.executable, "-c", TRY_TO_CHANGE, in_force], user=user.pw_uid, group=user.pw_gid, extra_groups=[],
        cwd="/", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert tried.returncode == 0, tried.stderr


@as_root
def test_a_data_folder_of_before_goes_on_as_it_was(servers_folder: Path) -> None:
    """Its owner stays `nobody`, and it has no folder of settings."""
    home = servers_folder / f"before-{os.urandom(4).hex()}"
    with embedded.running(home) as first:
        pass
    shutil.rmtree(first.settings_folder)
    nobody = pwd.getpwnam("nobody")
    for path in (first.data, *first.data.rglob("*")):
        os.chown(path, nobody.pw_uid, nobody.pw_gid, follow_symlinks=False)
    again = embedded.Cluster(home, ports.free_ports(1)[0], first.password)
    again.prepare()
    assert again.user() == "nobody"
    server = leash.start(again.command(), log=home / "log", stop_signal=signal.SIGINT, user=again.user())
    try:
        assert ports.wait_until_open(again.port, 120)
        until(lambda: embedded.is_ready(again.dsn()), "it lets its superuser in")
    finally:
        server.stop()
