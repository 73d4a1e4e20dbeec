"""Lists of alerts of large amounts, or small ones, are read along an index, in their order.

The index of amounts has no order of lists: where many alerts fit, all were read and sorted, or the whole list was
looked through. Amounts are put into steps, nine of each power of ten, and the new index has the order of lists within
each: a list of amounts is a walk along a few of them beside each other.

Nobody waits long for this, and an upgrade that was cut off goes on where it was, as that of 0037.
"""

from __future__ import annotations

from alembic import op
from psycopg.errors import LockNotAvailable
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

revision = "0044_amount_steps"
down_revision = "0043_estimates"
branch_labels = None
depends_on = None

# All below one is step 0. Else the number of digits before the point, and the first one: 50,000 is 55. By digits and
# not by a logarithm, which is another one on another machine in its last place. An amount is no NaN: it was a decimal.
STEP = """
SET LOCAL ROLE tripline_owner;

CREATE OR REPLACE FUNCTION alerts.amount_step(amount numeric) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN
    CASE WHEN amount < 1 THEN 0
         ELSE length(trunc(amount)::text) * 10 + left(amount::text, 1)::integer END;

RESET ROLE;
"""

ORDER = "event_time DESC, alert_id"
INDEXES = {"alerts_newest_of_amounts": f"(alerts.amount_step(amount), {ORDER}) WHERE amount IS NOT NULL"}

UNATTACHED = """
SELECT name FROM alerts.alert_partitions
 WHERE NOT EXISTS (SELECT FROM pg_inherits JOIN pg_index ON indexrelid = inhrelid
                    WHERE inhparent = 'alerts.{name}'::regclass AND indrelid = format('alerts.%I', name)::regclass)
 ORDER BY name
"""
UNFINISHED = """
SELECT FROM pg_index JOIN pg_class c ON c.oid = indexrelid
 WHERE NOT indisvalid AND relnamespace = 'alerts'::regnamespace AND relname = :name
"""
ATTEMPTS = 60


def upgrade() -> None:
    """Build the index in each partition, beside what goes on."""
    op.execute(STEP)
    with op.get_context().autocommit_block():
        op.execute("SET ROLE tripline_owner")
        for name, definition in INDEXES.items():
            _build(name, definition)
        op.execute("RESET ROLE")


def _build(name: str, definition: str) -> None:
    _briefly(f"CREATE INDEX IF NOT EXISTS {name} ON ONLY alerts.alerts {definition}")
    for (partition,) in op.get_bind().execute(text(UNATTACHED.format(name=name))).fetchall():
        part = f"{partition}_{name.removeprefix('alerts_')}"
        _begin_again(part)
        op.execute(f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {part} ON alerts.{partition} {definition}")
        _briefly(f"ALTER INDEX alerts.{name} ATTACH PARTITION alerts.{part}")


def _begin_again(name: str) -> None:
    """What an upgrade that was cut off has left is dropped: an index that is not whole serves nobody."""
    if op.get_bind().execute(text(UNFINISHED), {"name": name}).fetchall():
        op.execute(f"DROP INDEX CONCURRENTLY alerts.{name}")


def _briefly(statements: str) -> None:
    """A lock that readers or writers would wait for is waited for two seconds at most, then they go first."""
    for attempt in range(ATTEMPTS):
        try:
            op.execute(f"BEGIN; SET LOCAL lock_timeout = '2s'; {statements}; COMMIT")
        except OperationalError as error:
            op.execute("ROLLBACK")
            if attempt == ATTEMPTS - 1 or not isinstance(error.orig, LockNotAvailable):
                raise
        else:
            return


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
