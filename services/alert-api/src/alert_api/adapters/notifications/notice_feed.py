"""The notices behind a position, from the log and what it adds up to, in its order."""

from __future__ import annotations

import json
from typing import Any, Final, LiteralString

import psycopg

from alert_api.domain.cases.due import worst
from alert_api.domain.notifications.case_notice import CaseNotice, CaseSummary

# Nothing beyond the cursor: what is not folded yet has no case. An episode that opens a case, or reopens it, does not
# join it as well; one that goes on in a later case began before that was there. One position may be of two cases, so
# ties are taken in whole.
SELECT_NOTICES: Final[LiteralString] = """
WITH folded AS (SELECT position FROM alerts.case_cursor),
happened AS (
    (SELECT o.position, CASE o.version WHEN 1 THEN 'CaseOpened' ELSE 'CaseReopened' END AS type, o.case_id, o.version,
            o.occurred_at, NULL AS actor, NULL AS comment, NULL AS assignee, NULL AS outcome, NULL::bigint AS rule_id
       FROM alerts.case_openings o, folded
      WHERE o.position > %(after)s AND o.position <= folded.position
      ORDER BY o.position LIMIT %(limit)s)
    UNION ALL
    (SELECT w.position, w.type, w.case_id, w.version, w.occurred_at, w.actor, w.comment, w.assignee, w.outcome, NULL
       FROM alerts.case_events w, folded
      WHERE w.position > %(after)s AND w.position <= folded.position
        AND w.type IN ('CaseAcknowledged', 'CaseAssigned', 'CaseResolved', 'CaseReopened', 'CaseCommented')
      ORDER BY w.position LIMIT %(limit)s)
    UNION ALL
    (SELECT l.episode_id, 'CaseEpisodeJoined', l.case_id, NULL, a.occurred_at, NULL, NULL, NULL, NULL, e.rule_id
       FROM alerts.case_episodes l JOIN alerts.episodes e USING (episode_id)
       JOIN alerts.alert_events a ON a.position = l.episode_id, folded
      WHERE l.episode_id > %(after)s AND l.episode_id <= folded.position AND l.episode_id > l.case_id
        AND NOT EXISTS (SELECT FROM alerts.case_openings o
                         WHERE o.case_id = l.case_id AND o.position = l.episode_id)
      ORDER BY l.episode_id FETCH FIRST %(limit)s ROWS WITH TIES)
)
SELECT h.*, c.subject, c.state, c.version, c.rule_ids, c.count, c.first, c.last,
       ARRAY(SELECT s.severity FROM alerts.rule_severities s WHERE s.rule_id = ANY (c.rule_ids))
  FROM happened h JOIN alerts.cases c USING (case_id)
 ORDER BY h.position FETCH FIRST %(limit)s ROWS WITH TIES
"""


def notices_after(cursor: psycopg.Cursor[Any], after: int, limit: int) -> list[CaseNotice]:
    """The first ``limit`` notices behind the position ``after``, and those at the position of the last."""
    rows = cursor.execute(SELECT_NOTICES, {"after": after, "limit": limit}).fetchall()
    return [_notice(row) for row in rows]


def _notice(row: tuple[Any, ...]) -> CaseNotice:
    happened, (subject, state, version, rule_ids, count, first, last, severities) = row[:10], row[10:]
    # In the order of the columns; the position comes first there as here, the case's id third.
    position, kind, case_id, case_version, occurred_at, actor, comment, assignee, outcome, rule_id = happened
    return CaseNotice(
        position=position,
        type=kind,
        case_id=case_id,
        version=case_version,
        occurred_at=occurred_at,
        actor=actor,
        comment=comment,
        assignee=assignee,
        outcome=outcome,
        rule_id=rule_id,
        subject=json.loads(subject),
        case=CaseSummary(state, version, tuple(rule_ids), count, first, last, worst(severities)),
    )
