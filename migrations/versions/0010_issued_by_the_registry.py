"""What the alert projector compares alerts and void commands with: the rule versions and commands of the registry.

Views with the owner's rights, so that the projector sees these columns and nothing else of the registry.
"""

from __future__ import annotations

from alembic import op

revision = "0010_issued_by_the_registry"
down_revision = "0009_engine_positions"
branch_labels = None
depends_on = None

VIEWS = """
CREATE VIEW alerts.published_versions AS
    SELECT rule_id, version FROM registry.rule_events WHERE type = 'RulePublished';

CREATE VIEW alerts.issued_voids AS
    SELECT command_id, position FROM registry.control_commands WHERE command = 'VOID_TRANSACTION';

GRANT SELECT ON alerts.published_versions, alerts.issued_voids TO tripline_alert_projector;
"""


def upgrade() -> None:
    """Create the views."""
    op.execute(VIEWS)


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
