"""A void command is stored only if the registry has issued it, whoever stores it.

The projector asks before it stores (0010). Its login could store an invented command all the same, and so have any
alert marked as voided. What is there stays.
"""

from __future__ import annotations

from alembic import op

revision = "0014_issued_voids_only"
down_revision = "0013_dead_letter_retention"
branch_labels = None
depends_on = None

# Commands are never deleted, so one that was issued when it is stored stays issued.
TRIGGER = """
SET LOCAL ROLE tripline_owner;

CREATE FUNCTION alerts.demand_issued_void() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM alerts.issued_voids i
                    WHERE i.command_id = NEW.command_id AND i.position = NEW.position) THEN
        RAISE EXCEPTION 'void command % at position % was never issued', NEW.command_id, NEW.position
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
END
$$;
REVOKE ALL ON FUNCTION alerts.demand_issued_void() FROM PUBLIC;

CREATE TRIGGER demand_issued_void BEFORE INSERT ON alerts.voided_transactions
    FOR EACH ROW EXECUTE FUNCTION alerts.demand_issued_void();

RESET ROLE;
"""


def upgrade() -> None:
    """Create function and trigger."""
    op.execute(TRIGGER)


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
