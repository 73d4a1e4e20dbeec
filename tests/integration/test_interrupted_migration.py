"""Migrations that build indexes beside what goes on, cut at each step: run again they end as if nobody had cut them."""

from __future__ import annotations

import re
import secrets
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import psycopg
import pytest
from alembic import command
from alembic.config import Config

from tests.integration.alert_api.support.servers import SECONDS, eventually
from tests.servers import PostgresServer
from tripline_demo import logins, migrations

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

# What was before, and how many steps of a kind there are more than.
REVISIONS = {"0037_alert_orders": ("0036_due_cases", 10), "0044_amount_steps": ("0043_estimates", 1)}
ALERTS = """
INSERT INTO alerts.alerts (alert_id, rule_id, rule_version, group_values, event_time, detected_at, amount, content)
SELECT md5(n::text)::uuid, n % 3, 1, jsonb_build_object('payeeId', n::text), n * 86400000::bigint, n * 86400000::bigint,
       n, '{"windowStart": 1, "windowEnd": 2}' FROM generate_series(1, 50) n
"""
# Each command of the migration is written down, and ends its connection where it is the one that is to do so: before it
# has done anything. One that builds beside what goes on is stopped half-way by who holds a lock, not by this.
WATCH = """
CREATE TABLE public.steps (step bigint GENERATED ALWAYS AS IDENTITY, command text);
CREATE TABLE public.fatal (command text);
CREATE FUNCTION public.watch() RETURNS event_trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    IF current_query() IN (SELECT command FROM public.fatal) THEN
        PERFORM pg_terminate_backend(pg_backend_pid());
        PERFORM pg_sleep(10);
    END IF;
    -- To drop an index beside what goes on has to be the first thing that a transaction does.
    IF tg_tag <> 'DROP INDEX' THEN
        INSERT INTO public.steps (command) VALUES (current_query());
    END IF;
END
$$;
CREATE EVENT TRIGGER watch ON ddl_command_start EXECUTE FUNCTION public.watch();
"""
SCHEMA = """
SELECT c.relname, pg_get_indexdef(c.oid), i.indisvalid AND i.indisready AND i.indislive,
       (SELECT inhparent::regclass::text FROM pg_inherits WHERE inhrelid = c.oid), c.reloptions
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relnamespace = 'alerts'::regnamespace
 UNION ALL
SELECT proname, pg_get_functiondef(oid), true, NULL, NULL FROM pg_proc WHERE pronamespace = 'alerts'::regnamespace
 ORDER BY 1, 2
"""
INVALID = "SELECT count(*) FROM pg_index WHERE NOT indisvalid"
WAITING = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
 WHERE datname = current_database() AND wait_event_type = 'Lock' AND query ~ '^(CREATE|DROP) INDEX CONCURRENTLY'
"""


@contextmanager
def copy_of(postgres: PostgresServer, dsn: str) -> Iterator[str]:
    original, name = dsn.rpartition("/")[2], f"test_{secrets.token_hex(6)}"
    with psycopg.connect(postgres.admin_dsn, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {original}".encode())
    try:
        yield postgres.cluster.dsn(name)
    finally:
        logins.drop_database(postgres.admin_dsn, name)


def upgrade(dsn: str, revision: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process: to start another one takes longer than a step."""
    monkeypatch.setenv("TRIPLINE_MIGRATIONS_DSN", dsn)
    command.upgrade(Config(str(migrations.folder() / "alembic.ini")), revision)


class Interrupted:
    """The database whose migration is cut off, and somebody beside it."""

    def __init__(self, dsn: str, revision: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self._dsn, self._revision, self._monkeypatch = dsn, revision, monkeypatch
        self._beside = psycopg.connect(dsn, autocommit=True)

    def close(self) -> None:
        self._beside.close()

    def ask(self, query: str) -> list[Any]:
        return self._beside.execute(query.encode()).fetchall()

    def before(self, step: str) -> None:
        """The connection ends where the command begins."""
        self._beside.execute("TRUNCATE public.fatal")
        self._beside.execute("INSERT INTO public.fatal VALUES (%s)", (step,))
        with pytest.raises(Exception, match=r"terminating connection|closed|reconnect"):
            upgrade(self._dsn, self._revision, self._monkeypatch)
        self._beside.execute("TRUNCATE public.fatal")

    def amid(self, table: str) -> None:
        """It ends while a command that works beside others waits for one of these to end."""
        ended: list[BaseException] = []
        cut: list[Any] = []

        def run() -> None:
            try:
                upgrade(self._dsn, self._revision, self._monkeypatch)
            except Exception as error:  # noqa: BLE001 - whatever the cut became on its way
                ended.append(error)

        with psycopg.connect(self._dsn) as writer:
            writer.execute(f"LOCK TABLE {table} IN ROW EXCLUSIVE MODE".encode())
            thread = threading.Thread(target=run)
            thread.start()

            def is_over() -> bool:
                cut.extend(self.ask(WAITING))
                return bool(cut) or not thread.is_alive()

            eventually(is_over, f"an index of {table} waits for who writes")
            thread.join(SECONDS)
        assert cut, ended
        assert ended, "it ended as if nobody had cut it off"
        assert self.ask(INVALID) != [(0,)]


@pytest.mark.parametrize("revision", REVISIONS)
def test_cut_off_at_each_step_and_run_again_it_ends_as_if_nobody_had(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch, revision: str
) -> None:
    before, least = REVISIONS[revision]
    with postgres.database() as original:
        migrations.upgrade(original, before)
        with psycopg.connect(original) as connection:
            connection.execute("SET session_replication_role = replica")
            connection.execute(ALERTS)
            connection.execute(WATCH)
        with copy_of(postgres, original) as whole, copy_of(postgres, original) as cut:
            upgrade(whole, revision, monkeypatch)
            with psycopg.connect(whole) as connection:
                rows = connection.execute(
                    "SELECT min(step), command FROM public.steps GROUP BY command"
                ).fetchall()
                expected = connection.execute(SCHEMA).fetchall()
            with closing(Interrupted(cut, revision, monkeypatch)) as interrupted:
                cut_off_at_each(interrupted, [step for _, step in sorted(rows)], least)
                upgrade(cut, revision, monkeypatch)
                assert interrupted.ask(INVALID) == [(0,)]
                assert interrupted.ask(SCHEMA) == expected
                assert interrupted.ask("SELECT version_num FROM alembic_version") == [(revision,)]


def cut_off_at_each(interrupted: Interrupted, steps: list[str], least: int) -> None:
    amid = [step for step in steps if step.startswith("CREATE INDEX CONCURRENTLY")]
    assert len(amid) > least < len(steps) - len(amid), steps
    for step in steps:
        if step not in amid:
            interrupted.before(step)
            continue
        (table,) = re.findall(r" ON (alerts\.\w+)", step)
        interrupted.amid(table)
        if step == amid[0]:
            interrupted.amid(table)  # while it drops what is not whole
