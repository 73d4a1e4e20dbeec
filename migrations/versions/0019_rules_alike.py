"""Rules are found by name, and by all of their definition but limit and window: a new one is told what it is like."""

from __future__ import annotations

from alembic import op

revision = "0019_rules_alike"
down_revision = "0018_backfill_indexes"
branch_labels = None
depends_on = None

INDEXES = """
SET LOCAL ROLE tripline_owner;

CREATE INDEX rules_by_lower_name ON registry.rules (lower(name), rule_id) WHERE state <> 'DELETED';
-- By hash, for a definition may be longer than an entry of another index.
CREATE INDEX active_rules_alike ON registry.rules USING hash ((definition - 'limit' - 'windowSeconds'))
    WHERE state = 'ACTIVE';

RESET ROLE;
"""


def upgrade() -> None:
    """Create the indexes."""
    op.execute(INDEXES)


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
