"""Findings about files, database, containers, supply chain (F5, F14, F15, F17, F22), as bb01e79's names have it."""

from __future__ import annotations

import configparser
import os
import re
import stat
import subprocess
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest
from psycopg import errors

from tests.containers import compose
from tests.servers import PostgresServer
from tripline_contracts import schemas
from tripline_demo import paths
from tripline_demo.stack import configuration
from tripline_demo.stack.places import Places


class TestF5:
    """tests/unit/demo/test_stack_rendering.py"""

    def test_data_is_for_its_owner_alone(self, tmp_path: Path) -> None:
        before = os.umask(0o022)
        try:
            places = Places(tmp_path / "var")
            places.make()
            modes = {path.name: oct(stat.S_IMODE(path.stat().st_mode)) for path in places.var.iterdir()}
        finally:
            os.umask(before)
        assert set(modes.values()) == {"0o700"}, modes

    def test_what_processes_make_is_for_their_owner_alone(self, tmp_path: Path) -> None:
        reader = configparser.RawConfigParser()
        reader.read_string(configuration.render(Places(tmp_path), []))
        assert reader["supervisord"].get("umask") == "077"


NOBODY_MAY = [
    "CREATE TEMPORARY TABLE mine (a int)", "SELECT lo_create(0)", "SELECT pg_advisory_xact_lock(7411002)",
    "SELECT pg_advisory_xact_lock_shared(7411004)",
]  # fmt: skip


class TestF14:
    """tests/integration/test_database_rights.py"""

    @pytest.fixture
    def dsn(self, postgres: PostgresServer, migrated_database: str) -> str:
        return postgres.login(migrated_database, "tripline_alert_api")

    @pytest.mark.parametrize("statement", NOBODY_MAY)
    def test_no_login_may(self, dsn: str, statement: str) -> None:
        with psycopg.connect(dsn) as session, pytest.raises(errors.InsufficientPrivilege):
            session.execute(statement.encode())

    @pytest.mark.parametrize("database", ["postgres", "template1"])
    def test_no_login_reaches_another_database(self, dsn: str, database: str) -> None:
        head, _, _ = dsn.rpartition("/")
        with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
            psycopg.connect(f"{head}/{database}", connect_timeout=5).close()

    def test_a_login_has_a_share_of_the_connections(self, dsn: str) -> None:
        def hold_many(stack: ExitStack) -> None:
            for _ in range(60):
                stack.enter_context(psycopg.connect(dsn, connect_timeout=5))

        refused = pytest.raises(psycopg.OperationalError, match="too many connections for role")
        with ExitStack() as stack, refused:
            hold_many(stack)

    def test_everything_belongs_to_a_role_that_nobody_logs_in_as(self, migrated_database: str) -> None:
        with psycopg.connect(migrated_database) as connection:
            owners = connection.execute(
                "SELECT DISTINCT proowner::regrole::text FROM pg_proc"
                " WHERE pronamespace IN ('registry'::regnamespace, 'alerts'::regnamespace)"
            ).fetchall()
        assert owners == [("tripline_owner",)]


class TestF15:
    def test_a_rules_name_has_a_greatest_length(self) -> None:
        """tests/contract/test_schemas.py"""
        assert "maxLength" in schemas.load("alerts.v1")["properties"]["ruleName"]

    def test_dead_letters_are_deleted_by_a_job(self) -> None:
        """tests/integration/alert_api/test_retention.py"""
        __import__("alert_api.service.retention")


SERVICES = compose.services()


@pytest.mark.parametrize("service", SERVICES.values(), ids=SERVICES)
def test_f17_confinement(service: compose.Service) -> None:
    """tests/contract/test_compose_access.py"""
    raw = service.raw
    assert (raw.get("read_only"), raw.get("cap_drop")) == (True, ["ALL"])
    assert 0 < raw.get("pids_limit", 0) <= 1024
    assert "mem_limit" in raw


def test_f17_what_a_tag_names_does_not_move() -> None:
    """tests/contract/test_compose.py"""
    images = [service.raw["image"] for service in compose.services().values()]
    (database,) = {image for image in images if image.startswith("postgres:")}
    assert re.fullmatch(r"postgres:\d+\.\d+-[a-z]+", database)


def test_f17_no_registry_is_asked_for_what_is_built_here() -> None:
    """tests/contract/test_compose.py"""
    built = [service.raw for service in compose.services().values() if "build" in service.raw]
    assert {raw.get("pull_policy") for raw in built} == {"build"}


def test_f22_known_vulnerabilities_are_looked_up() -> None:
    """tests/integration/test_supply_chain.py"""
    done = subprocess.run(
        ["make", "-n", "audit"], cwd=paths.project_root(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
