"""Rules are found by name, by definition and by grouping, so that a new one can be told from those that are like it."""

from __future__ import annotations

from alembic import op

revision = "0019_rules_alike"
down_revision = "0018_backfill_indexes"
branch_labels = None
depends_on = None

INDEXES = """
SET LOCAL ROLE tripline_owner;

CREATE INDEX rules_by_lower_name ON registry.rules (lower(name), rule_id) WHERE state <> 'DELETED';
CREATE INDEX active_rules_by_definition ON registry.rules (definition_hash, rule_id) WHERE state = 'ACTIVE';
CREATE INDEX active_rules_by_grouping ON registry.rules (grouping_key_names, rule_id) WHERE state = 'ACTIVE';

RESET ROLE;
"""


def upgrade() -> None:
    """Create the indexes."""
    op.execute(INDEXES)


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
