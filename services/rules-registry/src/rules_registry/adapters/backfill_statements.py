"""The SQL of backfills, named. They are read off the commands: a backfill has one START_BACKFILL and at most one
END_BACKFILL, because the log has one writer at a time."""

_BACKFILLS = """
SELECT s.command_id::text AS backfill_id, s.position, s.occurred_at AS started_at, s.actor AS started_by,
       t.position AS ended_position, t.occurred_at AS ended_at, t.actor AS ended_by,
       (t.body ->> 'completeFrom')::bigint AS complete_from
FROM registry.control_commands s
LEFT JOIN registry.rule_events t
       ON t.type = 'ControlCommand' AND t.body ->> 'command' = 'END_BACKFILL'
      AND t.body ->> 'backfillId' = s.command_id::text
WHERE s.command = 'START_BACKFILL'
"""

BACKFILL = f"{_BACKFILLS} AND s.command_id = %(backfill_id)s"

# Newest first: `after` is the position of the last one seen.
BACKFILLS = f"""{_BACKFILLS}
  AND (%(after)s = 0 OR s.position < %(after)s)
  AND (%(state)s::text IS NULL OR (t.position IS NULL) = (%(state)s = 'open'))
ORDER BY s.position DESC LIMIT %(limit)s
"""
