"""Whoever follows alerts is told of each new event as it is committed, and need not ask again and again.

The notification says nothing but that there is something: what there is, and in which order, is read as before.
"""

from __future__ import annotations

from alembic import op

revision = "0008_events_are_announced"
down_revision = "0007_voided_of_any_type"
branch_labels = None
depends_on = None

# Once per statement, and Postgres tells once per transaction.
ANNOUNCING = """
CREATE FUNCTION alerts.announce_events() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    PERFORM pg_notify('alert_events', '');
    RETURN NULL;
END
$$;

CREATE TRIGGER alert_events_announced AFTER INSERT ON alerts.alert_events
    FOR EACH STATEMENT EXECUTE FUNCTION alerts.announce_events();
"""


def upgrade() -> None:
    """Add the trigger."""
    op.execute(ANNOUNCING)


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
