"""Records of the event topic that the engine did not accept, and what people decided about each: once, by one person.

The engine's word and the people's are tables of their own: who brings in the one cannot write the other. A decision to
send a record again is the outbox as well; where it went is written when the broker has confirmed it.
"""

from __future__ import annotations

from alembic import op

revision = "0024_rejected_records"
down_revision = "0023_console_sessions"
branch_labels = None
depends_on = None

ROLE = """
DO $$
BEGIN
    BEGIN
        CREATE ROLE tripline_alert_redrive NOLOGIN;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN
        NULL;  -- roles belong to the cluster: another database may have made it
    END;
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO tripline_alert_redrive', current_database());
END
$$;
"""

# Times are ms since the epoch, but for stored_at. The place is that of the record that was not accepted.
TABLES = """
SET LOCAL ROLE tripline_owner;

CREATE TABLE alerts.rejected_records (
    kafka_topic     text NOT NULL,
    kafka_partition integer NOT NULL CHECK (kafka_partition >= 0),
    kafka_offset    bigint NOT NULL CHECK (kafka_offset >= 0),
    reason          text NOT NULL CHECK (length(reason) BETWEEN 1 AND 64),
    detail          text NOT NULL CHECK (length(detail) <= 2000),
    value_length    bigint NOT NULL CHECK (value_length >= 0),
    value_sha256    text NOT NULL CHECK (value_sha256 ~ '^[0-9a-f]{64}$'),
    record_value    bytea CHECK (octet_length(record_value) <= 524288),   -- the beginning of a longer one
    rejected_at     bigint NOT NULL,
    stored_at       timestamptz NOT NULL DEFAULT now(),
    state           text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'queued', 'sent', 'discarded')),
    PRIMARY KEY (kafka_topic, kafka_partition, kafka_offset)
);
CREATE INDEX rejected_records_newest
    ON alerts.rejected_records (rejected_at DESC, kafka_partition, kafka_offset);
CREATE INDEX rejected_records_newest_in_state
    ON alerts.rejected_records (state, rejected_at DESC, kafka_partition, kafka_offset);
CREATE INDEX rejected_records_by_reason ON alerts.rejected_records (reason, state, rejected_at);
CREATE INDEX rejected_records_oldest
    ON alerts.rejected_records (stored_at, kafka_topic, kafka_partition, kafka_offset);

-- One of a record: its key decides between two people.
CREATE TABLE alerts.rejected_record_decisions (
    kafka_topic     text NOT NULL,
    kafka_partition integer NOT NULL,
    kafka_offset    bigint NOT NULL,
    position        bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    kind            text NOT NULL CHECK (kind IN ('sendAgain', 'discard')),
    actor           text NOT NULL CHECK (length(actor) BETWEEN 1 AND 64),
    reason          text NOT NULL CHECK (length(reason) BETWEEN 1 AND 2000),
    decided_at      bigint NOT NULL,
    sent_value      bytea CHECK (octet_length(sent_value) BETWEEN 1 AND 524288),
    backfill_id     uuid,
    PRIMARY KEY (kafka_topic, kafka_partition, kafka_offset),
    FOREIGN KEY (kafka_topic, kafka_partition, kafka_offset) REFERENCES alerts.rejected_records ON DELETE CASCADE,
    CHECK ((kind = 'sendAgain') = (sent_value IS NOT NULL)),
    CHECK (kind = 'sendAgain' OR backfill_id IS NULL)
);

CREATE TABLE alerts.rejected_record_deliveries (
    position        bigint PRIMARY KEY REFERENCES alerts.rejected_record_decisions (position) ON DELETE CASCADE,
    kafka_partition integer NOT NULL CHECK (kafka_partition >= 0),
    kafka_offset    bigint NOT NULL CHECK (kafka_offset >= 0),
    delivered_at    bigint NOT NULL
);
CREATE INDEX rejected_record_deliveries_by_place
    ON alerts.rejected_record_deliveries (kafka_partition, kafka_offset);

CREATE VIEW alerts.rejected_sizes AS
SELECT kafka_topic, kafka_partition, kafka_offset, stored_at,
       coalesce(octet_length(record_value), 0) + octet_length(detail) AS kept_bytes
  FROM alerts.rejected_records;
"""

STATE = """
CREATE FUNCTION alerts.project_rejected_decision() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    UPDATE alerts.rejected_records
       SET state = CASE NEW.kind WHEN 'discard' THEN 'discarded' ELSE 'queued' END
     WHERE (kafka_topic, kafka_partition, kafka_offset)
           = (NEW.kafka_topic, NEW.kafka_partition, NEW.kafka_offset);
    RETURN NULL;
END
$$;
CREATE FUNCTION alerts.project_rejected_delivery() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    UPDATE alerts.rejected_records r SET state = 'sent'
      FROM alerts.rejected_record_decisions d
     WHERE d.position = NEW.position
       AND (r.kafka_topic, r.kafka_partition, r.kafka_offset)
           = (d.kafka_topic, d.kafka_partition, d.kafka_offset);
    RETURN NULL;
END
$$;
REVOKE ALL ON FUNCTION alerts.project_rejected_decision(), alerts.project_rejected_delivery() FROM PUBLIC;

CREATE TRIGGER project_rejected_decision AFTER INSERT ON alerts.rejected_record_decisions
    FOR EACH ROW EXECUTE FUNCTION alerts.project_rejected_decision();
CREATE TRIGGER project_rejected_delivery AFTER INSERT ON alerts.rejected_record_deliveries
    FOR EACH ROW EXECUTE FUNCTION alerts.project_rejected_delivery();
"""

GRANTS = """
GRANT USAGE ON SCHEMA alerts TO tripline_alert_redrive;

GRANT SELECT (kafka_topic, kafka_partition, kafka_offset),
      INSERT (kafka_topic, kafka_partition, kafka_offset, reason, detail, value_length, value_sha256, record_value,
              rejected_at)
   ON alerts.rejected_records TO tripline_alert_redrive;
GRANT SELECT ON alerts.rejected_record_decisions TO tripline_alert_redrive;
GRANT SELECT, INSERT ON alerts.rejected_record_deliveries TO tripline_alert_redrive;

GRANT SELECT ON alerts.rejected_records, alerts.rejected_record_decisions, alerts.rejected_record_deliveries
    TO tripline_alert_api, tripline_oncall;
GRANT INSERT (kafka_topic, kafka_partition, kafka_offset, kind, actor, reason, decided_at, sent_value, backfill_id)
   ON alerts.rejected_record_decisions TO tripline_alert_api;

GRANT SELECT ON alerts.rejected_sizes TO tripline_alert_retention;
GRANT SELECT (kafka_topic, kafka_partition, kafka_offset, stored_at), DELETE ON alerts.rejected_records
    TO tripline_alert_retention;

RESET ROLE;
"""


def upgrade() -> None:
    """Create role, tables, triggers and grants."""
    for statements in (ROLE, TABLES, STATE, GRANTS):
        op.execute(statements)


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
