"""A month of alerts can go, when its retention has come: what `alert-api retention` may do about it.

It reads the alerts of a partition that is over, as lines for the archive, and empties the partition where the archive
has just these lines, or none was wanted. What stays is the log of events, so no alert comes back, and of each alert
what cases are folded from: `alert-api cases check` finds them as they are.

Besides, two things that ten million alerts have shown: an index that another one begins with, and a list of a group's
alerts that read through 4 MB of pending entries of the index each time.
"""

from __future__ import annotations

from alembic import op

revision = "0033_past_alerts"
down_revision = "0032_saved_views"
branch_labels = None
depends_on = None

PAST = """
SET LOCAL ROLE tripline_owner;

CREATE TABLE alerts.past_alerts (
    alert_id     uuid PRIMARY KEY,
    rule_id      bigint NOT NULL,
    group_values jsonb NOT NULL,
    event_time   bigint NOT NULL,
    detected_at  bigint NOT NULL,
    window_ms    bigint,
    measured     json NOT NULL
);
GRANT SELECT ON alerts.past_alerts TO tripline_alert_projector;
GRANT SELECT ON alerts.alert_partitions TO tripline_alert_retention;

-- Partitions with alerts that all came before that moment.
CREATE FUNCTION alerts.alert_partitions_before(moment bigint) RETURNS SETOF text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
    partition text;
    filled boolean;
BEGIN
    FOR partition IN SELECT name FROM alerts.alert_partitions WHERE ends <= moment ORDER BY ends LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM alerts.%I)', partition) INTO filled;
        IF filled THEN
            RETURN NEXT partition;
        END IF;
    END LOOP;
END
$$;

-- A name is that of a partition which is over, or an error.
CREATE FUNCTION alerts.past_partition(partition text) RETURNS alerts.alert_partitions
LANGUAGE plpgsql STABLE SET search_path = pg_catalog AS $$
DECLARE
    past alerts.alert_partitions;
BEGIN
    SELECT * INTO past FROM alerts.alert_partitions
     WHERE name = partition AND ends <= extract(epoch FROM now()) * 1000;
    IF NOT FOUND THEN
        RAISE object_not_in_prerequisite_state USING MESSAGE = format('%s is no partition that is over', partition);
    END IF;
    RETURN past;
END
$$;

CREATE FUNCTION alerts.unresolved_cases_of(partition text) RETURNS bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
    past CONSTANT alerts.alert_partitions := alerts.past_partition(partition);
BEGIN
    RETURN (SELECT count(DISTINCT c.case_id)
              FROM alerts.cases c JOIN alerts.case_episodes l USING (case_id) JOIN alerts.episodes e USING (episode_id)
             WHERE c.state <> 'resolved' AND e.first < past.ends AND (past.begins IS NULL OR e.last >= past.begins));
END
$$;
"""

# All columns that the table has by now; the content as text, for json may hold line ends.
LINES = """
CREATE FUNCTION alerts.archive_query(partition text) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog RETURN format(
    'SELECT a.alert_id, json_build_object(''alert'', to_json(r), ''content'', a.content::text, ''events'', ('
    ' SELECT json_agg(json_build_object(''version'', e.version, ''type'', e.type, ''occurredAt'', e.occurred_at,'
    ' ''actor'', e.actor, ''comment'', e.comment, ''commandId'', e.command_id) ORDER BY e.version)'
    ' FROM alerts.alert_events e WHERE e.alert_id = a.alert_id), ''verifications'', ('
    ' SELECT json_agg(json_build_object(''outcome'', v.outcome, ''differences'', v.differences::text,'
    ' ''engine'', v.engine, ''verifiedAt'', v.verified_at, ''actor'', v.actor) ORDER BY v.verification_id)'
    ' FROM alerts.alert_verifications v WHERE v.alert_id = a.alert_id))::text AS line'
    ' FROM alerts.%I a, LATERAL (SELECT %s) r',
    partition,
    (SELECT string_agg(format('a.%I', attname), ', ' ORDER BY attnum) FROM pg_attribute
      WHERE attrelid = 'alerts.alerts'::regclass AND attnum > 0 AND NOT attisdropped AND attname <> 'content'));

CREATE FUNCTION alerts.read_alert_partition(partition text, after uuid, most integer)
RETURNS TABLE (alert_id uuid, line text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog SET timezone = 'UTC' AS $$
DECLARE
    past CONSTANT alerts.alert_partitions := alerts.past_partition(partition);
BEGIN
    RETURN QUERY EXECUTE
        format('%s WHERE a.alert_id > %L ORDER BY a.alert_id LIMIT %s', alerts.archive_query(past.name), after, most);
END
$$;

-- Their number, and the sum of the first 64 bits of each line's SHA-256: that of other lines is another.
CREATE FUNCTION alerts.mark_of_alert_partition(partition text, OUT alerts bigint, OUT digest numeric)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog SET timezone = 'UTC' AS $$
DECLARE
    past CONSTANT alerts.alert_partitions := alerts.past_partition(partition);
BEGIN
    EXECUTE 'SELECT count(*), coalesce(sum((''x'' || encode(substring(sha256(convert_to(line, ''UTF8'')) FOR 8),'
            ' ''hex''))::bit(64)::bigint), 0) FROM (' || alerts.archive_query(past.name) || ') lines'
       INTO alerts, digest;
END
$$;
"""

