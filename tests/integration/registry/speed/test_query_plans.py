"""Every query of the registry, planned by Postgres on forty thousand events: none reads a growing table whole."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from bench.harness.registry_history import fill
from rules_registry.adapters import (
    backfill_statements,
    change_statements,
    other_rules_statements,
    statements,
)
from rules_registry.adapters.audit import audit_statements
from rules_registry.adapters.named import entry_statements, named_statements
from tests.servers import PostgresServer

pytestmark = pytest.mark.integration

RULES, VERSIONS = 2_000, 20
GROWING = {
    "list_entries",
    "rule_events",
    "audit_entries",
    "change_revisions",
    "changes",
    "control_commands",
    "rules",
}
WHOLE = {
    # What a change makes of all rules together: each of them counts.
    "statements.STANDING": {"rules"},
    "statements.RULE_USAGE": {"rules"},
}
VALUES: dict[str, Any] = {
    "rule_id": 77,
    "without": 77,
    "version": 3,
    "position": 777,
    "positions": [1, 2, 3],
    "after": 500,
    "limit": 51,
    "to": 7,
    "since": 7,
    "until": 9,
    "state": "PAUSED",
    "grouping_key": "payeeId",
    "alike": Jsonb({"groupingKeyNames": ["payeeId"]}),
    "name": "rule 77",
    "names": ["a", "b"],
    "severity": "high",
    "tag": "night",
    "owner": "Ada",
    "kind": "rule",
    "subject": "77",
    "actor": "nobody",
    "type": "RulePaused",
    "unreviewed": True,
    "change_id": 7,
    "definition_hash": "ab" * 32,
    "command_id": "00000000-0000-4000-8000-000000000007",
    "command_ids": ["00000000-0000-4000-8000-000000000007"],
    "backfill_id": "00000000-0000-4000-8000-000000000007",
    "key": "k",
    "now": 1,
    "channel": "c",
    "prefix": "entry-7",
    "before": "entry-8",
    "values": ["entry-7", "b"],
    "removed": ["entry-7"],
    "added": ["b"],
    "untils": [None],
    "changed_at": 1,
    "changed_by": "ada",
}
OTHERWISE: dict[str, dict[str, Any]] = {
    "named_statements": {"after": "a", "kind": "list", "name": "list-7"},
    "entry_statements": {"after": "entry-70", "name": "list-7"},
    "change_statements.WAS": {"rule_id": "77"},
    "backfill_statements": {"state": "open"},
}
ENTRIES = """
INSERT INTO registry.list_entries (name, value, position, until)
SELECT 'list-' || n % 10, 'entry-' || n, 1, CASE WHEN n % 1000 = 0 THEN n END FROM generate_series(1, 40000) AS n
"""
MODULES = (
    statements,
    other_rules_statements,
    named_statements,
    entry_statements,
    backfill_statements,
    change_statements,
    audit_statements,
)


def queries(module: ModuleType) -> Iterator[tuple[str, str]]:
    """Name and text of each statement that reads."""
    for name, text in vars(module).items():
        if isinstance(text, str) and not name.startswith("_") and text.split()[:1] in (["SELECT"], ["WITH"]):
            yield f"{module.__name__.rpartition('.')[2]}.{name}", text


QUERIES = dict(itertools.chain.from_iterable(queries(module) for module in MODULES))


@pytest.fixture(scope="module")
def connection(postgres: PostgresServer) -> Iterator[psycopg.Connection[Any]]:
    with postgres.database(migrated=True) as owner:
        fill(owner, RULES, VERSIONS)
        with psycopg.connect(owner, autocommit=True) as connected:
            connected.execute(ENTRIES)
            connected.execute("ANALYZE registry.list_entries")
            yield connected


def scanned(plan: dict[str, Any]) -> Iterator[str]:
    """The tables that a plan reads whole."""
    if plan["Node Type"] in ("Seq Scan", "Parallel Seq Scan"):
        yield plan["Relation Name"]
    for inner in plan.get("Plans", []):
        yield from scanned(inner)


@pytest.mark.parametrize("name", QUERIES)
def test_no_query_reads_a_growing_table_whole(connection: psycopg.Connection[Any], name: str) -> None:
    values = dict(VALUES)
    for prefix, others in OTHERWISE.items():
        values |= others if name.startswith(prefix) else {}
    row = connection.execute(f"EXPLAIN (FORMAT JSON) {QUERIES[name]}".encode(), values).fetchone()
    assert row is not None
    whole = set(scanned(row[0][0]["Plan"])) & GROWING
    assert whole <= WHOLE.get(name, set()), f"{name} reads {whole} whole"


def test_there_are_queries() -> None:
    assert len(QUERIES) > 20
    assert set(WHOLE) <= set(QUERIES)
