"""What rules are for: written by people for people, beside the rules and not part of them.

The engine is told nothing of it, so it is no event of the log. What it was before is in the audit trail.
"""

from __future__ import annotations

from alembic import op

revision = "0020_rule_purposes"
down_revision = "0019_rules_alike"
branch_labels = None
depends_on = None

PURPOSES = """
SET LOCAL ROLE tripline_owner;

CREATE TABLE registry.rule_purposes (
    rule_id     bigint PRIMARY KEY REFERENCES registry.rules (rule_id),
    version     integer NOT NULL CHECK (version > 0),
    description text CHECK (length(description) BETWEEN 1 AND 2000),
    severity    text CHECK (severity IN ('info', 'low', 'medium', 'high', 'critical')),
    tags        text[] NOT NULL CHECK (cardinality(tags) <= 20),
    owner       text CHECK (length(owner) BETWEEN 1 AND 100),
    -- Consoles make a link of it.
    playbook    text CHECK (playbook ~ '^https://' AND length(playbook) <= 500)
);

GRANT SELECT, INSERT, UPDATE ON registry.rule_purposes TO tripline_registry_api;

RESET ROLE;
"""


def upgrade() -> None:
    """Create the table and its grants."""
    op.execute(PURPOSES)


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
