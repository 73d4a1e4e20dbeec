"""Locks that only those may hold who need them: until now numbers that any login could lock.

* ``registry.writer_lock`` is locked by who appends to the log. Only the registry API may.
* ``alerts.void_lock`` is locked by the triggers of migrations 0006 and 0007, as the owner. No login may.
* The relay's lock lasts as long as its session. A table's would end with a transaction, and one that stays open for
  months keeps VACUUM from the table; a row's would keep the alert stream waiting, which tells what is older than any
  open transaction. So it stays an advisory lock, behind a function that locks this one number for the relay.

Both tables have no columns and no rows: they are there to be locked.
"""

from __future__ import annotations

from alembic import op

revision = "0012_locks"
down_revision = "0011_owner"
branch_labels = None
depends_on = None

# The number that relays of before lock too: one that still runs is not joined by a second.
RELAY_LOCK = 7_411_003

REGISTRY = f"""
GRANT EXECUTE ON FUNCTION pg_try_advisory_lock(bigint) TO tripline_owner;
SET LOCAL ROLE tripline_owner;

CREATE TABLE registry.writer_lock ();
GRANT UPDATE ON registry.writer_lock TO tripline_registry_api;

CREATE FUNCTION registry.try_relay_lock() RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog RETURN pg_try_advisory_lock({RELAY_LOCK});
REVOKE ALL ON FUNCTION registry.try_relay_lock() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION registry.try_relay_lock() TO tripline_registry_relay;
"""

# ROW SHARE goes with itself and not with EXCLUSIVE. The rest is that of migration 0007.
ALERTS = """
CREATE TABLE alerts.void_lock ();

CREATE OR REPLACE FUNCTION alerts.mark_alerts_of_voided() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    LOCK TABLE alerts.void_lock IN EXCLUSIVE MODE;
    -- In order of id: two that mark the same alerts wait for each other, and never in a circle.
    PERFORM alerts.mark_voided(a.alert_id, NEW.command_id)
       FROM (SELECT alert_id FROM alerts.alerts
              WHERE transaction_id = NEW.transaction_id AND event_time = NEW.event_time
              UNION
             SELECT alert_id FROM alerts.alerts
              -- the index has the collation of what the function returns, a column that of its own
              WHERE alerts.named_transactions(content) @> ARRAY[NEW.transaction_id COLLATE "default"]
                AND alerts.rests_on(content, NEW.transaction_id, NEW.event_time)
              ORDER BY alert_id) a;
    RETURN NULL;
END
$$;

-- Each id is looked up once, however many were voided: an alert names some hundred, operators may void thousands.
CREATE OR REPLACE FUNCTION alerts.mark_stored_alerts() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    LOCK TABLE alerts.void_lock IN ROW SHARE MODE;
    IF EXISTS (SELECT FROM alerts.voided_transactions) THEN
        PERFORM alerts.mark_voided(f.alert_id, f.command_id)
           FROM (SELECT s.alert_id, v.command_id, v.position
                   FROM stored s
                   JOIN alerts.voided_transactions v
                     ON v.transaction_id = s.transaction_id AND v.event_time = s.event_time
                  UNION
                 SELECT s.alert_id, v.command_id, v.position
                   FROM stored s,
                        LATERAL (SELECT DISTINCT unnest(alerts.named_transactions(s.content)) COLLATE "C" AS id) named
                   JOIN alerts.voided_transactions v ON v.transaction_id = named.id
                  WHERE alerts.rests_on(s.content, v.transaction_id, v.event_time)
                  ORDER BY alert_id, position) f;
    END IF;
    RETURN NULL;
END
$$;
RESET ROLE;
"""


def upgrade() -> None:
    """Create the tables to lock and the relay's function, replace the triggers' functions."""
    for statements in (REGISTRY, ALERTS):
        op.execute(statements)


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
