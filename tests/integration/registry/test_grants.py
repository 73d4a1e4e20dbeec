"""What each database role may not do: said by Postgres, not by our code."""

from __future__ import annotations

import psycopg
import pytest
from psycopg import errors

from tests.servers import PostgresServer

pytestmark = pytest.mark.integration

API, RELAY, STATUS = "tripline_registry_api", "tripline_registry_relay", "tripline_registry_status"


@pytest.mark.parametrize(
    ("group", "statement", "reason"),
    [
        (API, "UPDATE registry.rule_events SET actor = 'x'", "the log is append-only"),
        (API, "DELETE FROM registry.rule_events", "the log is append-only"),
        (API, "TRUNCATE registry.rule_events", "the log is append-only"),
        (API, "UPDATE registry.relay_cursor SET position = 0", "the cursor is the relay's"),
        (API, "INSERT INTO registry.rule_status VALUES (1, 0, 1, 1, 1, 1, 1)", "status is the projector's"),
        (API, "DELETE FROM registry.rules", "rules are marked, never removed"),
        (API, "UPDATE registry.control_commands SET actor = 'x'", "what was commanded stays as it was"),
        (API, "DELETE FROM registry.rule_exports", "answers are the shards' own"),
        (API, "DELETE FROM registry.rule_purposes", "alerts of a deleted rule stay"),
        (RELAY, "SELECT * FROM registry.rule_purposes", "the engine is told nothing of it"),
        (STATUS, "SELECT * FROM registry.rule_purposes", "not its business"),
        (API, "DELETE FROM registry.named_values", "rules that name it would not be valid any more"),
        (RELAY, "SELECT * FROM registry.named_values", "the relay reads the log"),
        (API, "TRUNCATE registry.list_entries", "entries go one by one, each by an event"),
        (RELAY, "SELECT * FROM registry.list_entries", "the relay reads the log"),
        (STATUS, "SELECT * FROM registry.list_entries", "not its business"),
        (RELAY, "SELECT name FROM registry.rule_events", "the relay hands bodies on"),
        (STATUS, "SELECT * FROM registry.named_values", "not its business"),
        (RELAY, "SELECT * FROM registry.control_commands", "the relay reads the log"),
        (STATUS, "SELECT * FROM registry.control_commands", "the projector believes what it is told"),
        (STATUS, "DELETE FROM registry.rule_exports", "it writes, and removes nothing"),
        (RELAY, "INSERT INTO registry.rule_events (position) VALUES (1)", "the relay only reads the log"),
        (RELAY, "UPDATE registry.rule_events SET actor = 'x'", "the relay only reads the log"),
        (RELAY, "DELETE FROM registry.relay_cursor", "it moves its cursor, no more"),
        (RELAY, "SELECT * FROM registry.idempotency_keys", "not its business"),
        (STATUS, "SELECT * FROM registry.rule_events", "not its business"),
        (STATUS, "DELETE FROM registry.rule_status", "it writes, and removes nothing"),
        (STATUS, "CREATE TABLE registry.mine (a int)", "no role owns the schema"),
    ],
)
def test_a_role_may_not(
    postgres: PostgresServer, migrated_database: str, group: str, statement: str, reason: str
) -> None:
    dsn = postgres.login(migrated_database, group)
    with psycopg.connect(dsn, autocommit=True) as connection:
        with pytest.raises(errors.InsufficientPrivilege) as refused:
            connection.execute(statement)
        assert "permission denied" in str(refused.value), reason


def test_the_log_takes_a_version_once(migrated_database: str) -> None:
    insert = """
    INSERT INTO registry.rule_events (position, event_id, type, rule_id, version, name, occurred_at, actor, body)
    VALUES (%s, gen_random_uuid(), %s, %s, %s, %s, 0, 'a', '{}')
    """
    with psycopg.connect(migrated_database) as connection:
        taken = [("RulePublished", 1, None), ("SettingsChanged", None, None), ("ListChanged", None, "a")]
        free = [("ListChanged", None, "b"), ("ParameterChanged", None, "a")]
        for position, (kind, rule_id, name) in enumerate([*taken, *free], start=1):
            connection.execute(insert, [position, kind, rule_id, 1, name])
        # whole lists and their entries have one row of versions
        again = [("RulePaused", 1, None), *taken[1:], ("ListEntriesChanged", None, "a")]
        for kind, rule_id, name in again:
            with pytest.raises(errors.UniqueViolation), connection.transaction():
                connection.execute(insert, [9, kind, rule_id, 1, name])
        connection.rollback()
