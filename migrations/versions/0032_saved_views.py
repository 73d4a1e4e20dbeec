"""Filters of the list of cases that people keep under names, each for its owner alone."""

from __future__ import annotations

from alembic import op

revision = "0032_saved_views"
down_revision = "0031_alert_partitions"
branch_labels = None
depends_on = None

TABLE = """
SET LOCAL ROLE tripline_owner;

CREATE TABLE alerts.saved_views (
    actor    text NOT NULL CHECK (length(actor) BETWEEN 1 AND 64),
    name     text NOT NULL CHECK (length(name) BETWEEN 1 AND 40),
    filter   jsonb NOT NULL CHECK (jsonb_typeof(filter) = 'object' AND octet_length(filter::text) <= 65536),
    saved_at bigint NOT NULL,                              -- ms since the epoch
    PRIMARY KEY (actor, name)
);

GRANT SELECT, INSERT, UPDATE (filter, saved_at), DELETE ON alerts.saved_views TO tripline_alert_api;

RESET ROLE;
"""


def upgrade() -> None:
    """Create the table."""
    op.execute(TABLE)


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
