"""The relay as a real process between a real Postgres and a real Kafka: nothing left out, in order, one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import psycopg
import pytest

from rules_registry.adapters import statements
from tests.integration.registry.support.relay_process import (
    cursor_of,
    first_seen,
    fresh_rules_topic,
    last_position,
    positions_in_kafka,
    relay_process,
    until,
)
from tests.registry import DEFINITION, RegistryApi, running_api
from tests.servers import PostgresServer

pytestmark = [pytest.mark.integration, pytest.mark.slow]


@pytest.fixture(scope="module")
def rules_topic(kafka: str) -> str:
    fresh_rules_topic(kafka)
    return kafka


@pytest.fixture(scope="module")
def relay_api(
    postgres: PostgresServer, migrated_database: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RegistryApi]:
    with running_api(postgres, migrated_database, tmp_path_factory.mktemp("registry")) as running:
        yield running


@pytest.fixture(scope="module")
def relay_dsn(postgres: PostgresServer, relay_api: RegistryApi) -> str:
    return postgres.login(relay_api.dsn, "tripline_registry_relay")


def publish(api: RegistryApi, count: int) -> None:
    with api.client() as client:
        for _ in range(count):
            assert client.post("/v1/rules", json=dict(DEFINITION)).status_code == 201


def everything_delivered(api: RegistryApi) -> bool:
    return cursor_of(api.dsn) == last_position(api.dsn)


def assert_no_gap(api: RegistryApi, kafka: str) -> list[int]:
    positions = positions_in_kafka(kafka)
    assert first_seen(positions) == list(range(1, last_position(api.dsn) + 1))
    return positions


def test_events_arrive_once_each_in_order(
    relay_api: RegistryApi, relay_dsn: str, rules_topic: str, tmp_path: Path
) -> None:
    before = len(positions_in_kafka(rules_topic))
    publish(relay_api, 5)
    with relay_process(relay_dsn, rules_topic, tmp_path / "relay.log") as relay:
        until(lambda: everything_delivered(relay_api), "what was there before it started")
        publish(relay_api, 5)
        with relay_api.client() as client:
            settings = client.get("/v1/settings").json()
            body = {**settings, "idlePartitionSeconds": settings["idlePartitionSeconds"] + 1}
            client.put("/v1/settings", json=body, headers={"If-Match": "*"}).raise_for_status()
        until(lambda: everything_delivered(relay_api), "what came while it runs")
        assert httpx.get(f"{relay.metrics}/readyz").status_code == 200
        relay.process.terminate()
        assert relay.process.wait(60) == 0, "SIGTERM is a clean stop"
    assert len(assert_no_gap(relay_api, rules_topic)) == before + 11


def test_killed_between_delivery_and_cursor_it_sends_again(
    relay_api: RegistryApi, relay_dsn: str, rules_topic: str, tmp_path: Path
) -> None:
    before = cursor_of(relay_api.dsn)
    publish(relay_api, 3)
    with psycopg.connect(relay_api.dsn) as blocker:
        # Whoever wants to move the cursor waits here: so the kill lands after delivery and before the move.
        blocker.execute("SELECT * FROM registry.relay_cursor FOR UPDATE")
        with relay_process(relay_dsn, rules_topic, tmp_path / "killed.log") as relay:
            until(lambda: max(positions_in_kafka(rules_topic), default=0) == before + 3, "delivery")
            until(lambda: _waits_for_the_cursor(relay_api.dsn), "the relay wants to move the cursor")
            relay.kill()
    assert cursor_of(relay_api.dsn) == before, "the kill came before the cursor moved"
    publish(relay_api, 2)
    with relay_process(relay_dsn, rules_topic, tmp_path / "next.log"):
        until(lambda: everything_delivered(relay_api), "its successor delivers")
    assert cursor_of(relay_api.dsn) == before + 5
    positions = assert_no_gap(relay_api, rules_topic)
    again = [before + 1, before + 2, before + 3]
    assert positions[-8:] == again + again + [before + 4, before + 5], "the killed one's events came twice"


def test_killed_at_any_time_leaves_no_gap(
    relay_api: RegistryApi, relay_dsn: str, rules_topic: str, tmp_path: Path
) -> None:
    for round_number in range(4):
        publish(relay_api, 8)
        with relay_process(relay_dsn, rules_topic, tmp_path / f"{round_number}.log") as relay:
            until(relay.is_active, "it is active")
            publish(relay_api, 4)
            relay.kill()
    with relay_process(relay_dsn, rules_topic, tmp_path / "last.log"):
        until(lambda: everything_delivered(relay_api), "the last one delivers what is left")
    assert_no_gap(relay_api, rules_topic)


def test_one_relay_is_active_and_the_next_takes_over(
    relay_api: RegistryApi, relay_dsn: str, rules_topic: str, tmp_path: Path
) -> None:
    with (
        relay_process(relay_dsn, rules_topic, tmp_path / "first.log") as first,
        relay_process(relay_dsn, rules_topic, tmp_path / "second.log") as second,
    ):
        until(lambda: first.is_active() or second.is_active(), "one is active")
        active, standby = (first, second) if first.is_active() else (second, first)
        publish(relay_api, 3)
        until(lambda: everything_delivered(relay_api), "it delivers")
        assert not standby.is_active()
        active.kill()
        until(standby.is_active, "the other takes over")
        publish(relay_api, 3)
        until(lambda: everything_delivered(relay_api), "and delivers")
    assert_no_gap(relay_api, rules_topic)


def test_it_comes_back_when_its_session_is_cut(
    relay_api: RegistryApi, relay_dsn: str, rules_topic: str, tmp_path: Path
) -> None:
    with relay_process(relay_dsn, rules_topic, tmp_path / "cut.log") as relay:
        until(relay.is_active, "it is active")
        with psycopg.connect(relay_api.dsn, autocommit=True) as admin:
            admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename LIKE '%relay%'"
            )
        publish(relay_api, 2)
        until(lambda: everything_delivered(relay_api), "it has connected again")
        assert relay.process.poll() is None
    assert_no_gap(relay_api, rules_topic)


def test_an_insert_that_commits_late_is_not_skipped(
    relay_api: RegistryApi, relay_dsn: str, rules_topic: str, tmp_path: Path
) -> None:
    """Even past the writers' lock: a hole in the positions holds the relay until it is filled."""
    end = last_position(relay_api.dsn)
    copy = """
    INSERT INTO registry.rule_events (position, event_id, type, rule_id, version, occurred_at, actor, body)
    SELECT %(to)s, %(id)s::uuid, type, %(to)s + 1000, 1, occurred_at, actor,
           body || jsonb_build_object('position', %(to)s::bigint, 'ruleId', %(to)s + 1000, 'eventId', %(id)s::text)
    FROM registry.rule_events WHERE type = 'RulePublished' ORDER BY position LIMIT 1
    """
    late_id, early_id = "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"
    with (
        relay_process(relay_dsn, rules_topic, tmp_path / "late.log") as relay,
        psycopg.connect(relay_api.dsn) as late,
    ):
        until(relay.is_active, "it is active")
        until(lambda: everything_delivered(relay_api), "it has nothing left to do")
        late.execute(copy, {"to": end + 1, "id": late_id})
        with psycopg.connect(relay_api.dsn) as early:
            early.execute(copy, {"to": end + 2, "id": early_id})
            early.execute(statements.NOTIFY, {"channel": statements.CHANNEL})
        _let_it_look(relay_api.dsn)
        assert cursor_of(relay_api.dsn) == end, "what is behind the hole waits"
        late.commit()
        until(lambda: cursor_of(relay_api.dsn) == end + 2, "both delivered")
    assert_no_gap(relay_api, rules_topic)


