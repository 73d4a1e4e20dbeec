"""Dead letters come to an end, and can be read: a role that deletes them, and a role for who is on call.

Who deletes sees ages and sizes and not what was in the records. Who is on call sees them and changes nothing: give a
person a login in ``tripline_oncall`` (docs/runbook.md).
"""

from __future__ import annotations

from alembic import op

revision = "0013_dead_letter_retention"
down_revision = "0012_locks"
branch_labels = None
depends_on = None

ROLES = """
DO $$
DECLARE
    wanted text;
BEGIN
    FOREACH wanted IN ARRAY ARRAY['tripline_alert_retention', 'tripline_oncall'] LOOP
        BEGIN
            EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
        EXCEPTION WHEN duplicate_object OR unique_violation THEN
            NULL;  -- roles belong to the cluster: another database may have made them
        END;
    END LOOP;
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO tripline_alert_retention, tripline_oncall', current_database());
END
$$;
"""

TABLES = """
SET LOCAL ROLE tripline_owner;

CREATE INDEX unreadable_records_oldest
    ON alerts.unreadable_records (stored_at, kafka_topic, kafka_partition, kafka_offset);

CREATE VIEW alerts.unreadable_sizes AS
SELECT kafka_topic, kafka_partition, kafka_offset, stored_at,
       coalesce(octet_length(record_key), 0) + coalesce(octet_length(record_value), 0)
           + octet_length(detail) AS kept_bytes
  FROM alerts.unreadable_records;
"""

GRANTS = """
GRANT USAGE ON SCHEMA alerts TO tripline_alert_retention, tripline_oncall;

GRANT SELECT ON alerts.unreadable_sizes TO tripline_alert_retention;
GRANT SELECT (kafka_topic, kafka_partition, kafka_offset, stored_at), DELETE ON alerts.unreadable_records
    TO tripline_alert_retention;

GRANT SELECT ON alerts.unreadable_records TO tripline_oncall;

RESET ROLE;
"""


def upgrade() -> None:
    """Create roles, index and view, grant."""
    for statements in (ROLES, TABLES, GRANTS):
        op.execute(statements)


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
