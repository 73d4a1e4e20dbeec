"""The queries of cases, planned by Postgres on many rows: none reads a growing table whole."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, LiteralString

import psycopg
import pytest
from psycopg.types.json import Jsonb

from alert_api.adapters import postgres_alerts
from alert_api.adapters.alert_lists import alert_walking, alerts_by_work, newest_of_cases
from alert_api.adapters.cases import (
    case_fold,
    case_log,
    cases_of_alerts,
    postgres_case_desk,
    postgres_cases,
    stored_book,
)
from alert_api.adapters.cases.case_conditions import case_conditions
from alert_api.adapters.performance import postgres_performance
from alert_api.domain.cases.due import DuePolicy
from alert_api.domain.cases.subject import Subject
from alert_api.domain.events import AlertId
from alert_api.service.alert_queries import AlertFilter, Place
from alert_api.service.cases.case_queries import CaseFilter
from tests.servers import PostgresServer

pytestmark = pytest.mark.integration

ROWS = 30_000
GROWING = {
    "alerts", "alert_events", "case_events", "cases", "episodes", "case_episodes", "case_openings", "snoozed_alerts",
}  # fmt: skip
FILL: tuple[LiteralString, ...] = (
    """INSERT INTO alerts.alerts (alert_id, rule_id, rule_version, group_values, event_time, detected_at, amount,
                                    content)
       SELECT md5(n::text)::uuid, n %% 300, 1, jsonb_build_object('payeeId', (n / 10)::text), n, n, n,
              '{"windowStart": 1, "windowEnd": 2}' FROM generate_series(1, %(rows)s) n""",
    """INSERT INTO alerts.alert_events (alert_id, version, type, occurred_at)
       SELECT alert_id, 1, 'AlertRaised', event_time FROM alerts.alerts ORDER BY event_time""",
    """INSERT INTO alerts.cases SELECT n, md5(n::text), '{}', CASE n %% 5 WHEN 0 THEN 'open' ELSE 'resolved' END, 2, 3,
              n, n, ARRAY[n %% 300], n, n, n, NULL, NULL, 'person ' || n %% 100,
              CASE n %% 5 WHEN 0 THEN NULL ELSE 'inconclusive' END, NULL, NULL, n
         FROM generate_series(1, %(rows)s) n""",
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
NO_ALERT = postgres_cases.NO_ALERT


LISTS: dict[str, AlertFilter] = {
    "all": AlertFilter(),
    "of several rules": AlertFilter(rule_ids=(7, 8, 9)),
    "of a group": AlertFilter(group=(("payeeId", "7"),)),
    "of a rule and a group": AlertFilter(rule_ids=(7,), group=(("payeeId", "7"),)),
    "of an amount": AlertFilter(min_amount=Decimal(29_990)),
    "of amounts in many steps": AlertFilter(max_amount=Decimal(15_000)),
    "of amounts in a span": AlertFilter(min_amount=Decimal(29_990), earliest=10_000, latest=29_000),
    "of a rule and an amount": AlertFilter(rule_ids=(7,), min_amount=Decimal(7)),
    "detected": AlertFilter(detected_from=15_000, detected_to=15_050),
    "that are snoozed": AlertFilter(snoozed=True),
    "that are not": AlertFilter(snoozed=False),
    "of a snooze": AlertFilter(snooze_id=6),
    "of a snooze, of a rule": AlertFilter(snooze_id=6, rule_ids=(7,)),
}


class Explained:
    """A connection that keeps the plan of each query."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        self.plans: list[Any] = []
        self.closed, self.info = connection.closed, connection.info

    def execute(self, query: str, values: Any = None, **_: bool) -> Any:
        if "set_config" not in query:
            self.plans.append(
                self._connection.execute(f"EXPLAIN (FORMAT JSON) {query}".encode(), values).fetchall()
            )
        return self._connection.execute(query.encode(), values)


