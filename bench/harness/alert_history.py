"""A database of alerts as the projector would have stored them: many, over a month, some acknowledged."""

from __future__ import annotations

import functools
import itertools
import json
import uuid
from collections.abc import Iterator
from typing import Any, Final

import psycopg
from psycopg.types.json import Jsonb

from alert_api.adapters.alert_schema import alert_validator
from alert_api.domain.cases.policy import CasePolicy
from alert_api.service.records import ReceivedAlert, Record, Validate, read_record
from bench.harness.stack import BenchFailed

END: Final = 1_763_690_000_000
"""The newest one's event time, ms since the epoch."""
MONTH_MS: Final = 30 * 24 * 3_600_000
RULES: Final = 50
PAYEES: Final = 20_000
POLICY: Final = CasePolicy(subject_fields=("payeeId",))
_AT_ONCE: Final = 200_000
_CONTENT: Final = json.dumps(
    {
        "alertId": "%s", "ruleId": "%s", "ruleVersion": 1, "ruleName": "rule %s of the bench",
        "definitionHash": "ab" * 32,
        "group": {"payeeId": "%s"},
        "transaction": {
            "transactionId": "%s", "eventTime": "%s", "payeeId": "%s", "beneficiaryId": "12",
            "paymentAmount": "1000.01", "paymentType": "CSH", "ingestionTimestamp": None,
        },
        "partial": False, "value": "1000.01", "operator": ">", "limit": "1000", "windowStart": 1, "windowEnd": 2,
        "contributors": {
            "count": 3, "truncated": False,
            "transactions": [{"transactionId": f"a-{n}", "eventTime": 1, "value": "333.33"} for n in range(3)],
        },
        "late": None, "warm": True, "mode": "live", "eventTime": "%s", "ingestedAt": 3, "detectedAt": 4,
    }
)  # fmt: skip
# Numbers are drawn from the row's own, so that a run is like the one before it.
_FILL: Final = """
INSERT INTO alerts.alerts (alert_id, rule_id, rule_version, group_values, event_time, detected_at, transaction_id,
                           content, acknowledged_by, acknowledged_at)
SELECT id, rule, 1, jsonb_build_object('payeeId', payee::text), at, at + 80, 'b-' || n,
       format(%(content)s, id, rule, rule, payee, 'b-' || n, at, payee, at)::json,
       CASE WHEN n %% 3 = 0 THEN 'ada' END, CASE WHEN n %% 3 = 0 THEN at + 1000 END
  FROM (SELECT n, md5('bench' || n)::uuid AS id, 1 + abs(hashint8(n)) %% %(rules)s AS rule,
               abs(hashint8(n * 7)) %% %(payees)s AS payee,
               %(end)s - (%(total)s - n) * %(month)s / %(total)s AS at
          FROM generate_series(%(first)s::bigint, %(last)s::bigint) AS n) made
"""
_EVENTS: Final = """
INSERT INTO alerts.alert_events (alert_id, version, type, occurred_at)
SELECT alert_id, 1, 'AlertRaised', detected_at FROM alerts.alerts
"""

_YEAR_MS: Final = 365 * 24 * 3_600_000
# As if retention had run since a year before the newest alert: months up to the present one, most of them empty.
_MONTHS: Final = """
DO $$
BEGIN
    DROP TABLE alerts.alerts_before, alerts.alerts_after;
    PERFORM alerts.add_alert_partition('alerts_before', NULL, edge),
            alerts.add_alert_partition('alerts_after', edge, NULL) FROM alerts.month_after({begin}) AS edge;
    PERFORM alerts.extend_alert_months(35);
END
$$
"""

