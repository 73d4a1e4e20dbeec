"""Alerts are counted as they come: by rule, version, hour of event time and state.

A summary of millions of alerts is then a sum of a few thousand rows. The database counts by itself, whoever stores or
acknowledges. Nobody waits for anybody else's count: each transaction leaves its changes as rows of their own, which
`alerts.settle_counts` adds up from time to time. And a list can be asked for the alerts that a transaction triggered.
"""

from __future__ import annotations

from alembic import op

revision = "0027_alert_counts"
down_revision = "0026_cases"
branch_labels = None
depends_on = None

TABLE = """
SET LOCAL ROLE tripline_owner;

CREATE TABLE alerts.alert_counts (
    rule_id            bigint NOT NULL,
    rule_version       bigint NOT NULL,
    hour               bigint NOT NULL,               -- since the epoch
    open_count         bigint NOT NULL,
    acknowledged_count bigint NOT NULL,
    PRIMARY KEY (hour, rule_id, rule_version)
);
CREATE TABLE alerts.alert_count_changes (
    rule_id      bigint NOT NULL,
    rule_version bigint NOT NULL,
    hour         bigint NOT NULL,
    raised       bigint NOT NULL,
    acknowledged bigint NOT NULL
);
CREATE INDEX alert_count_changes_by_hour ON alerts.alert_count_changes (hour);

CREATE INDEX alerts_by_transaction ON alerts.alerts (transaction_id, event_time DESC, alert_id);
"""

COUNTING = """
CREATE FUNCTION alerts.count_raised() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    INSERT INTO alerts.alert_count_changes (rule_id, rule_version, hour, raised, acknowledged)
    SELECT rule_id, rule_version, event_time / 3600000, count(*), 0 FROM raised GROUP BY 1, 2, 3;
    RETURN NULL;
END
$$;
CREATE FUNCTION alerts.count_acknowledged() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    INSERT INTO alerts.alert_count_changes (rule_id, rule_version, hour, raised, acknowledged)
    VALUES (NEW.rule_id, NEW.rule_version, NEW.event_time / 3600000, 0, 1);
    RETURN NULL;
END
$$;

-- In one transaction, so that a reader sees a change once. Of two at once the second finds nothing left.
CREATE FUNCTION alerts.settle_counts() RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
    settled bigint;
BEGIN
    WITH gone AS (
        DELETE FROM alerts.alert_count_changes RETURNING *
    ), added AS (
        INSERT INTO alerts.alert_counts AS c (rule_id, rule_version, hour, open_count, acknowledged_count)
        SELECT rule_id, rule_version, hour, sum(raised) - sum(acknowledged), sum(acknowledged)
          FROM gone GROUP BY 1, 2, 3
        ON CONFLICT (hour, rule_id, rule_version) DO UPDATE
           SET open_count = c.open_count + EXCLUDED.open_count,
               acknowledged_count = c.acknowledged_count + EXCLUDED.acknowledged_count
    )
    SELECT count(*) INTO settled FROM gone;
    RETURN settled;
END
$$;
REVOKE ALL ON FUNCTION alerts.count_raised(), alerts.count_acknowledged(), alerts.settle_counts() FROM PUBLIC;
"""

# From here to the end of the transaction nobody stores or acknowledges.
BEFORE = """
LOCK TABLE alerts.alerts IN SHARE ROW EXCLUSIVE MODE;
INSERT INTO alerts.alert_counts (rule_id, rule_version, hour, open_count, acknowledged_count)
SELECT rule_id, rule_version, event_time / 3600000, count(*) FILTER (WHERE acknowledged_at IS NULL),
       count(*) FILTER (WHERE acknowledged_at IS NOT NULL)
  FROM alerts.alerts GROUP BY 1, 2, 3;

CREATE TRIGGER count_raised AFTER INSERT ON alerts.alerts
    REFERENCING NEW TABLE AS raised FOR EACH STATEMENT EXECUTE FUNCTION alerts.count_raised();
CREATE TRIGGER count_acknowledged AFTER UPDATE OF acknowledged_at ON alerts.alerts
    FOR EACH ROW WHEN (OLD.acknowledged_at IS NULL AND NEW.acknowledged_at IS NOT NULL)
    EXECUTE FUNCTION alerts.count_acknowledged();

GRANT SELECT ON alerts.alert_counts, alerts.alert_count_changes TO tripline_alert_api;
GRANT EXECUTE ON FUNCTION alerts.settle_counts() TO tripline_alert_retention;

RESET ROLE;
"""


def upgrade() -> None:
    """Create the table, count what is there, go on counting."""
    for statements in (TABLE, COUNTING, BEFORE):
        op.execute(statements)


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
