"""Webhooks: whom the notifier tells what becomes of cases, and what came of each notice.

People ask for one, change it and approve it through the API, which writes secrets (sealed) and cannot read them. What
is asked for anew takes an approval away with it. The notifier, which alone has secrets, moves a webhook's position and
keeps its deliveries. What people do is a history that nobody changes.
"""

from __future__ import annotations

from alembic import op

revision = "0039_webhooks"
down_revision = "0038_backtests"
branch_labels = None
depends_on = None

# Times are ms since the epoch.
TABLES = """
SET LOCAL ROLE tripline_owner;

CREATE TABLE alerts.webhooks (
    webhook_id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name          text NOT NULL CHECK (length(name) BETWEEN 1 AND 64),
    url           text NOT NULL CHECK (length(url) BETWEEN 1 AND 2000),
    template      text NOT NULL CHECK (template IN ('cloudevents', 'slack')),
    event_types   text[] NOT NULL CHECK (cardinality(event_types) > 0),
    min_severity  text CHECK (min_severity IN ('critical', 'high', 'medium', 'low', 'info')),
    rule_ids      bigint[] NOT NULL,                       -- none: cases of all rules
    secret_sealed bytea NOT NULL,
    content_hash  text NOT NULL CHECK (content_hash ~ '^[0-9a-f]{64}$'),
    version       integer NOT NULL DEFAULT 1 CHECK (version > 0),
    four_eyes     boolean NOT NULL,
    requested_by  text NOT NULL CHECK (length(requested_by) BETWEEN 1 AND 64),
    requested_at  bigint NOT NULL,
    approved_by   text CHECK (length(approved_by) BETWEEN 1 AND 64),
    approved_at   bigint,
    paused_by     text,
    paused_at     bigint,
    removed_by    text,
    removed_at    bigint,
    position      bigint NOT NULL CHECK (position >= 0),   -- of the log: up to here it was told
    replays       integer NOT NULL DEFAULT 0,              -- how often somebody moved the position
    ping_at       bigint,                                  -- somebody asked for a test that was not sent yet
    CHECK ((approved_by IS NULL) = (approved_at IS NULL)),
    CHECK ((paused_by IS NULL) = (paused_at IS NULL)),
    CHECK ((removed_by IS NULL) = (removed_at IS NULL)),
    CONSTRAINT four_eyes CHECK (approved_by <> requested_by)
);
CREATE UNIQUE INDEX webhooks_by_name ON alerts.webhooks (name) WHERE removed_at IS NULL;

CREATE TABLE alerts.webhook_deliveries (
    webhook_id  bigint NOT NULL REFERENCES alerts.webhooks,
    event_id    text NOT NULL,
    type        text NOT NULL,
    position    bigint NOT NULL,
    state       text NOT NULL CHECK (state IN ('retrying', 'delivered', 'dead')),
    attempts    integer NOT NULL CHECK (attempts > 0),
    last_status integer,
    last_error  text CHECK (length(last_error) <= 300),
    changed_at  bigint NOT NULL,
    PRIMARY KEY (webhook_id, event_id)
);
CREATE INDEX webhook_deliveries_newest
    ON alerts.webhook_deliveries (webhook_id, changed_at DESC, event_id DESC);
CREATE INDEX webhook_deliveries_not_taken
    ON alerts.webhook_deliveries (webhook_id, state, changed_at DESC, event_id DESC) WHERE state <> 'delivered';

CREATE TABLE alerts.webhook_steps (
    step_id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    webhook_id  bigint NOT NULL REFERENCES alerts.webhooks,
    type        text NOT NULL CHECK (type IN ('WebhookRequested', 'WebhookApproved', 'WebhookChanged', 'WebhookPaused',
                                              'WebhookResumed', 'WebhookTested', 'WebhookReplayed', 'WebhookRemoved')),
    actor       text NOT NULL CHECK (length(actor) BETWEEN 1 AND 64),
    occurred_at bigint NOT NULL,
    version     integer NOT NULL,
    detail      jsonb NOT NULL
);
CREATE INDEX webhook_steps_of_one ON alerts.webhook_steps (webhook_id, step_id);

-- One row: who delivers, and until when nobody else may.
CREATE TABLE alerts.webhook_lease (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    holder text,
    until  timestamptz NOT NULL
);
INSERT INTO alerts.webhook_lease (until) VALUES ('-infinity');
"""

# What was approved is what is told: whoever changes it, the API itself, needs another approval.
TRIGGER = """
CREATE FUNCTION alerts.webhook_change_ends_approval() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF NEW.approved_by IS NOT NULL THEN
        RAISE EXCEPTION 'webhook % is changed, so its approval has to go', OLD.webhook_id
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END
$$;
REVOKE ALL ON FUNCTION alerts.webhook_change_ends_approval() FROM PUBLIC;

CREATE TRIGGER webhook_change_ends_approval BEFORE UPDATE ON alerts.webhooks FOR EACH ROW
  WHEN ((OLD.name, OLD.url, OLD.template, OLD.event_types, OLD.min_severity, OLD.rule_ids, OLD.secret_sealed,
         OLD.content_hash, OLD.version)
        IS DISTINCT FROM (NEW.name, NEW.url, NEW.template, NEW.event_types, NEW.min_severity, NEW.rule_ids,
                          NEW.secret_sealed, NEW.content_hash, NEW.version))
  EXECUTE FUNCTION alerts.webhook_change_ends_approval();
"""

GRANTS = """
GRANT SELECT (webhook_id, name, url, template, event_types, min_severity, rule_ids, content_hash, version, four_eyes,
              requested_by, requested_at, approved_by, approved_at, paused_by, paused_at, removed_by, removed_at,
              position, replays, ping_at),
      INSERT (name, url, template, event_types, min_severity, rule_ids, secret_sealed, content_hash, four_eyes,
              requested_by, requested_at, position),
      UPDATE (name, url, template, event_types, min_severity, rule_ids, secret_sealed, content_hash, version,
              requested_by, requested_at, approved_by, approved_at, paused_by, paused_at, removed_by, removed_at,
              position, replays, ping_at)
   ON alerts.webhooks TO tripline_alert_api;
GRANT SELECT ON alerts.webhook_deliveries, alerts.webhook_steps TO tripline_alert_api;
GRANT INSERT (webhook_id, type, actor, occurred_at, version, detail) ON alerts.webhook_steps TO tripline_alert_api;

GRANT SELECT, UPDATE (position, ping_at) ON alerts.webhooks TO tripline_alert_notifier;
GRANT SELECT, UPDATE (holder, until) ON alerts.webhook_lease TO tripline_alert_notifier;
GRANT SELECT, INSERT, UPDATE (state, attempts, last_status, last_error, changed_at), DELETE
   ON alerts.webhook_deliveries TO tripline_alert_notifier;
GRANT SELECT ON alerts.rule_severities TO tripline_alert_notifier;

RESET ROLE;
"""


def upgrade() -> None:
    """Create tables, trigger and grants."""
    for statements in (TABLES, TRIGGER, GRANTS):
        op.execute(statements)


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
