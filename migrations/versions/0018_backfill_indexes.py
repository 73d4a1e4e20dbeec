"""Backfills are found without reading all commands: they have few of many."""

from __future__ import annotations

from alembic import op

revision = "0018_backfill_indexes"
down_revision = "0017_api_keys"
branch_labels = None
depends_on = None

INDEXES = """
SET LOCAL ROLE tripline_owner;

CREATE INDEX control_commands_backfills ON registry.control_commands (position) WHERE command = 'START_BACKFILL';
CREATE INDEX rule_events_ended_backfills ON registry.rule_events ((body ->> 'backfillId'))
    WHERE type = 'ControlCommand' AND body ->> 'command' = 'END_BACKFILL';

RESET ROLE;
"""


def upgrade() -> None:
    """Create the indexes."""
    op.execute(INDEXES)


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
