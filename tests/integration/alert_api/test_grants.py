"""The database itself refuses what no service of ours does: that is what makes the promises hold."""

from __future__ import annotations

import psycopg
import pytest

from alert_api.adapters.postgres_intake import PostgresIntake
from tests.integration.alert_api.conftest import AlertsDatabase
from tests.unit.alert_api.support.samples import alert, alert_id, command_id, received

pytestmark = pytest.mark.integration

RAISED = "INSERT INTO alerts.alert_events (alert_id, version, type, occurred_at{0}) VALUES ('{1}', {2}, '{3}', 5{4})"
WORKED = "INSERT INTO alerts.case_events (position, type, occurred_at) VALUES (5, '{0}', 5)"
HASH = "ab" * 32
SNOOZED = f"""
    INSERT INTO alerts.snooze_requests (occurred_at, actor, rule_id, until, expires_at, reason, four_eyes, content_hash)
    VALUES (5, '{{0}}', 1, 'u', 9, 'r', {{1}}, '{HASH}') RETURNING snooze_id"""
SNOOZE_STEP = f"""
    INSERT INTO alerts.snooze_steps (snooze_id, version, type, occurred_at, actor, reason, requested_by, content_hash)
    SELECT coalesce(max(snooze_id), 1), 2, '{{0}}', 6, '{{1}}', 'r', '{{2}}', '{HASH}' FROM alerts.snooze_requests"""

PROJECTOR_MAY_NOT = {
    "acknowledge by event": RAISED.format("", alert_id(1), 2, "AlertAcknowledged", ""),
    "name an actor": RAISED.format(", actor", alert_id(1), 2, "AlertAcknowledged", ", 'ada'"),
    "read events": "SELECT * FROM alerts.alert_events",
    "change events": "UPDATE alerts.alert_events SET occurred_at = 1",
    "take events back": "DELETE FROM alerts.alert_events",
    "acknowledge by column": "UPDATE alerts.alerts SET acknowledged_by = 'ada', acknowledged_at = 1",
    "open again by column": "UPDATE alerts.alerts SET acknowledged_by = NULL, acknowledged_at = NULL",
    "change content": "UPDATE alerts.alerts SET content = '{}'",
    "take alerts back": "DELETE FROM alerts.alerts",
    "store an alert as acknowledged": """
        INSERT INTO alerts.alerts (alert_id, rule_id, rule_version, group_values, event_time, detected_at, content,
                                   acknowledged_by, acknowledged_at)
        VALUES (gen_random_uuid(), 1, 1, '{}', 1, 1, '{}', 'ada', 1)""",
    "mark by event": RAISED.format(", actor", alert_id(1), 2, "AlertVoided", ", 'ada'"),
    "mark by column": "UPDATE alerts.alerts SET voided = true",
    "mark by itself": "SELECT alerts.mark_voided(gen_random_uuid(), gen_random_uuid())",
    "take commands back": "DELETE FROM alerts.voided_transactions",
    "read commands": "SELECT * FROM alerts.voided_transactions",
    "change commands": "UPDATE alerts.voided_transactions SET actor = 'ada'",
    "invent a command": "INSERT INTO alerts.voided_transactions VALUES (gen_random_uuid(), 101, 1, 'ada', 't1', 1)",
    "take a command's id at another position": f"""
        INSERT INTO alerts.voided_transactions VALUES ('{command_id(1)}', 102, 1, 'ada', 't1', 1)""",
    "demand by itself": "SELECT alerts.demand_issued_void()",
    "store an alert as marked": """
        INSERT INTO alerts.alerts (alert_id, rule_id, rule_version, group_values, event_time, detected_at, content,
                                   voided)
        VALUES (gen_random_uuid(), 1, 1, '{}', 1, 1, '{}', true)""",
    "empty a table": "TRUNCATE alerts.alerts CASCADE",
    "forget what was unreadable": "DELETE FROM alerts.unreadable_records",
    "see the registry": "SELECT * FROM registry.rule_events",
    "see sessions": "SELECT actor FROM alerts.console_sessions",
    "open a session": "INSERT INTO alerts.console_sessions VALUES (repeat('a', 64), 'ada', 'x', 1, 2)",
    "make tables": "CREATE TABLE alerts.more (a int)",
    "work on cases": WORKED.format("CaseAcknowledged"),
    "change work": "UPDATE alerts.case_events SET comment = 'something else'",
    "take work back": "DELETE FROM alerts.case_events",
    "empty the work": "TRUNCATE alerts.case_events",
    "remove the cursor": "DELETE FROM alerts.case_cursor",
    "snooze by itself": SNOOZED.format("ada", "false"),
    "change a snooze": "UPDATE alerts.snooze_requests SET expires_at = 9",
    "take a snooze back": "DELETE FROM alerts.snooze_requests",
    "approve a snooze": SNOOZE_STEP.format("SnoozeApproved", "bob", "ada"),
    "take an approval back": "DELETE FROM alerts.snooze_steps",
    "draw positions back": "SELECT setval('alerts.alert_events_position_seq', 1)",
}

