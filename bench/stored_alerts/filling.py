"""A database of alerts as the projector would have stored them: many, over a month, with the work that people did.

Two rules in ten look at other than the payee: at payee and beneficiary, and at the type of payment, of which there are
five, so a group of these has tens of thousands of alerts. One payee, too, has one alert in a hundred.
"""

from __future__ import annotations

import itertools
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import psycopg
from psycopg.types.json import Jsonb

from bench.stored_alerts import indexes
from bench.stored_alerts.fresh_alerts import END, MONTH_MS, PAYEES, POLICY, RULES

SEVERITIES: Final = ("critical", "high", "medium", "low")
ASSIGNEES: Final = 20
HEAVY_PAYEE: Final = 7
TYPES: Final = ("CSH", "CRD", "TRF", "DDT", "CHQ")

_AT_ONCE: Final = 100_000
_WORKERS: Final = 2
_NUMBER: Final = "%n"
_OBJECT: Final = "%o"
_CONTENT = json.dumps(
    {
        "alertId": "%s", "ruleId": _NUMBER, "ruleVersion": 1, "ruleName": "rule %s of the bench",
        "definitionHash": "ab" * 32,
        "group": _OBJECT,
        "transaction": {
            "transactionId": "%s", "eventTime": _NUMBER, "payeeId": "%s", "beneficiaryId": "%s",
            "paymentAmount": "%s", "paymentType": "%s", "ingestionTimestamp": None,
        },
        "partial": False, "value": "1000.01", "operator": ">", "limit": "1000", "windowStart": 1, "windowEnd": 2,
        "contributors": {
            "count": 3, "truncated": False,
            "transactions": [{"transactionId": "%s", "eventTime": 1, "value": "333.33"} for _ in range(3)],
        },
        "late": None, "warm": True, "mode": "live", "eventTime": _NUMBER, "ingestedAt": 3, "detectedAt": 4,
    }
)  # fmt: skip
for _bare in (_NUMBER, _OBJECT):
    _CONTENT = _CONTENT.replace(json.dumps(_bare), "%s")
# Numbers are drawn from the row's own, so that a run is like the one before it. Amounts go from 1 to 100,000, the
# larger the rarer.
_FILL: Final = """
INSERT INTO alerts.alerts (alert_id, rule_id, rule_version, group_values, event_time, detected_at, transaction_id,
                           amount, voided, content, acknowledged_by, acknowledged_at)
SELECT id, rule, 1, "group", at, at + 80, 'b-' || n, amount, n %% 101 = 0,
       format(%(content)s, id, rule, rule, "group", 'b-' || n, at, payee, beneficiary, amount, kind,
              'b-' || n, 'b-' || (n - 1), 'b-' || (n - 2), at)::json,
       CASE WHEN n %% 3 = 0 THEN 'ada' END, CASE WHEN n %% 3 = 0 THEN at + 1000 END
  FROM (SELECT *, CASE WHEN rule %% 10 = 9 THEN jsonb_build_object('payeeId', payee, 'beneficiaryId', beneficiary)
                       WHEN rule %% 10 = 0 THEN jsonb_build_object('paymentType', kind)
                       ELSE jsonb_build_object('payeeId', payee) END AS "group"
          FROM (SELECT n, md5('bench' || n)::uuid AS id, 1 + abs(hashint8(n)) %% %(rules)s AS rule,
                       (CASE WHEN n %% 100 = 0 THEN %(heavy)s
                             ELSE abs(hashint8(n * 7)) %% %(payees)s END)::text AS payee,
                       (abs(hashint8(n * 11)) %% 10)::text AS beneficiary,
                       (%(types)s::text[])[1 + abs(hashint8(n * 13)) %% 5] AS kind,
                       round(exp(11.5 * (abs(hashint8(n * 17)) %% 100000) / 100000.0), 2) AS amount,
                       %(end)s - (%(total)s - n) * %(month)s / %(total)s AS at
                  FROM generate_series(%(first)s::bigint, %(last)s::bigint) AS n) drawn) made
"""
_EVENTS: Final = """
INSERT INTO alerts.alert_events (alert_id, version, type, occurred_at)
SELECT alert_id, 1, 'AlertRaised', detected_at FROM alerts.alerts
"""
_COUNTS: Final = """
INSERT INTO alerts.alert_counts (rule_id, rule_version, hour, open_count, acknowledged_count)
SELECT rule_id, rule_version, event_time / 3600000, count(*) FILTER (WHERE acknowledged_at IS NULL),
       count(acknowledged_at)
  FROM alerts.alerts GROUP BY 1, 2, 3
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

# As if the projector had folded them: an episode for each rule and group, a case for each payee, else for each rule
# and group; a quarter unresolved, one in ten of these in somebody's hands.
_WORK: Final = (
    """
INSERT INTO alerts.episodes (episode_id, rule_id, group_key, group_text, first, last, until, count)
SELECT episode_id, rule_id, encode(sha256(convert_to(text, 'UTF8')), 'hex'), text, first, last, last + 1, count
  FROM (SELECT min(e.position) AS episode_id, a.rule_id,
               CASE WHEN group_values ? 'beneficiaryId'
                    THEN format('{"beneficiaryId":"%%s","payeeId":"%%s"}', group_values ->> 'beneficiaryId',
                                group_values ->> 'payeeId')
                    ELSE replace(group_values::text, ': ', ':') END AS text,
               min(event_time) AS first, max(event_time) AS last, count(*) AS count
          FROM alerts.alerts a JOIN alerts.alert_events e USING (alert_id)
         WHERE e.version = 1 GROUP BY rule_id, group_values) series
