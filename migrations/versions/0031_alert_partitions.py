"""Alerts are partitioned by event time: a month each, made ahead by `alert-api retention`.

The first partition begins at the beginning of time, the last one ends at its end, so every alert has a place, and
there is no DEFAULT partition, with which Postgres could not read the partitions in the order of a list. What was there
becomes the first partition as it is: nothing is copied, no index is built; Postgres reads the table once.

An alert's id is unique by its first event: `alerts.alert_events` has one of each id and is not partitioned. A foreign
key would need the event time beside each id, so triggers see to it that what is about an alert is about one there is.

To drop a month is to empty its partition (`alerts.empty_alert_partition`); the log of events stays, and so does what
cases are folded from (`alerts.past_alerts`).
"""

from __future__ import annotations

from alembic import op

revision = "0031_alert_partitions"
down_revision = "0030_snoozes"
branch_labels = None
depends_on = None

# Whatever the table has got by migrations is read from the catalogue: columns, checks, indexes, triggers and grants.
MOVE = """
SET LOCAL ROLE tripline_owner;
LOCK TABLE alerts.alerts IN ACCESS EXCLUSIVE MODE;

DO $$
DECLARE
    old CONSTANT text := 'alerts.alerts_before';
    made record;
BEGIN
    FOR made IN SELECT conrelid::regclass AS holder, conname FROM pg_constraint
                 WHERE contype = 'f' AND confrelid = 'alerts.alerts'::regclass
    LOOP
        EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', made.holder, made.conname);
    END LOOP;

    ALTER TABLE alerts.alerts RENAME TO alerts_before;
    CREATE TABLE alerts.alerts (LIKE alerts.alerts_before INCLUDING ALL EXCLUDING INDEXES)
        PARTITION BY RANGE (event_time);

    FOR made IN SELECT c.relname, pg_get_indexdef(i.indexrelid) AS definition
                  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
                 WHERE i.indrelid = old::regclass AND NOT i.indisunique
    LOOP
        EXECUTE format('ALTER INDEX alerts.%I RENAME TO %I', made.relname, 'before_' || made.relname);
        EXECUTE replace(made.definition, ' ON ' || old || ' ', ' ON alerts.alerts ');
    END LOOP;
    FOR made IN SELECT tgname, pg_get_triggerdef(oid) AS definition FROM pg_trigger
                 WHERE tgrelid = old::regclass AND NOT tgisinternal
    LOOP
        EXECUTE format('DROP TRIGGER %I ON %s', made.tgname, old);
        EXECUTE replace(made.definition, ' ON ' || old || ' ', ' ON alerts.alerts ');
    END LOOP;
    FOR made IN SELECT g.grantee::regrole AS holder, g.privilege_type AS privilege, NULL AS field
                  FROM pg_class, aclexplode(relacl) g WHERE oid = old::regclass AND g.grantee <> relowner
                 UNION ALL
                SELECT g.grantee::regrole, g.privilege_type, quote_ident(attname)
                  FROM pg_attribute, aclexplode(attacl) g WHERE attrelid = old::regclass
    LOOP
        EXECUTE format('GRANT %s%s ON alerts.alerts TO %s', made.privilege, ' (' || made.field || ')', made.holder);
        EXECUTE format('REVOKE ALL%s ON %s FROM %s', ' (' || made.field || ')', old, made.holder);
    END LOOP;
END
$$;
"""