API_MAY_NOT = {
    "change content": "UPDATE alerts.alerts SET content = '{}'",
    "change a filter column": "UPDATE alerts.alerts SET rule_id = 9",
    "acknowledge past the log": "UPDATE alerts.alerts SET acknowledged_by = 'ada', acknowledged_at = 1",
    "store an alert": """
        INSERT INTO alerts.alerts (alert_id, rule_id, rule_version, group_values, event_time, detected_at, content)
        VALUES (gen_random_uuid(), 1, 1, '{}', 1, 1, '{}')""",
    "take alerts back": "DELETE FROM alerts.alerts",
    "raise alerts": RAISED.format("", alert_id(1), 1, "AlertRaised", ""),
    "change events": "UPDATE alerts.alert_events SET comment = 'something else'",
    "take events back": "DELETE FROM alerts.alert_events",
    "mark by event": RAISED.format(", actor", alert_id(1), 2, "AlertVoided", ", 'ada'"),
    "take marks back": "UPDATE alerts.alerts SET voided = false",
    "void by itself": "INSERT INTO alerts.voided_transactions VALUES (gen_random_uuid(), 1, 1, 'ada', 't1', 1)",
    "mark by itself": "SELECT alerts.mark_voided(gen_random_uuid(), gen_random_uuid())",
    "see unreadable records": "SELECT * FROM alerts.unreadable_records",
    "see the registry": "SELECT * FROM registry.rule_events",
    "call the projection itself": "SELECT alerts.project_acknowledgement()",
    "lengthen a session": "UPDATE alerts.console_sessions SET expires_at = 9",
    "set the policy": "INSERT INTO alerts.case_events (type, occurred_at, policy) VALUES ('CasePolicySet', 1, '{}')",
    "choose a position": "INSERT INTO alerts.case_events (position, type, occurred_at) VALUES (5, 'CaseReopened', 1)",
    "change work": "UPDATE alerts.case_events SET comment = 'something else'",
    "take work back": "DELETE FROM alerts.case_events",
    "count alerts anew": "UPDATE alerts.cases SET count = 1",
    "open a case": "INSERT INTO alerts.cases (case_id) VALUES (1)",
    "take a case back": "DELETE FROM alerts.cases",
    "change an episode": "UPDATE alerts.episodes SET count = 1",
    "change a verification": "UPDATE alerts.alert_verifications SET outcome = 'match'",
    "take a verification back": "DELETE FROM alerts.alert_verifications",
    "lengthen a snooze": "UPDATE alerts.snooze_requests SET expires_at = 9",
    "take a snooze back": "DELETE FROM alerts.snooze_requests",
    "choose a snooze's position": "INSERT INTO alerts.snooze_requests (snooze_id) VALUES (5)",
    "take an approval back": "DELETE FROM alerts.snooze_steps",
    "change an approval": "UPDATE alerts.snooze_steps SET actor = 'eve'",
    "choose an approval's position": "INSERT INTO alerts.snooze_steps (position) VALUES (5)",
    "empty the snoozes": "TRUNCATE alerts.snooze_requests, alerts.snooze_steps",
    "snooze an alert": f"INSERT INTO alerts.snoozed_alerts VALUES ('{alert_id(1)}', 1, 1)",
    "bring a snoozed alert back": "DELETE FROM alerts.snoozed_alerts",
    "count snoozed alerts anew": "UPDATE alerts.snooze_counts SET alerts = 0",
    "change the policy": "UPDATE alerts.case_cursor SET policy = '{}'",
}


