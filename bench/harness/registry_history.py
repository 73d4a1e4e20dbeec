"""A registry's database with many rules of many versions, as the service would have written it, and its audit trail."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any, Final

import psycopg

from bench.harness.registry_process import DEFINITION
from rules_registry.domain.actor import Actor
from rules_registry.domain.audit.audit_entry import AuditEntry, ChainHead, Happening, Subject, entry_after
from tripline_contracts import event_type_loader
from tripline_contracts.rules.rule_definition import RuleDefinition, parse

_START: Final = 1_763_690_000_000
_GROUPINGS: Final[tuple[list[str], ...]] = (
    ["payeeId"],
    ["beneficiaryId"],
    ["payeeId", "beneficiaryId"],
    ["paymentType"],
    [],
)
_EVENTS: Final = """
COPY registry.rule_events (position, event_id, type, rule_id, version, occurred_at, actor, body) FROM STDIN
"""
_RULES: Final = """
INSERT INTO registry.rules (rule_id, version, definition_version, state, name, definition, definition_hash,
                            grouping_key_names, effective_from, changed_at, changed_by, position)
SELECT rule_id, version, version, CASE rule_id %% 20 WHEN 0 THEN 'PAUSED' ELSE 'ACTIVE' END, body ->> 'name',
       body -> 'definition', body ->> 'definitionHash',
       ARRAY(SELECT jsonb_array_elements_text(body #> '{definition,groupingKeyNames}')),
       (body ->> 'effectiveFrom')::bigint, occurred_at, actor, position
FROM registry.rule_events WHERE version = %s
"""


# One of ten waits for its approval.
_CHANGES: Final = """
WITH wanted AS (SELECT rule, rule %% 10 = 0 AS waits FROM generate_series(1, %(rules)s) AS rule),
revisions AS (
    INSERT INTO registry.change_revisions (change_id, revision, content, content_hash, editor, created_at)
    SELECT rule, 1, jsonb_build_object('definitionHash', repeat('ab', 32)), repeat('cd', 32), 'analyst-1', 1
    FROM wanted
)
INSERT INTO registry.changes (change_id, revision, content_hash, kind, subject_kind, subject_id, state, editors,
                              created_at, changed_at, break_glass, decided_by, decided_at)
SELECT rule, 1, repeat('cd', 32), CASE rule %% 5 WHEN 1 THEN 'PUBLISH_RULE' ELSE 'CHANGE_RULE' END, 'rule', rule::text,
       CASE WHEN waits THEN 'SUBMITTED' ELSE 'APPROVED' END, '{analyst-1}', 1, 1, false,
       CASE WHEN NOT waits THEN 'approver-1' END, CASE WHEN NOT waits THEN 2 END
FROM wanted
"""
_COMMANDS: Final = """
INSERT INTO registry.control_commands (command_id, command, position, last_position, occurred_at, actor)
SELECT gen_random_uuid(), CASE n %% 50 WHEN 1 THEN 'START_BACKFILL' ELSE 'CLEAR_RULE' END, n, n, 0, 'ops'
FROM generate_series(1, %(rules)s) AS n
"""


def fill(owner: str, rules: int, versions: int) -> None:
    """Version by version, each of all rules; as many changes and commands as rules."""
    definitions = [
        parse({**DEFINITION, "groupingKeyNames": keys, "limit": str(limit)}, event_type_loader.load())
        for keys in _GROUPINGS
        for limit in (10, 1000)
    ]
    with psycopg.connect(owner) as connection:
        with connection.cursor().copy(_EVENTS) as copy:
            for event in _events(definitions, rules, versions):
                identity = f"00000000-0000-4000-8000-{event['position']:012}"
                copy.write_row(
                    (event["position"], identity, event["type"], event["ruleId"], event["version"],
                     event["occurredAt"], event["actor"], json.dumps(event))
                )  # fmt: skip
        connection.execute(_RULES, [versions])
        connection.execute(_CHANGES, {"rules": rules})
        connection.execute(_COMMANDS, {"rules": rules})
        # One row at a time the trigger would look up the last one a million times.
        connection.execute("ALTER TABLE registry.audit_entries DISABLE TRIGGER follow_on_last_entry")
        with connection.cursor().copy(
            "COPY registry.audit_entries (sequence, body, hash) FROM STDIN"
        ) as copy:
            for entry in _entries(definitions, rules, versions):
                copy.write_row((entry.sequence, entry.text, entry.hash))
        connection.execute("ALTER TABLE registry.audit_entries ENABLE TRIGGER follow_on_last_entry")
    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")


def _events(definitions: list[RuleDefinition], rules: int, versions: int) -> Iterator[dict[str, Any]]:
    shown = [(definition.to_json(), definition.hash) for definition in definitions]
    positions = itertools.count(1)
    for version in range(1, versions + 1):
        for rule in range(1, rules + 1):
            position = next(positions)
            definition, digest = shown[(rule + version) % len(shown)]
            yield {
                "eventId": f"00000000-0000-4000-8000-{position:012}",
                "type": "RulePublished",
                "position": position,
                "occurredAt": _START + position,
                "actor": f"analyst-{rule % 7}",
                "widestWindows": [
                    {"groupingKeyNames": sorted(keys), "windowSeconds": 1200, "ruleId": 1, "version": 1}
                    for keys in _GROUPINGS
                ],
                "ruleId": rule,
                "version": version,
                "definitionVersion": version,
                "state": "ACTIVE",
                "name": f"rule {rule}",
                "definition": definition,
                "definitionHash": digest,
                "effectiveFrom": _START + position,
            }


def _entries(definitions: list[RuleDefinition], rules: int, versions: int) -> Iterator[AuditEntry]:
    head = ChainHead()
    for event in _events(definitions, rules, versions):
        after = {name: event[name] for name in ("version", "state", "name", "definition", "definitionHash")}
        actor = Actor(event["actor"], "analyst", f"request-{event['position']}")
        subject = Subject("rule", str(event["ruleId"]))
        happening = Happening(
            event["type"], event["occurredAt"], actor, subject, event["position"], None, after
        )
        entry = entry_after(head, happening)
        head = ChainHead(entry.sequence, entry.hash)
        yield entry
