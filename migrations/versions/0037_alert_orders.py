"""Lists of alerts by group, amount, detection and snooze are read along an index, in their order.

An index for each of the first three fields of a group: name and value, and the order of lists. The GIN index of before
had no order, so all alerts of a group were read and sorted; it stays for groups of four fields and more. Detection has
an index of what was detected before its event time, and one of what came more than an hour late: all else is where its
event time says.

Nobody waits long for this. On the partitioned table an index is made empty; in each partition it is built beside what
goes on (CONCURRENTLY) and attached when it is whole. An upgrade that was cut off goes on where it was.
"""

from __future__ import annotations

from alembic import op
from psycopg.errors import LockNotAvailable
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

revision = "0037_alert_orders"
down_revision = "0036_due_cases"
branch_labels = None
depends_on = None

# Postgres puts what it says in the place of each call, in indexes as in queries. `id` says where in the value the pair
# stands, and is nothing of the pair's.
FIELD = """
SET LOCAL ROLE tripline_owner;

CREATE OR REPLACE FUNCTION alerts.group_field(group_values jsonb, number integer) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN
    jsonb_hash_extended((jsonb_path_query_array(group_values, '$.keyvalue()') -> number) - 'id', 0);

RESET ROLE;
"""

ORDER = "event_time DESC, alert_id"
INDEXES = {
    **{
        f"alerts_newest_of_field_{number + 1}": f"(alerts.group_field(group_values, {number}), {ORDER})"
        f" WHERE alerts.group_field(group_values, {number}) IS NOT NULL"
        for number in range(3)
    },
    "alerts_of_more_fields": "USING gin (group_values jsonb_path_ops)"
    " WHERE alerts.group_field(group_values, 3) IS NOT NULL",
    "alerts_by_amount_and_time": "(amount, event_time, alert_id) WHERE amount IS NOT NULL",
    "alerts_detected_early": f"({ORDER}) WHERE event_time > detected_at",
    "alerts_detected_late": f"({ORDER}) WHERE detected_at - event_time > 3600000",
}

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
REPLACED = """
DROP INDEX IF EXISTS alerts.alerts_group, alerts.alerts_by_amount, alerts.alerts_by_detection;

CREATE OR REPLACE FUNCTION alerts.bound_pending_entries() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
    part regclass;
BEGIN
    FOR part IN SELECT inhrelid FROM pg_inherits JOIN pg_class ON oid = inhrelid
                 WHERE inhparent = 'alerts.alerts_of_more_fields'::regclass AND reloptions IS NULL
    LOOP
        EXECUTE format('ALTER INDEX %s SET (gin_pending_list_limit = 128)', part);
    END LOOP;
END
$$;
SELECT alerts.bound_pending_entries()
"""
ATTEMPTS = 60


def upgrade() -> None:
    """Build the indexes one by one, each beside what goes on, then drop those that they replace."""
    op.execute(FIELD)
    with op.get_context().autocommit_block():
        op.execute("SET ROLE tripline_owner")
        for name, definition in INDEXES.items():
            _build(name, definition)
        _begin_again("snoozed_alerts_by_time")
        op.execute(
            f"CREATE INDEX CONCURRENTLY IF NOT EXISTS snoozed_alerts_by_time ON alerts.snoozed_alerts ({ORDER})"
        )
        _briefly(REPLACED)
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
