"""The query for the graph of a case: bounded by its newest episodes and their newest alerts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from alert_api.service.cases.case_graph import (
    MOST_ALERTS,
    MOST_EDGES,
    MOST_EPISODES,
    CaseGraph,
    Edge,
    Ends,
)

# A transaction that tripped several rules counts once, whatever each of its alerts leaves out: a partial one of a party
# has the entry's end in its group alone. The first row has the totals, whether there is an edge or not.
SELECT_GRAPH: Final = """
WITH newest AS (
  SELECT a.transaction, a.side, a.value
    FROM (SELECT e.* FROM alerts.case_episodes l JOIN alerts.episodes e USING (episode_id)
           WHERE l.case_id = %(case_id)s ORDER BY e.last DESC, e.episode_id DESC LIMIT %(episodes)s) e, LATERAL (
         SELECT x.event_time, x.alert_id, x.content -> 'transaction' AS transaction,
                x.content ->> 'side' AS side, x.group_values ->> %(party)s::text AS value
           FROM alerts.alerts x
          WHERE x.rule_id = e.rule_id
            AND jsonb_hash_extended(x.group_values, 0) = jsonb_hash_extended(e.group_text::jsonb, 0)
            AND x.group_values = e.group_text::jsonb
            AND x.event_time BETWEEN e.first AND e.last
          ORDER BY x.event_time DESC, x.alert_id LIMIT %(alerts)s) a
   ORDER BY a.event_time DESC, a.alert_id LIMIT %(alerts)s),
single AS (
  SELECT max(coalesce(transaction ->> %(source)s::text, CASE side WHEN %(source_side)s::text THEN value END)) AS source,
         max(coalesce(transaction ->> %(target)s::text, CASE side WHEN %(target_side)s::text THEN value END)) AS target,
         max((transaction ->> %(measure)s::text)::numeric) AS amount,
         max((transaction ->> %(time)s::text)::bigint) AS time
    FROM newest GROUP BY transaction ->> %(id)s::text),
edges AS (
  SELECT source, target, count(*) AS transactions, sum(amount)::text AS total, max(time) AS last
    FROM single WHERE source IS NOT NULL AND target IS NOT NULL GROUP BY source, target),
shown AS (
  SELECT * FROM edges ORDER BY transactions DESC, last DESC, source, target LIMIT %(edges)s)
SELECT t.*, s.* FROM (
  SELECT (SELECT count(*) FROM newest), (SELECT count(*) FROM single),
         (SELECT coalesce(sum(transactions), 0)::bigint FROM edges), (SELECT count(*) FROM edges)) t
  LEFT JOIN shown s ON true ORDER BY s.transactions DESC, s.last DESC, s.source, s.target
"""


def graph_values(case_id: int, ends: Ends) -> dict[str, Any]:
    """The values of the query."""
    party = ends.party
    return {
        "case_id": case_id,
        "source": ends.source,
        "target": ends.target,
        "measure": ends.measure,
        "id": ends.identity,
        "time": ends.time,
        "party": party and party.name,
        "source_side": party and party.source,
        "target_side": party and party.target,
        "episodes": MOST_EPISODES,
        "alerts": MOST_ALERTS,
        "edges": MOST_EDGES,
    }


def case_graph(rows: Sequence[tuple[Any, ...]]) -> CaseGraph:
    """What the rows say."""
    alerts, transactions, with_both, edge_count = rows[0][:4]
    edges = [Edge(*row[4:]) for row in rows if row[4] is not None]
    return CaseGraph(edges, alerts, transactions, with_both, edge_count)