# Times are ms since the epoch, months those of UTC. Null is the beginning of time, and its end.
PARTITIONS = r"""
CREATE FUNCTION alerts.month_after(moment bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN
    extract(epoch FROM date_trunc('month', to_timestamp(moment / 1000) AT TIME ZONE 'UTC') + interval '1 month')::bigint
    * 1000;

CREATE VIEW alerts.alert_partitions AS
SELECT c.relname::text AS name,
       substring(pg_get_expr(c.relpartbound, c.oid) FROM $$FROM \('(-?\d+)'\)$$)::bigint AS begins,
       substring(pg_get_expr(c.relpartbound, c.oid) FROM $$TO \('(-?\d+)'\)$$)::bigint AS ends
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
 WHERE i.inhparent = 'alerts.alerts'::regclass;

-- An id is found by each partition's own index.
CREATE FUNCTION alerts.add_alert_partition(name text, begins bigint, ends bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    EXECUTE format('CREATE TABLE alerts.%I PARTITION OF alerts.alerts FOR VALUES FROM (%s) TO (%s)', name,
                   coalesce(quote_literal(begins), 'MINVALUE'), coalesce(quote_literal(ends), 'MAXVALUE'));
    EXECUTE format('ALTER TABLE alerts.%I ADD PRIMARY KEY (alert_id)', name);
END
$$;

-- The last partition ends where it did not, gets a month's name, and is followed by a new one. It may hold alerts:
-- where nobody made months in time, all up to the end of the present one. What is later moves on.
CREATE FUNCTION alerts.extend_alert_months(days_ahead integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog SET lock_timeout = '2s' AS $$
DECLARE
    present CONSTANT bigint := extract(epoch FROM now())::bigint * 1000;
    edge bigint;
    following bigint;
    month text;
    made integer := 0;
BEGIN
    LOOP
        SELECT begins INTO STRICT edge FROM alerts.alert_partitions WHERE name = 'alerts_after';
        EXIT WHEN edge > present + days_ahead * 86400000::bigint;
        LOCK TABLE alerts.alerts IN ACCESS EXCLUSIVE MODE;
        CONTINUE WHEN edge <> (SELECT begins FROM alerts.alert_partitions WHERE name = 'alerts_after');
        following := alerts.month_after(edge);
        IF EXISTS (SELECT FROM alerts.alerts_after WHERE event_time < alerts.month_after(present)) THEN
            following := greatest(following, alerts.month_after(present));
        END IF;
        month := 'alerts_' || to_char(to_timestamp(edge / 1000) AT TIME ZONE 'UTC', 'YYYY_MM');
        IF following > alerts.month_after(edge) THEN
            month := month || to_char(to_timestamp(following / 1000 - 1) AT TIME ZONE 'UTC', '"_to_"YYYY_MM');
        END IF;
        ALTER TABLE alerts.alerts DETACH PARTITION alerts.alerts_after;
        EXECUTE format('ALTER TABLE alerts.alerts_after RENAME TO %I', month);
        PERFORM alerts.add_alert_partition('alerts_after', following, NULL);
        EXECUTE format('WITH later AS (DELETE FROM alerts.%I WHERE event_time >= %s RETURNING *)'
                       ' INSERT INTO alerts.alerts_after SELECT * FROM later', month, following);
        EXECUTE format('ALTER TABLE alerts.alerts ATTACH PARTITION alerts.%I FOR VALUES FROM (%L) TO (%L)',
                       month, edge, following);
        made := made + 1;
    END LOOP;
    RETURN made;
END
$$;

-- What joins are planned by: autovacuum sees to the partitions, and not to all of them as one table.
CREATE FUNCTION alerts.analyze_alerts() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    ANALYZE alerts.alerts;
END
$$;
REVOKE ALL ON FUNCTION alerts.add_alert_partition(text, bigint, bigint), alerts.extend_alert_months(integer),
    alerts.analyze_alerts() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION alerts.extend_alert_months(integer), alerts.analyze_alerts() TO tripline_alert_retention;

-- The first partition ends with the last month, or with this one where it has alerts of it.
DO $$
DECLARE
    present CONSTANT bigint := extract(epoch FROM date_trunc('month', now() AT TIME ZONE 'UTC'))::bigint * 1000;
    edge bigint := present;
BEGIN
    IF EXISTS (SELECT FROM alerts.alerts_before WHERE event_time >= present) THEN
        edge := alerts.month_after(present);
    END IF;
    PERFORM alerts.add_alert_partition('alerts_after', edge, NULL);
    WITH later AS (DELETE FROM alerts.alerts_before WHERE event_time >= edge RETURNING *)
    INSERT INTO alerts.alerts_after SELECT * FROM later;
    EXECUTE format('ALTER TABLE alerts.alerts ATTACH PARTITION alerts.alerts_before FOR VALUES FROM (MINVALUE) TO (%L)',
                   edge);
    IF EXISTS (SELECT FROM alerts.alerts) THEN
        ANALYZE alerts.alerts;
    END IF;
END
$$;
"""

REFERENCES = """
CREATE OR REPLACE FUNCTION alerts.project_acknowledgement() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    UPDATE alerts.alerts
       SET acknowledged_by = NEW.actor,
           acknowledged_at = NEW.occurred_at,
           acknowledgement_comment = NEW.comment
     WHERE alert_id = NEW.alert_id;
    IF NOT FOUND THEN
        RAISE foreign_key_violation USING MESSAGE = format('there is no alert %s', NEW.alert_id);
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION alerts.check_alert_is_there() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM alerts.alerts WHERE alert_id = NEW.alert_id) THEN
        RAISE foreign_key_violation USING MESSAGE = format('there is no alert %s', NEW.alert_id);
    END IF;
    RETURN NULL;
END
$$;
REVOKE ALL ON FUNCTION alerts.check_alert_is_there() FROM PUBLIC;
CREATE TRIGGER of_an_alert AFTER INSERT ON alerts.alert_verifications
    FOR EACH ROW EXECUTE FUNCTION alerts.check_alert_is_there();
RESET ROLE;
"""


def upgrade() -> None:
    """Partition the table, and let triggers stand in for the foreign keys."""
    for statements in (MOVE, PARTITIONS, REFERENCES):
        op.execute(statements)


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
