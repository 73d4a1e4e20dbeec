"""The arms of a rollout, from the alerts that counted in each and the cases that these came to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, cast

import psycopg

from alert_api.domain.cases.work_events import Outcome
from alert_api.domain.performance.arms import ArmSums, RolloutSpan
from alert_api.service.alert_counts import Span
from alert_api.service.shadows.shadow_comparison import Arm, Arms

STILL: Final = (1 << 63) - 1
"""In ms: the end of what has not ended."""

# By when they were given, as the share counts from where it stands in the engine's order.
_SPANS = """
WITH span AS (
    SELECT * FROM unnest(%(percents)s::integer[], %(sinces)s::bigint[], %(untils)s::bigint[])
      AS span (percent, since, until)
)"""
LIST_ROLLOUTS = """
SELECT percent, since, coalesce(until, %s) FROM alerts.rollouts WHERE rule_id = %s AND version = %s ORDER BY since
"""
COUNT_ARMS = f"""{_SPANS}, given AS (
    SELECT rule_version = %(version)s AS is_trial, group_values, count(*) AS alerts,
           sum(CASE WHEN rule_version = %(version)s THEN 100 - percent ELSE percent END) AS weighted
      FROM alerts.alerts JOIN span ON detected_at >= since AND detected_at < until
     WHERE rule_id = %(rule_id)s AND event_time BETWEEN %(earliest)s AND %(latest)s
     GROUP BY 1, 2
)
SELECT is_trial, count(*), sum(alerts)::bigint, sum(weighted)::bigint, sum(weighted * weighted)::numeric(38)
  FROM given GROUP BY 1
"""  # noqa: S608 - constants

# As outcomes of versions are counted, with the alerts of an arm in place of those of a version.
JUDGE_ARMS = f"""{_SPANS}, resolved AS MATERIALIZED (
    SELECT case_id, outcome FROM alerts.cases
     WHERE state = 'resolved' AND resolved_at >= %(first)s AND rule_ids && ARRAY[%(rule_id)s::bigint]
), involved AS (
    SELECT DISTINCT r.case_id, r.outcome, a.is_trial
      FROM resolved r JOIN alerts.case_episodes l USING (case_id) JOIN alerts.episodes e USING (episode_id), LATERAL (
           SELECT DISTINCT x.rule_version = %(version)s AS is_trial
             FROM alerts.alerts x JOIN span ON x.detected_at >= since AND x.detected_at < until
            WHERE x.rule_id = e.rule_id
              AND jsonb_hash_extended(x.group_values, 0) = jsonb_hash_extended(e.group_text::jsonb, 0)
              AND x.group_values = e.group_text::jsonb
              AND x.event_time BETWEEN greatest(e.first, %(earliest)s) AND least(e.last, %(latest)s)) a
     WHERE e.rule_id = %(rule_id)s
)
SELECT is_trial, outcome, count(*) FROM involved GROUP BY 1, 2
"""  # noqa: S608 - constants

Connection = psycopg.Connection[Any]


def rollouts_of(connection: Connection, rule_id: int, version: int) -> list[RolloutSpan]:
    """All of a shadow's, ascending; `STILL` ends the one that lasts."""
    rows = connection.execute(LIST_ROLLOUTS, (STILL, rule_id, version)).fetchall()
    return [RolloutSpan(*row) for row in rows]


def arms_of(
    connection: Connection, rule_id: int, version: int, rollouts: Sequence[RolloutSpan], span: Span
) -> Arms | None:
    """What counted within the span; None where no rollout is in it."""
    spans = [
        RolloutSpan(one.percent, max(one.since, span.earliest), min(one.until, span.latest + 1))
        for one in rollouts
        if one.since <= span.latest and one.until > span.earliest
    ]
    if not spans:
        return None
    values = {
        "rule_id": rule_id,
        "version": version,
        "earliest": span.earliest,
        "latest": span.latest,
        "first": spans[0].since,
        "percents": [one.percent for one in spans],
        "sinces": [one.since for one in spans],
        "untils": [one.until for one in spans],
    }
    sums = {
        is_trial: ArmSums(groups, alerts, weighted, int(squares))
        for is_trial, groups, alerts, weighted, squares in connection.execute(COUNT_ARMS, values)
    }
    cases: dict[bool, dict[Outcome, int]] = {True: {}, False: {}}
    for is_trial, outcome, count in connection.execute(JUDGE_ARMS, values):
        cases[is_trial][cast("Outcome", outcome)] = count
    trial, active = (Arm(sums.get(is_trial, ArmSums()), cases[is_trial]) for is_trial in (True, False))
    return Arms(spans, trial, active)