def test_a_cursor_beyond_the_log_is_refused_until_it_is_right(
    relay_api: RegistryApi, relay_dsn: str, rules_topic: str, tmp_path: Path
) -> None:
    right = cursor_of(relay_api.dsn)
    _move_the_cursor(relay_dsn, 1000)
    publish(relay_api, 2)
    with relay_process(relay_dsn, rules_topic, tmp_path / "ahead.log") as relay:
        until(relay.is_active, "it is active")

        def is_refused() -> bool:
            answer = httpx.get(f"{relay.metrics}/readyz")
            return answer.status_code == 503 and "relay" in answer.text

        until(is_refused, "it is not ready")
        assert f"stands at {right + 1000}, " in (tmp_path / "ahead.log").read_text()
        _move_the_cursor(relay_dsn, -1000)
        until(lambda: everything_delivered(relay_api), "it goes on by itself")
        assert httpx.get(f"{relay.metrics}/readyz").status_code == 200
    assert_no_gap(relay_api, rules_topic)


def _move_the_cursor(dsn: str, by: int) -> None:
    """With the relay's own login."""
    with psycopg.connect(dsn) as connection:
        connection.execute("UPDATE registry.relay_cursor SET position = position + %s", [by])


def _waits_for_the_cursor(dsn: str) -> bool:
    waiting = (
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%relay_cursor%'"
    )
    with psycopg.connect(dsn) as watch:
        (count,) = watch.execute(waiting).fetchone() or (0,)
    return bool(count)


def _let_it_look(dsn: str) -> None:
    """Until the relay has read the log twice more, as Postgres sees it."""
    seen = "SELECT max(query_start) FROM pg_stat_activity WHERE usename LIKE '%relay%'"
    with psycopg.connect(dsn, autocommit=True) as watch:

        def last_look() -> object:
            return (watch.execute(seen).fetchone() or (None,))[0]

        for _ in range(2):
            before = last_look()
            until(lambda before=before: last_look() != before, "the relay reads")  # type: ignore[misc]
