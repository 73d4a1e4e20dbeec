"""What every service's login is kept from, whatever its own work: in the database, and in the server around it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import psycopg
import pytest
from psycopg import errors

from tests.servers import PostgresServer
from tripline_demo import logins
from tripline_demo.groups import CONNECTIONS, GROUPS

pytestmark = pytest.mark.integration

ROLES = (*GROUPS, "tripline_oncall")
"""Those of the services, and that of a person on call."""
OWNER = "tripline_owner"
NOBODY_MAY = [
    "CREATE TEMPORARY TABLE mine (a int)",
    "SELECT lo_create(0)",
    "SELECT lo_creat(-1)",
    "SELECT lo_from_bytea(0, 'x')",
    "SELECT lo_open(1, 131072)",
    "SELECT pg_advisory_lock(7411001)",
    "SELECT pg_advisory_xact_lock(7411002)",
    "SELECT pg_try_advisory_lock(7411003)",
    "SELECT pg_advisory_xact_lock_shared(7411004)",
    "SELECT pg_try_advisory_xact_lock(1, 2)",
    "LOCK TABLE alerts.void_lock IN ACCESS SHARE MODE",
    "LOCK TABLE alerts.void_lock IN EXCLUSIVE MODE",
    "CREATE TABLE public.mine (a int)",
    f"SET ROLE {OWNER}",
]
OF_ONE = {
    "LOCK TABLE registry.writer_lock IN EXCLUSIVE MODE": "tripline_registry_api",
    "SELECT registry.try_relay_lock()": "tripline_registry_relay",
}

LIMITED = "tripline_registry_status"


@pytest.fixture(scope="module")
def dsns(postgres: PostgresServer, migrated_database: str) -> dict[str, str]:
    """The database as a login of each role."""
    return {group: postgres.login(migrated_database, group) for group in ROLES}


@pytest.fixture(scope="module")
def sessions(dsns: dict[str, str]) -> Iterator[dict[str, psycopg.Connection[tuple[object, ...]]]]:
    with ExitStack() as stack:
        yield {
            group: stack.enter_context(psycopg.connect(dsn, autocommit=True)) for group, dsn in dsns.items()
        }


@pytest.mark.parametrize("group", ROLES)
@pytest.mark.parametrize("statement", NOBODY_MAY)
def test_no_login_may(
    sessions: dict[str, psycopg.Connection[tuple[object, ...]]], group: str, statement: str
) -> None:
    session = sessions[group]
    with pytest.raises(errors.InsufficientPrivilege), session.transaction():
        session.execute(statement)


@pytest.mark.parametrize("group", ROLES)
@pytest.mark.parametrize("statement", OF_ONE)
def test_a_lock_is_for_the_one_that_needs_it(
    sessions: dict[str, psycopg.Connection[tuple[object, ...]]], group: str, statement: str
) -> None:
    session = sessions[group]
    if group == OF_ONE[statement]:
        with session.transaction():
            session.execute(statement)
        return
    with pytest.raises(errors.InsufficientPrivilege), session.transaction():
        session.execute(statement)


@pytest.mark.parametrize("group", ROLES)
@pytest.mark.parametrize("database", ["postgres", "template1"])
def test_no_login_reaches_another_database(dsns: dict[str, str], group: str, database: str) -> None:
    with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
        psycopg.connect(logins.with_database(dsns[group], database), connect_timeout=5)


def test_a_login_of_something_else_does_not_reach_this_one(
    postgres: PostgresServer, migrated_database: str
) -> None:
    with psycopg.connect(migrated_database, autocommit=True) as connection:
        connection.execute("CREATE ROLE test_strangers NOLOGIN")
    with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
        psycopg.connect(postgres.login(migrated_database, "test_strangers"), connect_timeout=5)


def test_a_login_has_a_share_of_the_connections(dsns: dict[str, str]) -> None:
    def hold_one_more_than_allowed(stack: ExitStack) -> None:
        for _ in range(CONNECTIONS[LIMITED] + 1):
            stack.enter_context(psycopg.connect(dsns[LIMITED], connect_timeout=5))

    with ExitStack() as stack, pytest.raises(psycopg.OperationalError, match="too many connections for role"):
        hold_one_more_than_allowed(stack)


def test_the_shares_together_leave_room_for_an_operator(migrated_database: str) -> None:
    assert set(CONNECTIONS) == set(GROUPS)
    with psycopg.connect(migrated_database) as connection:
        (most, reserved) = connection.execute(
            "SELECT current_setting('max_connections')::int, current_setting('superuser_reserved_connections')::int"
        ).fetchone() or (0, 0)
    assert sum(CONNECTIONS.values()) <= most - reserved


OBJECTS = """
SELECT 'schema ' || nspname, nspowner::regrole::text FROM pg_namespace WHERE nspname IN ('registry', 'alerts')
 UNION ALL
SELECT c.oid::regclass::text, c.relowner::regrole::text FROM pg_class c
 WHERE c.relnamespace IN ('registry'::regnamespace, 'alerts'::regnamespace)
 UNION ALL
SELECT p.oid::regprocedure::text, p.proowner::regrole::text FROM pg_proc p
 WHERE p.pronamespace IN ('registry'::regnamespace, 'alerts'::regnamespace)
"""


def test_everything_belongs_to_a_role_that_nobody_logs_in_as(migrated_database: str) -> None:
    with psycopg.connect(migrated_database) as connection:
        owners: dict[str, str] = dict(connection.execute(OBJECTS).fetchall())
        rights = connection.execute(
            "SELECT rolcanlogin, rolsuper, rolcreaterole, rolcreatedb, rolbypassrls FROM pg_roles WHERE rolname = %s",
            [OWNER],
        ).fetchone()
        members = connection.execute(
            "SELECT member::regrole FROM pg_auth_members WHERE roleid = %s::regrole", [OWNER]
        ).fetchall()
    assert {"registry.rule_events", "alerts.mark_stored_alerts()", "schema alerts"} <= set(owners)
    assert {name: owner for name, owner in owners.items() if owner != OWNER} == {}
    assert rights == (False, False, False, False, False)
    assert members == []
