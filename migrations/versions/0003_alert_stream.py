"""The order in which the alert stream tells what happened: by transaction, then by position.

A reader that follows ``alert_events`` takes what was written in transactions that are over, oldest first, up to
``pg_snapshot_xmin(pg_current_snapshot())``. Whatever commits later has a transaction id at or beyond that, so nothing
ever turns up behind the reader. Position alone would not do: numbers are drawn before commits are ordered.
"""

from __future__ import annotations

from alembic import op

revision = "0003_alert_stream"
down_revision = "0002_alerts"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the index that the reader walks along."""
    op.execute("CREATE INDEX alert_events_as_written ON alerts.alert_events (written_in, position)")


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