# A partitioned index takes no settings, its parts do.
INDEXES = """
DROP INDEX alerts.alerts_triggered_by;

CREATE OR REPLACE FUNCTION alerts.add_alert_partition(name text, begins bigint, ends bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    EXECUTE format('CREATE TABLE alerts.%I PARTITION OF alerts.alerts FOR VALUES FROM (%s) TO (%s)', name,
                   coalesce(quote_literal(begins), 'MINVALUE'), coalesce(quote_literal(ends), 'MAXVALUE'));
    EXECUTE format('ALTER TABLE alerts.%I ADD PRIMARY KEY (alert_id)', name);
    PERFORM alerts.bound_pending_entries();
END
$$;

CREATE FUNCTION alerts.bound_pending_entries() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
    part regclass;
BEGIN
    FOR part IN SELECT inhrelid FROM pg_inherits JOIN pg_class ON oid = inhrelid
                 WHERE inhparent = 'alerts.alerts_group'::regclass AND reloptions IS NULL
    LOOP
        EXECUTE format('ALTER INDEX %s SET (gin_pending_list_limit = 128)', part);
    END LOOP;
END
$$;
REVOKE ALL ON FUNCTION alerts.bound_pending_entries() FROM PUBLIC;
SELECT alerts.bound_pending_entries();
"""

EMPTYING = """
-- Some of them, in order of id; gives the last one's, or null where there are no more.
CREATE FUNCTION alerts.keep_past_alerts(partition text, after uuid, most integer) RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
    past CONSTANT alerts.alert_partitions := alerts.past_partition(partition);
    last uuid;
BEGIN
    EXECUTE format(
        'WITH batch AS MATERIALIZED (SELECT * FROM alerts.%I WHERE alert_id > %L ORDER BY alert_id LIMIT %s), kept AS ('
        ' INSERT INTO alerts.past_alerts SELECT alert_id, rule_id, group_values, event_time, detected_at,'
        ' (content ->> ''windowEnd'')::bigint - (content ->> ''windowStart'')::bigint,'
        ' json_build_object(''value'', content -> ''value'', ''operator'', content -> ''operator'','
        ' ''limit'', content -> ''limit'') FROM batch ON CONFLICT DO NOTHING)'
        ' SELECT alert_id FROM batch ORDER BY alert_id DESC LIMIT 1', past.name, after, most) INTO last;
    RETURN last;
END
$$;

-- Gives their number; null where something is otherwise than who calls believes, and nothing happened. Until the lock
-- is there for all of them nobody waits, and until then nothing is written: the alert stream goes on.
CREATE FUNCTION alerts.empty_alert_partition(partition text, expected bigint, digest numeric) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog SET lock_timeout = '2s' AS $$
DECLARE
    past CONSTANT alerts.alert_partitions := alerts.past_partition(partition);
    mark record;
    forgotten boolean;
BEGIN
    EXECUTE format('LOCK TABLE alerts.%I IN SHARE MODE', past.name);
    IF digest IS NOT NULL THEN
        mark := alerts.mark_of_alert_partition(partition);
        IF mark.alerts <> expected OR mark.digest <> empty_alert_partition.digest THEN
            RETURN NULL;
        END IF;
    END IF;
    EXECUTE format('SELECT count(*), coalesce(bool_or(p.alert_id IS NULL), false)'
                   ' FROM alerts.%I a LEFT JOIN alerts.past_alerts p USING (alert_id)', past.name)
       INTO expected, forgotten;
    IF forgotten OR alerts.unresolved_cases_of(partition) > 0 THEN
        RETURN NULL;
    END IF;
    EXECUTE format('TRUNCATE alerts.%I', past.name);
    DELETE FROM alerts.alert_counts
     WHERE hour < past.ends / 3600000 AND (past.begins IS NULL OR hour >= past.begins / 3600000);
    DELETE FROM alerts.alert_count_changes
     WHERE hour < past.ends / 3600000 AND (past.begins IS NULL OR hour >= past.begins / 3600000);
    RETURN expected;
END
$$;

REVOKE ALL ON FUNCTION alerts.alert_partitions_before(bigint), alerts.past_partition(text),
    alerts.unresolved_cases_of(text), alerts.archive_query(text), alerts.read_alert_partition(text, uuid, integer),
    alerts.mark_of_alert_partition(text), alerts.keep_past_alerts(text, uuid, integer),
    alerts.empty_alert_partition(text, bigint, numeric) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION alerts.alert_partitions_before(bigint), alerts.unresolved_cases_of(text),
    alerts.read_alert_partition(text, uuid, integer), alerts.mark_of_alert_partition(text),
    alerts.keep_past_alerts(text, uuid, integer), alerts.empty_alert_partition(text, bigint, numeric)
    TO tripline_alert_retention;
RESET ROLE;
"""


def upgrade() -> None:
    """Create the table and the functions, mend the indexes."""
    for statements in (PAST, LINES, INDEXES, EMPTYING):
        op.execute(statements)


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
