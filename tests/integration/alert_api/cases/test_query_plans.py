"""The queries of cases, planned by Postgres on many rows: none reads a growing table whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, LiteralString

import psycopg
import pytest

from alert_api.adapters import postgres_alerts
from alert_api.adapters.cases import case_fold, case_log, postgres_case_desk, postgres_cases, stored_book
from alert_api.adapters.performance import postgres_performance
from alert_api.domain.cases.subject import Subject
from alert_api.service.cases.case_queries import CaseFilter
from tests.servers import PostgresServer

pytestmark = pytest.mark.integration

ROWS = 30_000
GROWING = {
    "alerts", "alert_events", "case_events", "cases", "episodes", "case_episodes", "case_openings", "snoozed_alerts",
}  # fmt: skip
FILL: tuple[LiteralString, ...] = (
    """INSERT INTO alerts.alerts (alert_id, rule_id, rule_version, group_values, event_time, detected_at, content)
       SELECT md5(n::text)::uuid, n %% 300, 1, jsonb_build_object('payeeId', (n / 10)::text), n, n,
              '{"windowStart": 1, "windowEnd": 2}' FROM generate_series(1, %(rows)s) n""",
    """INSERT INTO alerts.alert_events (alert_id, version, type, occurred_at)
       SELECT alert_id, 1, 'AlertRaised', event_time FROM alerts.alerts ORDER BY event_time""",
    """INSERT INTO alerts.cases SELECT n, md5(n::text), '{}', CASE n %% 5 WHEN 0 THEN 'open' ELSE 'resolved' END, 2, 3,
              n, n, ARRAY[n %% 300], n, n, n, NULL, NULL, 'person ' || n %% 100,
              CASE n %% 5 WHEN 0 THEN NULL ELSE 'inconclusive' END, NULL, NULL FROM generate_series(1, %(rows)s) n""",
    """INSERT INTO alerts.episodes SELECT n, n %% 300, md5((n / 10)::text), '{"payeeId": "1"}', n, n, n + 9, 1
         FROM generate_series(1, %(rows)s) n""",
    "INSERT INTO alerts.case_episodes SELECT n / 3, n FROM generate_series(1, %(rows)s) n",
    "INSERT INTO alerts.case_openings SELECT n, 1, n, n FROM generate_series(1, %(rows)s) n",
    """INSERT INTO alerts.case_events (position, type, case_id, version, occurred_at, actor)
       SELECT n + %(rows)s, 'CaseCommented', n, 2, n, 'ada' FROM generate_series(1, %(rows)s) n""",
    """INSERT INTO alerts.snoozed_alerts SELECT alert_id, event_time %% 20, event_time
         FROM alerts.alerts WHERE event_time %% 3 = 0""",
    "ANALYZE",
)
KEYS = ["a" * 64]
NEWEST_ALERTS = " ORDER BY a.event_time DESC, a.alert_id LIMIT 26"
OF_CASE: dict[str, Any] = {"case_id": 77, "time": 500, "row_id": 5, "rows": 26}
OF_ALERTS = {**OF_CASE, "episode_id": None, "alert_id": postgres_cases.NO_ALERT}
QUERIES: dict[str, tuple[str, Any]] = {
    "episodes of a case": (postgres_cases.SELECT_EPISODES, OF_CASE),
    "events of a case": (postgres_cases.SELECT_EVENTS, {**OF_CASE, "before": 9}),
    "alerts of a case": (postgres_cases.SELECT_ALERTS, OF_ALERTS),
    "a case": (postgres_cases.SELECT_CASES + " WHERE c.case_id = %(case_id)s", OF_CASE),
    "unresolved of a subject": (postgres_case_desk.SELECT_UNRESOLVED, KEYS),
    "the same request": (postgres_case_desk.SELECT_BEFORE, ("ada", 77, "k")),
    "touched episodes": (stored_book.SELECT_EPISODES, [[7], KEYS, [5], [9]]),
    "newest cases": (stored_book.SELECT_NEWEST_CASES, [KEYS]),
    "cases by id": (stored_book.SELECT_CASES, [[1, 2]]),
    "joined": (stored_book.DELETE_JOINED[0], [[1, 2]]),
    "links of joined": (stored_book.DELETE_JOINED[1], [[1, 2]]),
    "unfolded": (case_fold.UNFOLDED, {"position": 29_999}),
    "what versions are worth": (
        postgres_performance.JUDGE_VERSIONS,
        {"earliest": 5, "latest": 500, "rule_ids": None},
    ),
    **{
        f"alerts {name}": (f"{postgres_alerts.SELECT_ALERTS} WHERE {where}{NEWEST_ALERTS}", {"snooze_id": 6})
        for name, where in {
            "that are snoozed": postgres_alerts.SNOOZED,
            "that are not": f"NOT {postgres_alerts.SNOOZED}",
            "of a snooze": postgres_alerts.OF_SNOOZE,
        }.items()
    },
    "the log": (case_log.SELECT_LOG, {"after": 29_000, "limit": 50}),
    **{
        f"page of {name}": (
            postgres_cases.SELECT_CASES
            + where
            + " AND (c.last, c.case_id) < (500, 5)"
            + postgres_cases.CASE_ORDER,
            {**values, "rows": 26},
        )
        for name, (where, values) in {
            "all": postgres_cases.case_conditions(CaseFilter()),
            "unresolved": postgres_cases.case_conditions(CaseFilter("unresolved")),
            "open": postgres_cases.case_conditions(CaseFilter("open")),
            "mine": postgres_cases.case_conditions(CaseFilter("unresolved", assignee="person 7")),
            "a rule": postgres_cases.case_conditions(CaseFilter(rule_ids=(7,))),
            "a subject": postgres_cases.case_conditions(CaseFilter(subject=Subject.of_field("payeeId", "7"))),
            "a span": postgres_cases.case_conditions(CaseFilter(earliest=100, latest=200)),
        }.items()
    },
}


@pytest.fixture(scope="module")
def filled(postgres: PostgresServer) -> Iterator[psycopg.Connection[Any]]:
    with (
        postgres.database(migrated=True) as owner,
        psycopg.connect(owner, autocommit=True) as connection,
    ):
        for statement in FILL:
            connection.execute(statement, {"rows": ROWS})
        yield connection


@pytest.mark.parametrize("name", QUERIES)
def test_no_query_reads_a_growing_table_whole(filled: psycopg.Connection[Any], name: str) -> None:
    query, values = QUERIES[name]
    [(plan,)] = filled.execute(f"EXPLAIN (FORMAT JSON) {query}".encode(), values).fetchall()
    whole = {node["Relation Name"] for node in nodes(plan[0]["Plan"]) if node["Node Type"] == "Seq Scan"}
    assert not whole & GROWING, plan


def nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for inner in node.get("Plans", ()):
        yield from nodes(inner)
