"""The registry schema: the log of rule events, what is derived from it, and who may do what.

* ``registry.rule_events`` is the truth, and append-only by grants: nobody's role may update or delete. Positions are
  assigned under an advisory lock that is held until commit, so that position order is commit order.
* ``registry.rules`` and ``registry.rule_status`` are projections, the first of the log, the second of rule-status.v1.
* ``registry.relay_cursor`` is how far the log has been delivered to Kafka.
"""

from __future__ import annotations

from alembic import op

revision = "0001_registry"
down_revision = None
branch_labels = None
depends_on = None

ROLES = """
DO $$
DECLARE
    wanted text;
BEGIN
    FOREACH wanted IN ARRAY ARRAY[
        'tripline_registry_api', 'tripline_registry_relay', 'tripline_registry_status'
    ] LOOP
        BEGIN
            EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
        EXCEPTION WHEN duplicate_object OR unique_violation THEN
            NULL;  -- roles belong to the cluster: another database may have made them
        END;
    END LOOP;
END
$$
"""

LOG = """
CREATE SCHEMA registry;

-- One row per event; `body` is the record of rules.v1 as it stands. A rule's events carry its id and version; the
-- settings have no id, and their own versions.
CREATE TABLE registry.rule_events (
    position    bigint PRIMARY KEY CHECK (position > 0),
    event_id    uuid NOT NULL UNIQUE,
    type        text NOT NULL CHECK (
        type IN ('RulePublished', 'RulePaused', 'RuleResumed', 'RuleDeleted', 'SettingsChanged')
    ),
    rule_id     bigint CHECK (rule_id > 0),
    version     integer NOT NULL CHECK (version > 0),
    occurred_at bigint NOT NULL,               -- ms since the epoch
    actor       text NOT NULL,
    body        jsonb NOT NULL CHECK (jsonb_typeof(body) = 'object'),
    CHECK ((rule_id IS NULL) = (type = 'SettingsChanged')),
    CONSTRAINT rule_events_one_per_version UNIQUE NULLS NOT DISTINCT (rule_id, version)
);

CREATE TABLE registry.relay_cursor (
    only_one   boolean PRIMARY KEY DEFAULT true CHECK (only_one),
    position   bigint NOT NULL CHECK (position >= 0),
    updated_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO registry.relay_cursor (position) VALUES (0);
"""

PROJECTIONS = """
CREATE TABLE registry.rules (
    rule_id            bigint PRIMARY KEY,
    version            integer NOT NULL,
    definition_version integer NOT NULL,
    state              text NOT NULL CHECK (state IN ('ACTIVE', 'PAUSED', 'DELETED')),
    name               text NOT NULL,
    definition         jsonb NOT NULL,
    definition_hash    text NOT NULL,
    grouping_key_names text[] NOT NULL,
    effective_from     bigint NOT NULL,        -- ms since the epoch, event time
    changed_at         bigint NOT NULL,        -- ms since the epoch
    changed_by         text NOT NULL,
    position           bigint NOT NULL
);
CREATE INDEX rules_by_state ON registry.rules (state, rule_id);

-- What each shard said last about each rule.
CREATE TABLE registry.rule_status (
    rule_id    bigint NOT NULL,
    shard      integer NOT NULL CHECK (shard >= 0),
    shards     integer NOT NULL CHECK (shards > shard),
    version    integer NOT NULL,
    position   bigint NOT NULL,
    applied_at bigint NOT NULL,                -- ms since the epoch
    warm_from  bigint,                         -- ms since the epoch, event time; null before the first tick
    PRIMARY KEY (rule_id, shard)
);

-- Answers to POSTs with an Idempotency-Key, for a day.
CREATE TABLE registry.idempotency_keys (
    actor        text NOT NULL,
    key          text NOT NULL,
    request_hash text NOT NULL,
    status       integer NOT NULL,
    headers      jsonb NOT NULL,
    body         jsonb NOT NULL,
    expires_at   bigint NOT NULL,              -- ms since the epoch
    PRIMARY KEY (actor, key)
);
CREATE INDEX idempotency_keys_by_expiry ON registry.idempotency_keys (expires_at);
"""

GRANTS = """
GRANT USAGE ON SCHEMA registry TO tripline_registry_api, tripline_registry_relay, tripline_registry_status;

GRANT SELECT, INSERT ON registry.rule_events TO tripline_registry_api;
GRANT SELECT, INSERT, UPDATE ON registry.rules TO tripline_registry_api;
GRANT SELECT ON registry.rule_status TO tripline_registry_api;
GRANT SELECT, INSERT, DELETE ON registry.idempotency_keys TO tripline_registry_api;

GRANT SELECT (position, event_id, type, rule_id, occurred_at, body) ON registry.rule_events
    TO tripline_registry_relay;
GRANT SELECT, UPDATE (position, updated_at) ON registry.relay_cursor TO tripline_registry_relay;

GRANT SELECT, INSERT, UPDATE ON registry.rule_status TO tripline_registry_status;
"""


def upgrade() -> None:
    """Create schema, tables and grants."""
    for statements in (ROLES, LOG, PROJECTIONS, GRANTS):
        op.execute(statements)


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
