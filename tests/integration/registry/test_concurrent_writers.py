"""Writers at the same time: one wins a version, positions are dense and in commit order."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import httpx
import psycopg
import pytest

from rules_registry.adapters import statements
from tests.integration.registry.support.rule_requests import publish
from tests.registry import DEFINITION, RegistryApi

pytestmark = pytest.mark.integration


def test_of_many_changes_on_one_version_one_wins(api: RegistryApi, client: httpx.Client) -> None:
    rule = publish(client)

    def change(seconds: int) -> int:
        with api.client() as http:
            body = {**DEFINITION, "windowSeconds": seconds}
            return http.put(f"/v1/rules/{rule['ruleId']}", headers={"If-Match": '"1"'}, json=body).status_code

    with ThreadPoolExecutor(12) as pool:
        statuses = list(pool.map(change, range(1, 25)))
    assert sorted(statuses) == [200] + [412] * 23
    assert client.get(f"/v1/rules/{rule['ruleId']}").json()["version"] == 2


def test_positions_are_dense_under_concurrent_writers(api: RegistryApi, client: httpx.Client) -> None:
    def one(number: int) -> int:
        with api.client() as http:
            return int(publish(http, name=f"concurrent {number}")["position"])

    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(one, range(32)))
    assert len(set(taken)) == 32
    with psycopg.connect(api.dsn) as connection:
        rows = connection.execute("SELECT position FROM registry.rule_events ORDER BY position").fetchall()
    assert [row[0] for row in rows] == list(range(1, len(rows) + 1))


def test_a_writer_that_takes_its_time_holds_back_those_behind_it(
    api: RegistryApi, client: httpx.Client
) -> None:
    """Position order is commit order: nobody can read position n + 1 while n is not committed."""
    with psycopg.connect(api.dsn) as slow, ThreadPoolExecutor(1) as pool:
        slow.execute(statements.TAKE_WRITER_LOCK)
        (position,) = slow.execute(statements.NEXT_POSITION).fetchone() or (0,)
        behind = pool.submit(publish, client, name="behind")
        _until_somebody_waits(api.dsn)
        assert not behind.done()
        slow.rollback()
        assert behind.result(10)["position"] == position


def _until_somebody_waits(dsn: str) -> None:
    waiting = (
        "SELECT count(*) FROM pg_locks WHERE relation = 'registry.writer_lock'::regclass AND NOT granted"
    )
    with psycopg.connect(dsn, autocommit=True) as watch:
        for _ in range(1000):
            (count,) = watch.execute(waiting).fetchone() or (0,)
            if count:
                return
            watch.execute("SELECT pg_sleep(0.01)")
    raise AssertionError("nobody waits for the writer's lock")