OF_CASE: dict[str, Any] = {"case_id": 77, "time": 500, "row_id": 5, "rows": 26}
OF_ALERTS = {**OF_CASE, "episode_id": None, "alert_id": NO_ALERT}
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
    "the log": (case_log.SELECT_LOG, {"after": 29_000, "limit": 50}),
    "alerts of cases": (
        alerts_by_work.few_query(["true"], newest=False),
        {"case_ids": [77, 78], "until": 20_000, "since": 0, "rows": 26},
    ),
    "newest alerts of cases": (
        alerts_by_work.few_query(["true"], newest=True),
        {"case_ids": [77, 78], "until": 20_000, "since": 0, "rows": 26},
    ),
    "newest alerts about values": (
        alert_walking.numbered(newest_of_cases.OF_VALUES.replace("{behind}", ""), most=8),
        {"numbers": [0], "names": ["payeeId"], "values": ["7"], "begins": [0], "ends": [20_000]},
    ),
    "newest alerts of a rule and a group": (
        alert_walking.numbered(newest_of_cases.OF_SERIES.replace("{behind}", ""), most=8),
        {"numbers": [0], "rules": [7], "groups": [Jsonb({"payeeId": "7"})], "begins": [0], "ends": [20_000]},
    ),
    "policies": (newest_of_cases.SELECT_POLICIES, {}),
    "cases of alerts": (cases_of_alerts.SELECT_CASES, [[NO_ALERT], [7], KEYS, [500]]),
    **{
        f"cases of {name} alerts": (
            alerts_by_work.SELECT_CASES + where + alerts_by_work.CHOOSE_CASES,
            {**values, "until": 20_000, "since": 100, "cases": 201},
        )
        for name, (where, values) in {
            "confirmed": case_conditions(CaseFilter(outcome="confirmed_fraud")),
            "inconclusive": case_conditions(CaseFilter(outcome="inconclusive")),
            "somebody's": case_conditions(CaseFilter(assignee="person 7")),
        }.items()
    },
    **{
        f"page of {name}": (
            postgres_cases.SELECT_CASES
            + where
            + " AND (c.last, c.case_id) < (500, 5)"
            + postgres_cases.CASE_ORDER,
            {**values, "rows": 26},
        )
        for name, (where, values) in {
            "all": case_conditions(CaseFilter()),
            "unresolved": case_conditions(CaseFilter("unresolved")),
            "open": case_conditions(CaseFilter("open")),
            "mine": case_conditions(CaseFilter("unresolved", assignee="person 7")),
            "a rule": case_conditions(CaseFilter(rule_ids=(7,))),
            "a subject": case_conditions(CaseFilter(subject=Subject.of_field("payeeId", "7"))),
            "a span": case_conditions(CaseFilter(earliest=100, latest=200)),
            "a severity": case_conditions(CaseFilter(severity="high")),
            "overdue": case_conditions(CaseFilter(overdue_at=3_600_020), DuePolicy.parse("high=1h")),
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


@pytest.mark.parametrize("name", LISTS)
def test_no_list_of_alerts_reads_a_growing_table_whole(filled: psycopg.Connection[Any], name: str) -> None:
    explained: Any = Explained(filled)
    alert_walking.walked(explained, LISTS[name], Place(29_000, AlertId(NO_ALERT)), alerts_by_work.LISTED, 26)
    for [(plan,)] in explained.plans:
        whole = {node["Relation Name"] for node in nodes(plan[0]["Plan"]) if node["Node Type"] == "Seq Scan"}
        assert not whole & GROWING, plan


@pytest.mark.parametrize(("options", "parallel"), [("", True), (postgres_alerts.OPTIONS, False)])
def test_a_page_starts_no_processes(filled: psycopg.Connection[Any], options: str, parallel: bool) -> None:
    """Where Postgres thinks that it pays, it would start some for each page of a group."""
    cheap = "-c parallel_setup_cost=0 -c parallel_tuple_cost=0 -c min_parallel_table_scan_size=0"
    query = "EXPLAIN (FORMAT JSON) SELECT count(content) FROM alerts.alerts"
    with psycopg.connect(_dsn(filled), options=f"{cheap} {options}") as connection:
        [(plan,)] = connection.execute(query).fetchall()
        [(jit,)] = connection.execute("SHOW jit").fetchall()
    assert any(node["Node Type"] == "Gather" for node in nodes(plan[0]["Plan"])) == parallel
    assert (jit == "on") == parallel


def _dsn(connection: psycopg.Connection[Any]) -> str:
    info = connection.info
    return psycopg.conninfo.make_conninfo(info.dsn, password=info.password)


def nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for inner in node.get("Plans", ()):
        yield from nodes(inner)
