"""Resolved cases are found by when they were resolved: what rules are worth is read from them."""

from __future__ import annotations

from alembic import op

revision = "0028_resolved_cases"
down_revision = "0027_alert_counts"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the index."""
    op.execute("SET LOCAL ROLE tripline_owner")
    op.execute("CREATE INDEX cases_by_resolution ON alerts.cases (resolved_at) WHERE state = 'resolved'")
    op.execute("RESET ROLE")


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
