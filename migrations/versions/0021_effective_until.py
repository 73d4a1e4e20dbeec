"""Definitions may have an end: the event time from which they judge nothing any more."""

from __future__ import annotations

from alembic import op

revision = "0021_effective_until"
down_revision = "0020_rule_purposes"
branch_labels = None
depends_on = None

COLUMN = """
SET LOCAL ROLE tripline_owner;

ALTER TABLE registry.rules ADD COLUMN effective_until bigint CHECK (effective_until >= 0);

RESET ROLE;
"""


def upgrade() -> None:
    """Add the column; rules of before have no end."""
    op.execute(COLUMN)


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
