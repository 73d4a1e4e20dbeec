"""What a change of a rule looks for among the others is read in order: nothing of it reads all of them.

A hash index finds thousands of rules that are alike, and each of these is read before the first is known.
"""

from __future__ import annotations

from alembic import op

revision = "0025_rules_in_order"
down_revision = "0024_rejected_records"
branch_labels = None
depends_on = None

INDEXES = """
SET LOCAL ROLE tripline_owner;

DROP INDEX registry.active_rules_alike;
-- By a number, for a definition may be longer than an entry of an index; whoever asks compares the definitions too. The
-- statistics say how many rules have the same one, which decides how they are read.
CREATE INDEX active_rules_alike ON registry.rules
    (hashtextextended((definition - 'limit' - 'windowSeconds')::text, 0), definition_hash, rule_id)
    WHERE state = 'ACTIVE';

CREATE STATISTICS registry.rules_alike
    ON (hashtextextended((definition - 'limit' - 'windowSeconds')::text, 0)) FROM registry.rules;

-- The widest window of each grouping set and precision. Chained rules have windows of their own in each condition.
CREATE INDEX rules_by_window ON registry.rules (
    grouping_key_names, coalesce(definition ->> 'precision', ''),
    ((definition ->> 'windowSeconds')::bigint) DESC, rule_id
) WHERE state <> 'DELETED' AND NOT definition ? 'conditions';
CREATE INDEX chained_rules ON registry.rules (rule_id) WHERE state <> 'DELETED' AND definition ? 'conditions';

ANALYZE registry.rules;

RESET ROLE;
"""


def upgrade() -> None:
    """Create the indexes."""
    op.execute(INDEXES)


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