def refused(dsn: str, statement: str) -> None:
    with psycopg.connect(dsn) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute(statement.encode())


@pytest.fixture(scope="module")
def roles(module_database: AlertsDatabase) -> AlertsDatabase:
    with PostgresIntake(module_database.projector) as intake:
        assert intake.store([received(alert(1))], []) == 1
    return module_database


@pytest.mark.parametrize("what", PROJECTOR_MAY_NOT)
def test_the_projector_may_not(roles: AlertsDatabase, what: str) -> None:
    refused(roles.projector, PROJECTOR_MAY_NOT[what])


@pytest.mark.parametrize("what", API_MAY_NOT)
def test_the_api_may_not(roles: AlertsDatabase, what: str) -> None:
    refused(roles.api, API_MAY_NOT[what])


def test_an_acknowledgement_cannot_be_appended_twice(roles: AlertsDatabase) -> None:
    statement = RAISED.format(", actor", alert_id(1), 2, "AlertAcknowledged", ", 'ada'").encode()
    with psycopg.connect(roles.api, autocommit=True) as connection:
        connection.execute(statement)
        for version in (b"2", b"3"):
            with pytest.raises(psycopg.errors.UniqueViolation):
                connection.execute(
                    statement.replace(b"'ada'", b"'bob'").replace(b" 2, 'Alert", b" %b, 'Alert" % version)
                )
        shown = connection.execute("SELECT acknowledged_by, acknowledged_at FROM alerts.alerts").fetchall()
    assert shown == [("ada", 5)]


def test_a_command_that_was_issued_is_stored(roles: AlertsDatabase) -> None:
    statement = "INSERT INTO alerts.voided_transactions VALUES (%s, 101, 1, 'ada', 'of no alert', 1)"
    with psycopg.connect(roles.projector) as connection:
        assert connection.execute(statement, [command_id(1)]).rowcount == 1


@pytest.mark.parametrize(
    ("step", "refusal"),
    [
        (SNOOZE_STEP.format("SnoozeApproved", "ada", "ada"), psycopg.errors.CheckViolation),
        (SNOOZE_STEP.format("SnoozeRejected", "ada", "ada"), psycopg.errors.CheckViolation),
        # whoever says that somebody else asked for it is told that nobody did
        (SNOOZE_STEP.format("SnoozeApproved", "ada", "bob"), psycopg.errors.ForeignKeyViolation),
        (
            SNOOZE_STEP.format("SnoozeApproved", "bob", "ada").replace(HASH, "cd" * 32),
            psycopg.errors.ForeignKeyViolation,
        ),
    ],
)
def test_a_snooze_is_approved_by_a_second_person_as_it_was_asked_for(
    roles: AlertsDatabase, step: str, refusal: type[psycopg.Error]
) -> None:
    with psycopg.connect(roles.api) as connection:
        connection.execute(SNOOZED.format("ada", "true").encode())
        with pytest.raises(refusal), connection.transaction():
            connection.execute(step.encode())
        approved = SNOOZE_STEP.format("SnoozeApproved", "bob", "ada").encode()
        assert connection.execute(approved).rowcount == 1
        with pytest.raises(psycopg.errors.UniqueViolation), connection.transaction():
            connection.execute(approved.replace(b", 2, 'Snooze", b", 3, 'Snooze"))
        connection.rollback()
