"""Voided transactions, and the alerts that rest on them.

``alerts.voided_transactions`` is a projection of the VOID_TRANSACTION commands in rules.v1. The projector appends to it
and may do nothing else with it. What follows is the owner's work, in triggers, as with acknowledgements: an alert that
was triggered by a voided transaction, or lists it, gets an ``AlertVoided`` event and ``voided``, whichever of the two
came first. No service holds a right to mark an alert or to take a mark back.

Command and alert can be stored at the same moment, in transactions that don't see each other. So who stores alerts
holds a lock that is shared, who stores a command holds it alone, both until they commit: the second one sees the first.
"""

from __future__ import annotations

from alembic import op

revision = "0006_voided_transactions"
down_revision = "0005_lists_and_parameters"
branch_labels = None
depends_on = None

# Taken for nothing else; 7_411_001 to 7_411_003 are those of migrations, registry and relay.
LOCK = 7_411_004

TABLES = """
CREATE TABLE alerts.voided_transactions (
    command_id     uuid PRIMARY KEY,
    position       bigint NOT NULL,            -- in rules.v1
    occurred_at    bigint NOT NULL,            -- ms since the epoch
    actor          text NOT NULL,
    transaction_id text COLLATE "C" NOT NULL,
    event_time     bigint NOT NULL             -- ms since the epoch
);
CREATE INDEX voided_transactions_by_id ON alerts.voided_transactions (transaction_id);

ALTER TABLE alerts.alerts ADD COLUMN voided boolean NOT NULL DEFAULT false;
CREATE INDEX alerts_newest_voided ON alerts.alerts (event_time DESC, alert_id) WHERE voided;

-- An alert may have any number of AlertVoided, before and after its one acknowledgement.
ALTER TABLE alerts.alert_events
    DROP CONSTRAINT alert_events_check,
    ADD COLUMN command_id uuid REFERENCES alerts.voided_transactions,
    ADD CONSTRAINT alert_events_of_a_type CHECK (
        (type = 'AlertRaised' AND version = 1 AND actor IS NULL AND comment IS NULL AND command_id IS NULL)
        OR (type = 'AlertAcknowledged' AND version > 1 AND actor IS NOT NULL AND command_id IS NULL)
        OR (type = 'AlertVoided' AND version > 1 AND actor IS NOT NULL AND comment IS NULL AND command_id IS NOT NULL)
    );
CREATE UNIQUE INDEX alert_events_acknowledged_once ON alerts.alert_events (alert_id)
    WHERE type = 'AlertAcknowledged';
CREATE UNIQUE INDEX alert_events_voided_once ON alerts.alert_events (alert_id, command_id)
    WHERE type = 'AlertVoided';
"""

# What an alert lists is in its content, of a chained rule with each condition: nothing is stored twice for this. The
# index finds ids, of whatever time; it is written with every alert, so it is no dearer than it has to be.
LISTED = """
CREATE FUNCTION alerts.named_transactions(content json) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN (
    SELECT array_agg((found.id #>> '{}') COLLATE "C")
      FROM jsonb_path_query(content::jsonb, 'strict $.**.transactionId') AS found (id)
);

CREATE FUNCTION alerts.rests_on(content json, transaction_id text, event_time bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN EXISTS (
    SELECT FROM (SELECT content::jsonb AS alert OFFSET 0) read,
           LATERAL (SELECT read.alert -> 'transaction'
                    UNION ALL
                    SELECT jsonb_path_query(read.alert, 'lax $.contributors.transactions[*]')
                    UNION ALL
                    SELECT jsonb_path_query(read.alert, 'lax $.conditions[*].contributors.transactions[*]')
                   ) AS every (listed)
     WHERE every.listed ->> 'transactionId' = transaction_id
       AND (every.listed ->> 'eventTime')::bigint = event_time
);

CREATE INDEX alerts_named_transactions ON alerts.alerts USING gin (alerts.named_transactions(content));
"""

MARKING = f"""
-- The event that follows on those that the alert has; whoever appends at the same moment comes before or after.
CREATE FUNCTION alerts.mark_voided(marked uuid, command uuid) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    LOOP
        INSERT INTO alerts.alert_events (alert_id, version, type, occurred_at, actor, command_id)
        SELECT marked, (SELECT max(e.version) + 1 FROM alerts.alert_events e WHERE e.alert_id = marked),
               'AlertVoided', v.occurred_at, v.actor, v.command_id
          FROM alerts.voided_transactions v WHERE v.command_id = command
        ON CONFLICT (alert_id, version) DO NOTHING;
        EXIT WHEN FOUND;
    END LOOP;
    UPDATE alerts.alerts SET voided = true WHERE alert_id = marked AND NOT voided;
END
$$;

CREATE FUNCTION alerts.mark_alerts_of_voided() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    PERFORM pg_advisory_xact_lock({LOCK});
    -- In order of id: two that mark the same alerts wait for each other, and never in a circle.
    PERFORM alerts.mark_voided(a.alert_id, NEW.command_id)
       FROM (SELECT alert_id FROM alerts.alerts
              -- the index has the collation of what the function returns, a column that of its own
              WHERE alerts.named_transactions(content) @> ARRAY[NEW.transaction_id COLLATE "default"]
                AND alerts.rests_on(content, NEW.transaction_id, NEW.event_time)
              ORDER BY alert_id) a;
    RETURN NULL;
END
$$;

CREATE FUNCTION alerts.mark_stored_alerts() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared({LOCK});
    IF EXISTS (SELECT FROM alerts.voided_transactions) THEN
        PERFORM alerts.mark_voided(f.alert_id, f.command_id)
           FROM (SELECT stored.alert_id, v.command_id
                   FROM stored
                   JOIN alerts.voided_transactions v
                     ON v.transaction_id = ANY (alerts.named_transactions(stored.content))
                  WHERE alerts.rests_on(stored.content, v.transaction_id, v.event_time)
                  ORDER BY stored.alert_id, v.position) f;
    END IF;
    RETURN NULL;
END
$$;

REVOKE ALL ON FUNCTION alerts.mark_voided(uuid, uuid), alerts.mark_alerts_of_voided(), alerts.mark_stored_alerts()
    FROM PUBLIC;

CREATE TRIGGER mark_alerts_of_voided AFTER INSERT ON alerts.voided_transactions
    FOR EACH ROW EXECUTE FUNCTION alerts.mark_alerts_of_voided();
CREATE TRIGGER mark_stored_alerts AFTER INSERT ON alerts.alerts
    REFERENCING NEW TABLE AS stored
    FOR EACH STATEMENT EXECUTE FUNCTION alerts.mark_stored_alerts();
"""

GRANTS = """
GRANT INSERT ON alerts.voided_transactions TO tripline_alert_projector;
GRANT SELECT ON alerts.voided_transactions TO tripline_alert_api;
"""


def upgrade() -> None:
    """Create table, index, triggers and grants."""
    for statements in (TABLES, LISTED, MARKING, GRANTS):
        op.execute(statements)


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
