"""What came of verifications of alerts is kept: outcome, differences, when and by whom. Nothing changes an entry."""

from __future__ import annotations

from alembic import op

revision = "0029_verifications"
down_revision = "0028_resolved_cases"
branch_labels = None
depends_on = None

# Differences are json and not jsonb: a text of somebody's may have a character that jsonb does not take.
TABLE = """
SET LOCAL ROLE tripline_owner;

CREATE TABLE alerts.alert_verifications (
    verification_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    alert_id        uuid NOT NULL REFERENCES alerts.alerts,
    outcome         text NOT NULL CHECK (outcome IN ('match', 'mismatch')),
    differences     json NOT NULL CHECK (json_typeof(differences) = 'array'),
    engine          text NOT NULL CHECK (length(engine) <= 200),
    evaluator       text CHECK (length(evaluator) <= 64),
    verified_at     bigint NOT NULL,                   -- ms since the epoch
    actor           text NOT NULL CHECK (length(actor) BETWEEN 1 AND 64)
);
CREATE INDEX alert_verifications_newest ON alerts.alert_verifications (alert_id, verification_id DESC);

GRANT SELECT, INSERT (alert_id, outcome, differences, engine, evaluator, verified_at, actor)
    ON alerts.alert_verifications TO tripline_alert_api;
GRANT SELECT ON alerts.alert_verifications TO tripline_oncall;

RESET ROLE;
"""


def upgrade() -> None:
    """Create the table."""
    op.execute(TABLE)


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
