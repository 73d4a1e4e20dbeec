"""The alerts schema: alerts as the engine sent them, and what happened to each.

Who may write what is the point of this schema, so it is said in grants and not only in code:

* ``alerts.alerts`` holds an alert's content. The projector may insert content columns and update nothing.
* ``alerts.alert_events`` is the append-only lifecycle and the truth about acknowledgements. Row security lets
  the projector append ``AlertRaised`` and the API append ``AlertAcknowledged``, and neither anything else.
* The ``acknowledged_*`` columns are a projection of that log for filters. A trigger that runs as the schema's
  owner writes them: no service holds a right to change them, no acknowledgement can be taken back or moved.
"""

from __future__ import annotations

from alembic import op

revision = "0002_alerts"
down_revision = "0001_registry"
branch_labels = None
depends_on = None

ROLES = """
DO $$
DECLARE
    wanted text;
BEGIN
    FOREACH wanted IN ARRAY ARRAY['tripline_alert_projector', 'tripline_alert_api'] LOOP
        BEGIN
            EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
        EXCEPTION WHEN duplicate_object OR unique_violation THEN
            NULL;  -- roles belong to the cluster: another database may have made them
        END;
    END LOOP;
END
$$
"""

TABLES = """
CREATE SCHEMA alerts;

CREATE TABLE alerts.alerts (
    alert_id                uuid PRIMARY KEY,
    rule_id                 bigint NOT NULL,
    rule_version            bigint NOT NULL,
    group_values            jsonb NOT NULL CHECK (jsonb_typeof(group_values) = 'object'),
    event_time              bigint NOT NULL,   -- ms since the epoch
    detected_at             bigint NOT NULL,   -- ms since the epoch
    content                 json NOT NULL,     -- the record's text as it came: json, not jsonb, keeps it so
    stored_at               timestamptz NOT NULL DEFAULT now(),
    acknowledged_by         text,
    acknowledged_at         bigint,            -- ms since the epoch
    acknowledgement_comment text,
    CHECK ((acknowledged_by IS NULL) = (acknowledged_at IS NULL))
);
CREATE INDEX alerts_newest ON alerts.alerts (event_time DESC, alert_id);
CREATE INDEX alerts_newest_open ON alerts.alerts (event_time DESC, alert_id) WHERE acknowledged_at IS NULL;
CREATE INDEX alerts_newest_of_rule ON alerts.alerts (rule_id, event_time DESC, alert_id);
CREATE INDEX alerts_group ON alerts.alerts USING gin (group_values jsonb_path_ops);

-- written_in lets a reader that tails by position skip rows whose neighbours have not committed yet:
-- it reads up to pg_snapshot_xmin(pg_current_snapshot()), as numbers are drawn before commits are ordered.
CREATE TABLE alerts.alert_events (
    alert_id    uuid NOT NULL REFERENCES alerts.alerts,
    version     integer NOT NULL,
    position    bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    written_in  xid8 NOT NULL DEFAULT pg_current_xact_id(),
    type        text NOT NULL,
    occurred_at bigint NOT NULL,               -- ms since the epoch
    actor       text,
    comment     text CHECK (length(comment) <= 2000),
    PRIMARY KEY (alert_id, version),
    CHECK (
        (type = 'AlertRaised' AND version = 1 AND actor IS NULL AND comment IS NULL)
        OR (type = 'AlertAcknowledged' AND version = 2 AND actor IS NOT NULL)
    )
);

-- "offset" and "partition" are words of SQL, hence the prefix.
CREATE TABLE alerts.unreadable_records (
    kafka_topic     text NOT NULL,
    kafka_partition integer NOT NULL,
    kafka_offset    bigint NOT NULL,
    reason          text NOT NULL,
    detail          text NOT NULL,
    record_key      bytea,
    record_value    bytea,                     -- the first 512 KiB; null for a record without a value
    value_length    bigint NOT NULL,
    value_sha256    text NOT NULL,
    stored_at       timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (kafka_topic, kafka_partition, kafka_offset)
);
"""

ACKNOWLEDGEMENT = """
CREATE FUNCTION alerts.project_acknowledgement() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    UPDATE alerts.alerts
       SET acknowledged_by = NEW.actor,
           acknowledged_at = NEW.occurred_at,
           acknowledgement_comment = NEW.comment
     WHERE alert_id = NEW.alert_id;
    RETURN NULL;
END
$$;
REVOKE ALL ON FUNCTION alerts.project_acknowledgement() FROM PUBLIC;

CREATE TRIGGER project_acknowledgement AFTER INSERT ON alerts.alert_events
    FOR EACH ROW WHEN (NEW.type = 'AlertAcknowledged')
    EXECUTE FUNCTION alerts.project_acknowledgement();
"""

GRANTS = """
GRANT USAGE ON SCHEMA alerts TO tripline_alert_projector, tripline_alert_api;

GRANT INSERT (alert_id, rule_id, rule_version, group_values, event_time, detected_at, content)
    ON alerts.alerts TO tripline_alert_projector;
GRANT SELECT (alert_id, detected_at) ON alerts.alerts TO tripline_alert_projector;
GRANT INSERT (alert_id, version, type, occurred_at) ON alerts.alert_events TO tripline_alert_projector;
GRANT INSERT (kafka_topic, kafka_partition, kafka_offset, reason, detail, record_key, record_value,
              value_length, value_sha256) ON alerts.unreadable_records TO tripline_alert_projector;

GRANT SELECT ON alerts.alerts, alerts.alert_events TO tripline_alert_api;
GRANT INSERT (alert_id, version, type, occurred_at, actor, comment)
    ON alerts.alert_events TO tripline_alert_api;

ALTER TABLE alerts.alert_events ENABLE ROW LEVEL SECURITY;
CREATE POLICY projector_appends_raised ON alerts.alert_events FOR INSERT TO tripline_alert_projector
    WITH CHECK (type = 'AlertRaised');
CREATE POLICY api_reads ON alerts.alert_events FOR SELECT TO tripline_alert_api USING (true);
CREATE POLICY api_appends_acknowledged ON alerts.alert_events FOR INSERT TO tripline_alert_api
    WITH CHECK (type = 'AlertAcknowledged');
"""


def upgrade() -> None:
    """Create schema, trigger, grants and row security."""
    for statements in (ROLES, TABLES, ACKNOWLEDGEMENT, GRANTS):
        op.execute(statements)


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
