"""Estimates of what a rule will say and cost, for changes that somebody else approves.

An estimate is one row of its change: of the last revision that one was begun for. What the rule gave on its first day
comes beside it, as two counts: the registry still sees no alert.
"""

from __future__ import annotations

from alembic import op

revision = "0043_estimates"
down_revision = "0042_webhook_subjects"
branch_labels = None
depends_on = None

# Times are ms since the epoch.
TABLES = """
SET LOCAL ROLE tripline_owner;

CREATE TABLE registry.estimates (
    change_id  bigint PRIMARY KEY REFERENCES registry.changes,
    revision   integer NOT NULL,
    state      text NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'failed')),
    run_key    uuid UNIQUE,
    attempts   integer NOT NULL,
    started_at bigint,
    ended_at   bigint,
    note       text,
    failure    text,
    result     jsonb,
    actual     jsonb,
    CHECK ((state IN ('done', 'failed')) = (ended_at IS NOT NULL)),
    CHECK ((state = 'done') = (result IS NOT NULL)),
    CHECK ((state = 'failed') = (failure IS NOT NULL)),
    CHECK (state <> 'running' OR run_key IS NOT NULL),
    CHECK (actual IS NULL OR state = 'done')
);
CREATE INDEX estimates_running ON registry.estimates (change_id) WHERE state = 'running';
CREATE INDEX estimates_to_compare ON registry.estimates (change_id) WHERE state = 'done' AND actual IS NULL;
CREATE INDEX changes_of_rules_lately ON registry.changes (changed_at) WHERE kind IN ('PUBLISH_RULE', 'CHANGE_RULE');
"""

ACTUAL = """
CREATE FUNCTION alerts.figures_of_rule(rule bigint, first bigint, until bigint)
RETURNS TABLE (alerts bigint, groups bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
    SELECT count(*), count(DISTINCT a.group_values) FROM alerts.alerts a
     WHERE a.rule_id = rule AND a.event_time >= first AND a.event_time < until
$$;
REVOKE ALL ON FUNCTION alerts.figures_of_rule(bigint, bigint, bigint) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION alerts.figures_of_rule(bigint, bigint, bigint) TO tripline_registry_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON registry.estimates TO tripline_registry_api;

RESET ROLE;
"""


def upgrade() -> None:
    """Create table, function and grants."""
    for statements in (TABLES, ACTUAL):
        op.execute(statements)


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
