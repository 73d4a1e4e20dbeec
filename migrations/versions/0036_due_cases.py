"""A case knows when it was opened or reopened the last time, for it is due so long after that.

How long that is depends on severity, which is the registry's, and on a setting: neither is stored here.
"""

from __future__ import annotations

from alembic import op

revision = "0036_due_cases"
down_revision = "0035_alert_filters"
branch_labels = None
depends_on = None

ACTIVE = """
SET LOCAL ROLE tripline_owner;

ALTER TABLE alerts.cases ADD COLUMN active_at bigint;   -- ms since the epoch
UPDATE alerts.cases c SET active_at = coalesce(
    (SELECT o.occurred_at FROM alerts.case_openings o WHERE o.case_id = c.case_id AND o.position = c.active_since),
    (SELECT w.occurred_at FROM alerts.case_events w WHERE w.case_id = c.case_id AND w.position = c.active_since),
    c.opened_at);
ALTER TABLE alerts.cases ALTER COLUMN active_at SET NOT NULL;
CREATE INDEX cases_longest_unresolved ON alerts.cases (active_at, case_id) WHERE state <> 'resolved';
GRANT UPDATE (active_at) ON alerts.cases TO tripline_alert_api;

RESET ROLE;
"""


def upgrade() -> None:
    """Add the column, with what the log says of each case, and its index."""
    op.execute(ACTIVE)


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
