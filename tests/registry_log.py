"""A registry's log for tests that make up alerts and void commands: so that the projector finds them issued."""

from __future__ import annotations

import psycopg

RULES, VERSIONS = 150, 20
COMMANDS = 400

_PUBLISH = """
INSERT INTO registry.rule_events (position, event_id, type, rule_id, version, occurred_at, actor, body)
SELECT 1000000 + 10000 * rule_id + version, gen_random_uuid(), 'RulePublished', rule_id, version, 0, 'test', '{}'
FROM generate_series(1, %s) AS rule_id, generate_series(1, %s) AS version
"""
_COMMAND = """
INSERT INTO registry.rule_events (position, event_id, type, occurred_at, actor, body)
SELECT position, gen_random_uuid(), 'ControlCommand', 0, 'test', '{}' FROM unnest(%(positions)s::bigint[]) AS position
"""
_ISSUE = """
INSERT INTO registry.control_commands (command_id, command, position, last_position, occurred_at, actor)
SELECT command_id, 'VOID_TRANSACTION', position, position, 0, 'test'
FROM unnest(%(ids)s::uuid[], %(positions)s::bigint[]) AS void (command_id, position)
"""


def publish_everything(owner: str, rules: int = RULES, versions: int = VERSIONS) -> None:
    """Rules from 1 on in versions from 1 on, far behind any position that a test uses."""
    with psycopg.connect(owner) as connection:
        connection.execute(_PUBLISH, (rules, versions))


def issue_voids(owner: str, command_ids: dict[int, str]) -> None:
    """Void commands by position."""
    values = {"positions": list(command_ids), "ids": list(command_ids.values())}
    with psycopg.connect(owner) as connection:
        connection.execute(_COMMAND, values)
        connection.execute(_ISSUE, values)
