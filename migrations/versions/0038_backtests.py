"""Backtests: rules that are tried over recorded history, as jobs that outlive whoever works on them.

A job is the registry's. What it is judged beside belongs to the alert API: which transactions people have decided on is
told by a function that runs as the owner, so that the registry sees no alert and no case.
"""

from __future__ import annotations

from alembic import op

revision = "0038_backtests"
down_revision = "0037_alert_orders"
branch_labels = None
depends_on = None

# Times are ms since the epoch.
TABLES = """
SET LOCAL ROLE tripline_owner;

CREATE TABLE registry.backtests (
    backtest_id  integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_key      uuid NOT NULL UNIQUE,
    state        text NOT NULL CHECK (state IN ('queued', 'running', 'cancelling', 'done', 'failed', 'cancelled')),
    wanted       jsonb NOT NULL,
    rule_ids     bigint[] NOT NULL,
    requested_by text NOT NULL,
    requested_at bigint NOT NULL,
    started_at   bigint,
    ended_at     bigint,
    expires_at   bigint,
    attempts     integer NOT NULL DEFAULT 0,
    progress     jsonb NOT NULL DEFAULT '{}',
    note         text,
    failure      text,
    result       jsonb,
    CHECK ((state IN ('done', 'failed', 'cancelled')) = (ended_at IS NOT NULL)),
    CHECK ((ended_at IS NULL) = (expires_at IS NULL)),
    CHECK ((state = 'done') = (result IS NOT NULL)),
    CHECK ((state = 'failed') = (failure IS NOT NULL))
);
CREATE INDEX backtests_open ON registry.backtests (backtest_id) WHERE ended_at IS NULL;
CREATE INDEX backtests_expired ON registry.backtests (expires_at);
CREATE INDEX backtests_of_rule ON registry.backtests USING gin (rule_ids);

CREATE TABLE registry.backtest_alerts (
    backtest_id integer NOT NULL REFERENCES registry.backtests ON DELETE CASCADE,
    number      integer NOT NULL CHECK (number > 0),   -- in the recorded order
    alert       json NOT NULL,                         -- its text as it came
    PRIMARY KEY (backtest_id, number)
);

-- One row: who holds it looks at the jobs.
CREATE TABLE registry.backtest_desk (
    single boolean PRIMARY KEY DEFAULT true CHECK (single)
);
INSERT INTO registry.backtest_desk DEFAULT VALUES;
"""

# The alerts of an episode are those of its rule and group between its ends: one walk along the index for each. Who has
# decided both ways has decided that it is fraud.
LABELS = """
CREATE FUNCTION alerts.decided_transactions(id_field text, first bigint, until bigint, most integer)
RETURNS TABLE (transaction_id text, fraud boolean)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
    SELECT a.content -> 'transaction' ->> id_field, bool_or(c.outcome = 'confirmed_fraud')
      FROM alerts.cases c JOIN alerts.case_episodes l USING (case_id) JOIN alerts.episodes e USING (episode_id),
           LATERAL (SELECT x.content FROM alerts.alerts x
                     WHERE x.rule_id = e.rule_id
                       AND jsonb_hash_extended(x.group_values, 0) = jsonb_hash_extended(e.group_text::jsonb, 0)
                       AND x.group_values = e.group_text::jsonb
                       AND x.event_time BETWEEN greatest(e.first, decided_transactions.first)
                                            AND least(e.last, until - 1)) a
     WHERE c.state = 'resolved' AND c.outcome IN ('confirmed_fraud', 'false_positive')
       AND c.last >= decided_transactions.first AND c.first < until
     GROUP BY 1 LIMIT most
$$;
REVOKE ALL ON FUNCTION alerts.decided_transactions(text, bigint, bigint, integer) FROM PUBLIC;

GRANT USAGE ON SCHEMA alerts TO tripline_registry_api;
GRANT EXECUTE ON FUNCTION alerts.decided_transactions(text, bigint, bigint, integer) TO tripline_registry_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON registry.backtests, registry.backtest_alerts TO tripline_registry_api;
-- To lock a row asks for the right to change it.
GRANT SELECT, UPDATE ON registry.backtest_desk TO tripline_registry_api;

RESET ROLE;
"""


def upgrade() -> None:
    """Create tables, function and grants."""
    for statements in (TABLES, LABELS):
        op.execute(statements)


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
