"""Notices: what becomes of cases is told to programs elsewhere, from the log.

One row says up to where. Who tells reads cases and their log, and changes nothing but that row.
"""

from __future__ import annotations

from alembic import op

revision = "0034_notices"
down_revision = "0033_past_alerts"
branch_labels = None
depends_on = None

ROLE = """
DO $$
BEGIN
    BEGIN
        CREATE ROLE tripline_alert_notifier NOLOGIN;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN
        NULL;  -- roles belong to the cluster: another database may have made it
    END;
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO tripline_alert_notifier', current_database());
END
$$;
"""

TABLES = """
SET LOCAL ROLE tripline_owner;

-- One row: notices up to this position of the log have gone out.
CREATE TABLE alerts.notice_cursor (
    single   boolean PRIMARY KEY DEFAULT true CHECK (single),
    position bigint NOT NULL CHECK (position >= 0)
);
INSERT INTO alerts.notice_cursor (position) VALUES (0);

CREATE INDEX case_openings_by_position ON alerts.case_openings (position);
"""

GRANTS = """
GRANT USAGE ON SCHEMA alerts TO tripline_alert_notifier;
GRANT SELECT, UPDATE (position) ON alerts.notice_cursor TO tripline_alert_notifier;
GRANT SELECT (position) ON alerts.case_cursor TO tripline_alert_notifier;
GRANT SELECT ON alerts.cases, alerts.episodes, alerts.case_episodes, alerts.case_openings TO tripline_alert_notifier;
GRANT SELECT (position, type, case_id, version, occurred_at, actor, comment, assignee, outcome) ON alerts.case_events
    TO tripline_alert_notifier;
CREATE POLICY notifier_reads ON alerts.case_events FOR SELECT TO tripline_alert_notifier USING (true);
GRANT SELECT (position, occurred_at) ON alerts.alert_events TO tripline_alert_notifier;
CREATE POLICY notifier_reads ON alerts.alert_events FOR SELECT TO tripline_alert_notifier USING (true);

RESET ROLE;
"""


def upgrade() -> None:
    """Create role, table, index and grants."""
    for statements in (ROLE, TABLES, GRANTS):
        op.execute(statements)


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
