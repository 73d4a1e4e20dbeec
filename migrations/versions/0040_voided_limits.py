"""An alert rests on what its relative limit was made of, too: a voided transaction in there marks it.

The index of all ids that an alert names has them already. Alerts whose limits rest on what was voided before this are
marked now, as new ones are from now on.
"""

from __future__ import annotations

from alembic import op

revision = "0040_voided_limits"
down_revision = "0039_webhooks"
branch_labels = None
depends_on = None

RESTS_ON = """
SET LOCAL ROLE tripline_owner;

CREATE OR REPLACE FUNCTION alerts.rests_on(content json, transaction_id text, event_time bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN EXISTS (
    SELECT FROM (SELECT content::jsonb AS alert OFFSET 0) read,
           LATERAL (SELECT jsonb_path_query(read.alert, 'lax $.contributors.transactions[*]')
                    UNION ALL
                    SELECT jsonb_path_query(read.alert, 'lax $.conditions[*].contributors.transactions[*]')
                    UNION ALL
                    SELECT jsonb_path_query(
                        read.alert, 'lax $.conditions[*].limitMeasure.contributors.transactions[*]')
                   ) AS every (listed)
     WHERE every.listed ->> 'transactionId' = transaction_id
       AND (every.listed ->> 'eventTime')::bigint = event_time
);
"""

# The lock is that of the triggers: what is stored or voided meanwhile waits, and is marked by them.
MARK = """
LOCK TABLE alerts.void_lock IN EXCLUSIVE MODE;

SELECT alerts.mark_voided(m.alert_id, m.command_id)
  FROM (SELECT a.alert_id, v.command_id
          FROM alerts.voided_transactions v
          JOIN alerts.alerts a
            ON alerts.named_transactions(a.content) @> ARRAY[v.transaction_id COLLATE "default"]
           AND alerts.rests_on(a.content, v.transaction_id, v.event_time)
         WHERE NOT EXISTS (SELECT FROM alerts.alert_events e
                            WHERE e.alert_id = a.alert_id AND e.command_id = v.command_id)
         ORDER BY a.alert_id, v.position) m;

RESET ROLE;
"""


def upgrade() -> None:
    """Look behind limits, and mark what that brings up."""
    op.execute(RESTS_ON)
    op.execute(MARK)


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
