"""Snoozes: alerts of a scope are kept out of episodes and cases for a time.

``alerts.snooze_requests`` and ``alerts.snooze_steps`` belong to the log of 0026: their positions are of the same
sequence, and whoever appends holds the row of ``alerts.case_cursor``. Nothing changes a row of them. A step names the
request that it is about by its hash and by who asked: so it is the database that refuses a decision of that person, and
an approval of something else than what was asked for.

The other two tables are what the log adds up to, as the tables of 0026 are.
"""

from __future__ import annotations

from alembic import op

revision = "0030_snoozes"
down_revision = "0029_verifications"
branch_labels = None
depends_on = None

# Times are ms since the epoch.
TABLES = """
SET LOCAL ROLE tripline_owner;

CREATE TABLE alerts.snooze_requests (
    snooze_id       bigint PRIMARY KEY DEFAULT nextval('alerts.alert_events_position_seq'),
    occurred_at     bigint NOT NULL,
    actor           text NOT NULL CHECK (length(actor) BETWEEN 1 AND 64),
    rule_id         bigint,
    subject_field   text,
    subject_value   text,
    group_values    jsonb CHECK (jsonb_typeof(group_values) = 'object' AND group_values <> '{}'),
    until           text NOT NULL CHECK (length(until) <= 64),     -- RFC 3339, as it was asked for
    expires_at      bigint NOT NULL,                               -- the same
    reason          text NOT NULL CHECK (length(reason) BETWEEN 1 AND 2000),
    four_eyes       boolean NOT NULL,
    content_hash    text NOT NULL CHECK (content_hash ~ '^[0-9a-f]{64}$'),
    request_id      text,
    idempotency_key text,
    request_hash    text,
    UNIQUE (snooze_id, actor, content_hash),
    CHECK (expires_at > occurred_at),
    CHECK ((subject_field IS NULL) = (subject_value IS NULL)),
    CHECK ((idempotency_key IS NULL) = (request_hash IS NULL)),
    CONSTRAINT of_something CHECK (num_nonnulls(rule_id, subject_field, group_values) > 0)
);
CREATE INDEX snooze_requests_by_end ON alerts.snooze_requests (expires_at);
CREATE UNIQUE INDEX snooze_requests_once ON alerts.snooze_requests (actor, idempotency_key)
    WHERE idempotency_key IS NOT NULL;

CREATE TABLE alerts.snooze_steps (
    position        bigint PRIMARY KEY DEFAULT nextval('alerts.alert_events_position_seq'),
    snooze_id       bigint NOT NULL,
    version         integer NOT NULL CHECK (version BETWEEN 2 AND 3),
    type            text NOT NULL CHECK (type IN ('SnoozeApproved', 'SnoozeRejected', 'SnoozeEnded')),
    occurred_at     bigint NOT NULL,
    actor           text NOT NULL CHECK (length(actor) BETWEEN 1 AND 64),
    reason          text NOT NULL CHECK (length(reason) BETWEEN 1 AND 2000),
    requested_by    text NOT NULL,
    content_hash    text NOT NULL,
    request_id      text,
    idempotency_key text,
    request_hash    text,
    UNIQUE (snooze_id, version),
    FOREIGN KEY (snooze_id, requested_by, content_hash)
        REFERENCES alerts.snooze_requests (snooze_id, actor, content_hash),
    CHECK (position > snooze_id),
    CHECK ((idempotency_key IS NULL) = (request_hash IS NULL)),
    CONSTRAINT four_eyes CHECK (type = 'SnoozeEnded' OR actor <> requested_by)
);
CREATE UNIQUE INDEX snooze_steps_decided_once ON alerts.snooze_steps (snooze_id) WHERE type <> 'SnoozeEnded';
CREATE UNIQUE INDEX snooze_steps_ended_once ON alerts.snooze_steps (snooze_id) WHERE type = 'SnoozeEnded';
CREATE UNIQUE INDEX snooze_steps_once ON alerts.snooze_steps (actor, snooze_id, idempotency_key)
    WHERE idempotency_key IS NOT NULL;

-- No reference goes from here to alerts: what is made again is emptied first.
CREATE TABLE alerts.snoozed_alerts (
    alert_id   uuid PRIMARY KEY,
    snooze_id  bigint NOT NULL,
    event_time bigint NOT NULL
);
CREATE INDEX snoozed_alerts_newest ON alerts.snoozed_alerts (snooze_id, event_time DESC, alert_id);

CREATE TABLE alerts.snooze_counts (
    snooze_id bigint PRIMARY KEY,
    alerts    bigint NOT NULL,
    first     bigint NOT NULL,              -- event times
    last      bigint NOT NULL
);
"""

GRANTS = """
GRANT SELECT ON alerts.snooze_requests, alerts.snooze_steps TO tripline_alert_projector, tripline_alert_api;
GRANT INSERT (occurred_at, actor, rule_id, subject_field, subject_value, group_values, until, expires_at, reason,
              four_eyes, content_hash, request_id, idempotency_key, request_hash)
    ON alerts.snooze_requests TO tripline_alert_api;
GRANT INSERT (snooze_id, version, type, occurred_at, actor, reason, requested_by, content_hash, request_id,
              idempotency_key, request_hash) ON alerts.snooze_steps TO tripline_alert_api;

GRANT SELECT, INSERT, UPDATE, DELETE ON alerts.snoozed_alerts, alerts.snooze_counts TO tripline_alert_projector;
GRANT SELECT ON alerts.snoozed_alerts, alerts.snooze_counts TO tripline_alert_api;
GRANT SELECT ON alerts.snooze_requests, alerts.snooze_steps, alerts.snoozed_alerts, alerts.snooze_counts
    TO tripline_oncall;

RESET ROLE;
"""


def upgrade() -> None:
    """Create tables and grants."""
    for statements in (TABLES, GRANTS):
        op.execute(statements)


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