""",
    """
INSERT INTO alerts.cases (case_id, subject_key, subject, state, version, count, first, last, rule_ids, opened_at,
                          changed_at, active_since, active_at, assignee, outcome, resolved_by, resolved_at)
SELECT case_id, encode(sha256(convert_to(text, 'UTF8')), 'hex'), text,
       CASE WHEN case_number %% 4 > 0 THEN 'resolved' WHEN case_number %% 40 = 0 THEN 'assigned' ELSE 'open' END,
       1, count, first, last, rule_ids, first + 80, last + 80, case_id, first + 80,
       CASE WHEN case_number %% 40 = 0 THEN 'analyst-' || case_number / 40 %% %(assignees)s END,
       CASE WHEN case_number %% 4 = 0 THEN NULL
            WHEN case_number %% 100 = 1 THEN 'inconclusive'
            WHEN case_number %% 10 = 1 THEN 'confirmed_fraud'
            WHEN case_number %% 10 = 3 THEN 'known_accepted'
            ELSE 'false_positive' END,
       CASE WHEN case_number %% 4 > 0 THEN 'ada' END, CASE WHEN case_number %% 4 > 0 THEN last + 5000 END
  FROM (SELECT *, row_number() OVER (ORDER BY case_id) AS case_number
          FROM (SELECT min(episode_id) AS case_id, sum(count) AS count, min(first) AS first, max(last) AS last, text,
                       array_agg(DISTINCT rule_id ORDER BY rule_id) AS rule_ids
                  FROM bench_subjects GROUP BY text) subject) numbered
""",
    """
INSERT INTO alerts.case_episodes (case_id, episode_id)
SELECT case_id, episode_id FROM alerts.cases JOIN bench_subjects ON text = subject
""",
    "INSERT INTO alerts.case_openings SELECT case_id, 1, case_id, opened_at FROM alerts.cases",
    "INSERT INTO alerts.case_events (position, type, occurred_at, policy) VALUES (0, 'CasePolicySet', 1, %(policy)s)",
    "UPDATE alerts.case_cursor SET policy = %(policy)s, position = (SELECT max(position) FROM alerts.alert_events)",
    """
INSERT INTO alerts.snoozed_alerts (alert_id, snooze_id, event_time)
SELECT alert_id, 1, event_time FROM alerts.alerts WHERE right(transaction_id, 2) = '77'
""",
)
_SUBJECTS: Final = """
CREATE TEMP TABLE bench_subjects AS
SELECT *, CASE WHEN group_text::json ->> 'payeeId' IS NULL THEN format('{"group":%s,"ruleId":%s}', group_text, rule_id)
               ELSE format('{"field":"payeeId","value":"%s"}', group_text::json ->> 'payeeId') END AS text
  FROM alerts.episodes
"""

_PUBLISH: Final = (
    """
INSERT INTO registry.rule_events (position, event_id, type, rule_id, version, occurred_at, actor, body)
SELECT n, gen_random_uuid(), 'RulePublished', n, 1, 1, 'bench', jsonb_build_object('type', 'RulePublished')
  FROM generate_series(1, %(rules)s) AS n
""",
    # Their severities are wanted, and not their definitions.
    "SET session_replication_role = replica",
    """
INSERT INTO registry.rule_purposes (rule_id, version, severity, tags)
SELECT n, 1, (%(severities)s::text[])[1 + n %% 4], '{}' FROM generate_series(1, %(rules)s) AS n
""",
    "RESET session_replication_role",
)


def fill(owner: str, total: int) -> None:
    """So many alerts of RULES rules and PAYEES payees; `owner` is the superuser's DSN of a database without alerts."""
    with psycopg.connect(owner, autocommit=True) as connection:
        with indexes.put_off(connection):
            starts = list(range(1, total + 1, _AT_ONCE))
            with ThreadPoolExecutor(_WORKERS) as workers:
                list(workers.map(_insert, itertools.repeat(owner), itertools.repeat(total), starts))
            connection.execute(_COUNTS)
        connection.execute(_EVENTS)
        connection.execute("VACUUM ANALYZE alerts.alert_events")
        values = {"policy": Jsonb(POLICY.to_json()), "assignees": ASSIGNEES}
        for statement in (_WORK[0], _SUBJECTS, *_WORK[1:]):
            connection.execute(statement, None if statement is _SUBJECTS else values)
        for statement in _PUBLISH:
            connection.execute(statement, {"rules": RULES, "severities": list(SEVERITIES)})
        connection.execute("VACUUM ANALYZE")


def _insert(owner: str, total: int, first: int) -> None:
    values = {
        "content": _CONTENT, "rules": RULES, "payees": PAYEES, "heavy": HEAVY_PAYEE, "types": list(TYPES), "end": END,
        "month": MONTH_MS, "total": total, "first": first, "last": min(total, first + _AT_ONCE - 1),
    }  # fmt: skip
    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute(_FILL, values)


def partition(owner: str) -> int:
    """Months around what `fill` makes, of a database without alerts; gives the number of partitions."""
    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute(_MONTHS.format(begin=END - _YEAR_MS).encode())
        [(count,)] = connection.execute("SELECT count(*) FROM alerts.alert_partitions").fetchall()
    return int(count)
