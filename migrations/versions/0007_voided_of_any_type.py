"""Alerts of any event type are found by the transaction that triggered them.

What an event type calls its id and its time, an alert's ``transaction`` calls so too, and the database knows no types:
the projector tells the id. (The time is the alert's own.) Contributors have the same names whatever the type.

Null is the id of alerts that a projector of before stores while it is still running; they are marked by their
contributors alone.
"""

from __future__ import annotations

from alembic import op

revision = "0007_voided_of_any_type"
down_revision = "0006_voided_transactions"
branch_labels = None
depends_on = None

# Taken for nothing else (migration 0006).
LOCK = 7_411_004

# Before this there was one event type, whose id has the name that contributors give it.
TABLES = """
ALTER TABLE alerts.alerts ADD COLUMN transaction_id text COLLATE "C";
UPDATE alerts.alerts SET transaction_id = content #>> '{transaction,transactionId}';
CREATE INDEX alerts_triggered_by ON alerts.alerts (transaction_id);
"""

MARKING = f"""
CREATE OR REPLACE FUNCTION alerts.rests_on(content json, transaction_id text, event_time bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN EXISTS (
    SELECT FROM (SELECT content::jsonb AS alert OFFSET 0) read,
           LATERAL (SELECT jsonb_path_query(read.alert, 'lax $.contributors.transactions[*]')
                    UNION ALL
                    SELECT jsonb_path_query(read.alert, 'lax $.conditions[*].contributors.transactions[*]')
                   ) AS every (listed)
     WHERE every.listed ->> 'transactionId' = transaction_id
       AND (every.listed ->> 'eventTime')::bigint = event_time
);

CREATE OR REPLACE FUNCTION alerts.mark_alerts_of_voided() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    PERFORM pg_advisory_xact_lock({LOCK});
    -- In order of id: two that mark the same alerts wait for each other, and never in a circle.
    PERFORM alerts.mark_voided(a.alert_id, NEW.command_id)
       FROM (SELECT alert_id FROM alerts.alerts
              WHERE transaction_id = NEW.transaction_id AND event_time = NEW.event_time
              UNION
             SELECT alert_id FROM alerts.alerts
              -- the index has the collation of what the function returns, a column that of its own
              WHERE alerts.named_transactions(content) @> ARRAY[NEW.transaction_id COLLATE "default"]
                AND alerts.rests_on(content, NEW.transaction_id, NEW.event_time)
              ORDER BY alert_id) a;
    RETURN NULL;
END
$$;

-- Each id is looked up once, however many were voided: an alert names some hundred, operators may void thousands.
CREATE OR REPLACE FUNCTION alerts.mark_stored_alerts() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared({LOCK});
    IF EXISTS (SELECT FROM alerts.voided_transactions) THEN
        PERFORM alerts.mark_voided(f.alert_id, f.command_id)
           FROM (SELECT s.alert_id, v.command_id, v.position
                   FROM stored s
                   JOIN alerts.voided_transactions v
                     ON v.transaction_id = s.transaction_id AND v.event_time = s.event_time
                  UNION
                 SELECT s.alert_id, v.command_id, v.position
                   FROM stored s,
                        LATERAL (SELECT DISTINCT unnest(alerts.named_transactions(s.content)) COLLATE "C" AS id) named
                   JOIN alerts.voided_transactions v ON v.transaction_id = named.id
                  WHERE alerts.rests_on(s.content, v.transaction_id, v.event_time)
                  ORDER BY alert_id, position) f;
    END IF;
    RETURN NULL;
END
$$;
"""

GRANTS = """
GRANT INSERT (transaction_id) ON alerts.alerts TO tripline_alert_projector;
"""


def upgrade() -> None:
    """Add the column, and let the triggers use it."""
    for statements in (TABLES, MARKING, GRANTS):
        op.execute(statements)


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
