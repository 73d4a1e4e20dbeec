"""The secrets of a deployment: random, kept, closed to others, and what libpq and the services can read."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from pathlib import Path

import psycopg
import pytest
from psycopg import conninfo

from tripline_demo import closed_files
from tripline_demo.deployment import login_users, passfiles, secret_files
from tripline_demo.embedded import postgres
from tripline_demo.errors import DemoError
from tripline_demo.groups import GROUPS, login_of
from tripline_http.keys.key_file import load_api_keys

OURS = secret_files.Owner(os.geteuid(), os.getegid())
USERS = [secret_files.ADMIN, *map(login_of, GROUPS)]


def test_each_user_has_a_password_of_its_own(tmp_path: Path) -> None:
    secret_files.make(tmp_path / "secrets", OURS)
    passwords = {passfiles.password_of(tmp_path / "secrets", user) for user in USERS}
    assert len(passwords) == len(USERS)
    assert min(map(len, passwords)) >= 32


def test_nobody_else_can_read_them(tmp_path: Path) -> None:
    folder = tmp_path / "secrets"
    secret_files.make(folder, OURS)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    assert {name: mode for name, mode in modes.items() if mode != 0o600} == dict.fromkeys(
        secret_files.FOR_THE_GROUP, 0o640
    )
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_what_is_there_stays_and_what_is_missing_is_made(tmp_path: Path) -> None:
    first = secret_files.make(tmp_path, OURS)
    gone = passfiles.name_of(login_of(GROUPS[0]))
    before = {path.name: path.read_text() for path in tmp_path.iterdir()}
    (tmp_path / gone).unlink()
    assert secret_files.make(tmp_path, OURS) == [gone]
    after = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert sorted(after) == first
    assert {name for name in after if after[name] != before[name]} == {gone}


def test_the_superusers_password_is_the_same_in_both_forms(tmp_path: Path) -> None:
    (tmp_path / passfiles.name_of(secret_files.ADMIN)).write_text(
        passfiles.line_of(secret_files.ADMIN, "chosen")
    )
    secret_files.make(tmp_path, OURS)
    assert (tmp_path / secret_files.ADMIN_PASSWORD).read_text() == "chosen"
    assert secret_files.ADMIN == postgres.ADMIN


def test_the_services_know_the_hashes_of_the_keys_and_not_the_keys(tmp_path: Path) -> None:
    secret_files.make(tmp_path, OURS)
    clear = json.loads((tmp_path / secret_files.CLEAR_KEYS).read_text())
    hashes = {
        entry["name"]: entry["sha256"] for entry in json.loads((tmp_path / secret_files.KEYS).read_text())
    }
    clear["guard"] = (tmp_path / secret_files.GUARD_KEY).read_text().strip()
    assert hashes == {name: hashlib.sha256(key.encode()).hexdigest() for name, key in clear.items()}
    assert load_api_keys(tmp_path / secret_files.KEYS)


def test_the_guard_may_look_and_ask_and_is_let_in_where_there_was_none(tmp_path: Path) -> None:
    ours = {"name": "ada", "sha256": hashlib.sha256(b"hers").hexdigest(), "role": "viewer"}
    closed_files.write(tmp_path / secret_files.KEYS, json.dumps([ours]))
    assert secret_files.GUARD_KEY in secret_files.make(tmp_path, OURS)
    ada, guard = load_api_keys(tmp_path / secret_files.KEYS)
    assert (ada.name, guard.name) == ("ada", "guard")
    assert guard.scopes == {"alerts:read", "rules:read", "rules:write"}
    key = (tmp_path / secret_files.GUARD_KEY).read_text().strip()
    assert guard.sha256 == hashlib.sha256(key.encode()).hexdigest()
    # who has lost the key is given another one in its place
    (tmp_path / secret_files.GUARD_KEY).unlink()
    assert secret_files.make(tmp_path, OURS) == [secret_files.GUARD_KEY]
    _, again = load_api_keys(tmp_path / secret_files.KEYS)
    assert (again.name, again.sha256 != guard.sha256) == ("guard", True)


def test_compose_is_told_whom_the_containers_run_as_once(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("OTHER=1")
    secret_files.name_owner(file, secret_files.Owner(1000, 100))
    secret_files.name_owner(file, secret_files.Owner(2, 2))
    assert file.read_text() == "OTHER=1\nTRIPLINE_USER=1000:100\nTRIPLINE_GROUP=100\n"


def test_an_older_installation_is_told_the_group_too(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("TRIPLINE_USER=5:6\n")
    secret_files.name_owner(file, secret_files.Owner(5, 6))
    assert file.read_text() == "TRIPLINE_USER=5:6\nTRIPLINE_GROUP=6\n"


def test_what_clients_trust_and_what_the_broker_shows_are_made_together(tmp_path: Path) -> None:
    secret_files.make(tmp_path, OURS)
    (tmp_path / secret_files.KAFKA_AUTHORITY).unlink()
    made = secret_files.make(tmp_path, OURS)
    assert made == [secret_files.KAFKA_AUTHORITY]
    shown = (tmp_path / secret_files.KAFKA_BROKER).read_text()
    assert (tmp_path / secret_files.KAFKA_AUTHORITY).read_text() in shown


def test_root_gives_them_to_somebody_without_rights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert str(secret_files.owner_here()) == "10001:10001"
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert secret_files.owner_here().uid == 1000


@pytest.mark.parametrize("content", ["", "*:*:*:somebody:secret\n", "*:*:*:tripline_admin:\n", "secret\n"])
def test_a_file_that_is_not_the_users_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / passfiles.name_of("tripline_admin")).write_text(content)
    with pytest.raises(DemoError, match=r"tripline_admin\.pgpass is not the password file"):
        passfiles.password_of(tmp_path, "tripline_admin")


def test_login_users_are_not_made_where_a_file_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    secret_files.make(tmp_path, OURS)
    (tmp_path / passfiles.name_of(login_of(GROUPS[-1]))).unlink()
    monkeypatch.setenv("TRIPLINE_MIGRATIONS_DSN", "postgresql://nobody@127.0.0.1:1/x")
    assert login_users.main([str(tmp_path)]) == 1
    assert "cannot be read: No such file" in capsys.readouterr().err
    monkeypatch.delenv("TRIPLINE_MIGRATIONS_DSN")
    assert login_users.main([str(tmp_path)]) == 2


def test_login_users_say_why_a_database_cannot_be_reached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    secret_files.make(tmp_path, OURS)
    monkeypatch.setenv("TRIPLINE_MIGRATIONS_DSN", "postgresql://nobody@127.0.0.1:1/x")
    assert login_users.main([str(tmp_path)]) == 1
    assert "could not be made" in capsys.readouterr().err


def test_a_dsn_that_names_a_passfile_is_one_that_libpq_knows() -> None:
    dsn = "postgresql://u@h:5432/d?passfile=/run/secrets/u.pgpass"
    assert conninfo.conninfo_to_dict(dsn)["passfile"] == "/run/secrets/u.pgpass"
    assert psycopg.pq.Conninfo.parse(dsn.encode())