# As if the projector had folded them: an episode for each rule and payee, a case for each payee, a quarter unresolved.
_CASES: Final = (
    """
INSERT INTO alerts.episodes (episode_id, rule_id, group_key, group_text, first, last, until, count)
SELECT episode_id, rule_id, encode(sha256(convert_to(text, 'UTF8')), 'hex'), text, first, last, last + 1, count
  FROM (SELECT min(e.position) AS episode_id, a.rule_id,
               format('{"payeeId":"%%s"}', group_values ->> 'payeeId') AS text, min(event_time) AS first,
               max(event_time) AS last, count(*) AS count
          FROM alerts.alerts a JOIN alerts.alert_events e USING (alert_id)
         WHERE e.version = 1 GROUP BY rule_id, group_values) series
""",
    """
INSERT INTO alerts.cases (case_id, subject_key, subject, state, version, count, first, last, rule_ids, opened_at,
                          changed_at, active_since, outcome, resolved_by, resolved_at)
SELECT case_id, encode(sha256(convert_to(text, 'UTF8')), 'hex'), text,
       CASE WHEN resolved THEN 'resolved' ELSE 'open' END, 1, count, first, last, rule_ids, first + 80, last + 80,
       case_id, CASE WHEN resolved THEN 'false_positive' END,
       CASE WHEN resolved THEN 'ada' END, CASE WHEN resolved THEN last + 5000 END
  FROM (SELECT min(episode_id) AS case_id, min(episode_id) %% 4 > 0 AS resolved, sum(count) AS count,
               min(first) AS first,
               format('{"field":"payeeId","value":%%s}', group_text::json -> 'payeeId') AS text, max(last) AS last,
               array_agg(rule_id ORDER BY rule_id) AS rule_ids
          FROM alerts.episodes GROUP BY group_text) payee
""",
    """
INSERT INTO alerts.case_episodes (case_id, episode_id)
SELECT case_id, episode_id
  FROM alerts.cases JOIN alerts.episodes ON group_text::json ->> 'payeeId' = subject::json ->> 'value'
""",
    "INSERT INTO alerts.case_openings SELECT case_id, 1, case_id, opened_at FROM alerts.cases",
    "INSERT INTO alerts.case_events (position, type, occurred_at, policy) VALUES (0, 'CasePolicySet', 1, %(policy)s)",
    "UPDATE alerts.case_cursor SET policy = %(policy)s, position = (SELECT max(position) FROM alerts.alert_events)",
)


_PUBLISH: Final = """
INSERT INTO registry.rule_events (position, event_id, type, rule_id, version, occurred_at, actor, body)
SELECT n, gen_random_uuid(), 'RulePublished', n, 1, 1, 'bench', jsonb_build_object('type', 'RulePublished')
  FROM generate_series(1, %(rules)s) AS n
"""


def fill(owner: str, total: int) -> None:
    """So many alerts of RULES rules and PAYEES payees; `owner` is the superuser's DSN."""
    with psycopg.connect(owner, autocommit=True) as connection:
        for first in range(1, total + 1, _AT_ONCE):
            values = {
                "content": _CONTENT, "rules": RULES, "payees": PAYEES, "end": END, "month": MONTH_MS, "total": total,
                "first": first, "last": min(total, first + _AT_ONCE - 1),
            }  # fmt: skip
            connection.execute(_FILL, values)
        connection.execute(_EVENTS)
        for statement in _CASES:
            connection.execute(statement, {"policy": Jsonb(POLICY.to_json())})
        connection.execute("SELECT alerts.settle_counts()")
        connection.execute("VACUUM ANALYZE")


def partition(owner: str) -> int:
    """Months around what `fill` makes, of a database without alerts; gives the number of partitions."""
    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute(_MONTHS.format(begin=END - _YEAR_MS).encode())
        [(count,)] = connection.execute("SELECT count(*) FROM alerts.alert_partitions").fetchall()
    return int(count)


def publish(owner: str) -> None:
    """Version 1 of each rule, in the registry's log: alerts of others are not stored."""
    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute(_PUBLISH, {"rules": RULES})


@functools.cache
def _is_alert() -> Validate:
    return alert_validator()


def received(number: int, rule: int, group: int, event_time: int, contributors: int) -> ReceivedAlert:
    """One of version 1 of a rule, by payer, as the projector reads it."""
    transactions = [
        {"transactionId": f"t-{number}-{index}", "eventTime": event_time, "value": "50.5"}
        for index in range(contributors)
    ]
    made: dict[str, Any] = {
        "alertId": str(uuid.UUID(int=number)),
        "ruleId": rule,
        "ruleVersion": 1,
        "ruleName": "Large sums",
        "definitionHash": "ab" * 32,
        "group": {"payeeId": str(group)},
        "transaction": {
            "transactionId": f"t-{number}-0",
            "eventTime": event_time,
            "payeeId": str(group),
            "beneficiaryId": None,
            "paymentAmount": "50.5",
            "paymentType": "CSH",
            "ingestionTimestamp": None,
        },
        "partial": False,
        "value": str(1001 + number % 997),
        "operator": ">",
        "limit": "1000",
        "windowStart": event_time - 60_000,
        "windowEnd": event_time,
        "contributors": {"count": contributors, "transactions": transactions, "truncated": False},
        "late": None,
        "warm": True,
        "mode": "live",
        "eventTime": event_time,
        "ingestedAt": event_time + 5,
        "detectedAt": event_time + 80,
    }
    record = Record("alerts.v1", 0, number, None, json.dumps(made).encode())
    read = read_record(record, _is_alert(), "transactionId")
    if not isinstance(read, ReceivedAlert):
        raise BenchFailed(f"an alert of this bench is none: {read.detail}")
    return read


def fresh() -> Iterator[ReceivedAlert]:
    """New ones without end."""
    for number in itertools.count(1):
        yield received(number, 1 + number % RULES, number % PAYEES, END + number, 3)
