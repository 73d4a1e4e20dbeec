"""Cases of an outcome are read along an index, those with the newest alert first.

A list of alerts by outcome begins with them. Only resolved cases are in it: an alert that comes reopens its case, or
opens another one, so storing alerts writes nothing here but what it takes out.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import text

revision = "0041_cases_by_outcome"
down_revision = "0040_voided_limits"
branch_labels = None
depends_on = None

NAME = "cases_newest_of_outcome"
UNFINISHED = """
SELECT FROM pg_index WHERE indexrelid = to_regclass('alerts.cases_newest_of_outcome') AND NOT indisvalid
"""


def upgrade() -> None:
    """Build the index beside what goes on; what an upgrade that was cut off has left is built anew."""
    with op.get_context().autocommit_block():
        op.execute("SET ROLE tripline_owner")
        if op.get_bind().execute(text(UNFINISHED)).fetchall():
            op.execute(f"DROP INDEX CONCURRENTLY alerts.{NAME}")
        op.execute(
            f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {NAME} ON alerts.cases (outcome, last DESC, case_id DESC)"
            " WHERE outcome IS NOT NULL"
        )
        op.execute("RESET ROLE")


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
