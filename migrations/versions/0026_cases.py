"""Episodes and cases, and the log of what people did with cases.

``alerts.case_events`` is that log. It draws its positions from the sequence of ``alerts.alert_events``, and whoever
appends alerts or work holds the row of ``alerts.case_cursor`` from before the position is drawn until the commit: the
two logs are one, in one order. Row security lets the API append what people do, and the projector the policy.

The other tables are what that log adds up to. The services write them, for a fold is no work for a trigger; they can be
made again from the log at any time, and compared with it (``alert-api cases check``).
"""

from __future__ import annotations

from alembic import op

revision = "0026_cases"
down_revision = "0025_rules_in_order"
branch_labels = None
depends_on = None

# Times are ms since the epoch. No reference goes from here to alerts: what is made again is emptied first.
TABLES = """
SET LOCAL ROLE tripline_owner;

CREATE TABLE alerts.case_events (
    position        bigint PRIMARY KEY DEFAULT nextval('alerts.alert_events_position_seq'),
    type            text NOT NULL,
    case_id         bigint,
    version         integer,
    occurred_at     bigint NOT NULL,
    actor           text,
    comment         text CHECK (length(comment) <= 2000),
    assignee        text,
    outcome         text CHECK (outcome IN ('confirmed_fraud', 'false_positive', 'known_accepted', 'inconclusive')),
    policy          jsonb,
    request_id      text,
    idempotency_key text,
    request_hash    text,
    UNIQUE (case_id, version),
    CHECK ((idempotency_key IS NULL) = (request_hash IS NULL)),
    CONSTRAINT case_events_of_a_type CHECK (
        (type = 'CasePolicySet') = (policy IS NOT NULL)
        AND (type = 'CaseAssigned') = (assignee IS NOT NULL)
        AND (type = 'CaseResolved') = (outcome IS NOT NULL)
        AND CASE WHEN type = 'CasePolicySet' THEN num_nonnulls(case_id, version, actor, comment) = 0
                 ELSE type IN ('CaseAcknowledged', 'CaseAssigned', 'CaseResolved', 'CaseReopened', 'CaseCommented')
                      AND num_nulls(case_id, version, actor) = 0 AND version > 1 AND position > 0 END
    )
);
CREATE UNIQUE INDEX case_events_once ON alerts.case_events (actor, case_id, idempotency_key)
    WHERE idempotency_key IS NOT NULL;

-- One row: the position up to which the log is folded, and the policy that holds there.
CREATE TABLE alerts.case_cursor (
    single   boolean PRIMARY KEY DEFAULT true CHECK (single),
    position bigint NOT NULL,
    policy   jsonb
);
INSERT INTO alerts.case_cursor (position) VALUES (0);

CREATE TABLE alerts.episodes (
    episode_id      bigint PRIMARY KEY,        -- position of the alert that began it
    rule_id         bigint NOT NULL,
    group_key       text COLLATE "C" NOT NULL, -- SHA-256 of the next
    group_text      text NOT NULL,             -- canonical JSON
    first           bigint NOT NULL,           -- event times
    last            bigint NOT NULL,
    until           bigint NOT NULL,
    count           bigint NOT NULL,
    peak_value      text,                      -- plain decimals
    peak_operator   text,
    peak_limit      text,
    peak_event_time bigint,
    peak_alert_id   uuid
);
CREATE INDEX episodes_of_series ON alerts.episodes (rule_id, group_key, until);

CREATE TABLE alerts.cases (
    case_id         bigint PRIMARY KEY,        -- position of the alert that opened it
    subject_key     text COLLATE "C" NOT NULL, -- SHA-256 of the next
    subject         text NOT NULL,             -- canonical JSON
    state           text NOT NULL CHECK (state IN ('open', 'acknowledged', 'assigned', 'resolved', 'reopened')),
    version         integer NOT NULL,
    count           bigint NOT NULL,
    first           bigint NOT NULL,           -- event times
    last            bigint NOT NULL,
    rule_ids        bigint[] NOT NULL,
    opened_at       bigint NOT NULL,
    changed_at      bigint NOT NULL,
    active_since    bigint NOT NULL,           -- a position
    acknowledged_by text,
    acknowledged_at bigint,
    assignee        text,
    outcome         text,
    resolved_by     text,
    resolved_at     bigint,
    CHECK ((state = 'resolved') = (outcome IS NOT NULL))
);
CREATE INDEX cases_newest ON alerts.cases (last DESC, case_id DESC);
CREATE INDEX cases_newest_unresolved ON alerts.cases (last DESC, case_id DESC) WHERE state <> 'resolved';
CREATE INDEX cases_newest_of_assignee ON alerts.cases (assignee, last DESC, case_id DESC) WHERE assignee IS NOT NULL;
CREATE INDEX cases_of_subject ON alerts.cases (subject_key, active_since DESC);
CREATE UNIQUE INDEX cases_unresolved_once ON alerts.cases (subject_key) WHERE state <> 'resolved';
CREATE INDEX cases_of_rule ON alerts.cases USING gin (rule_ids);

CREATE TABLE alerts.case_episodes (
    case_id    bigint NOT NULL,
    episode_id bigint NOT NULL,
    PRIMARY KEY (case_id, episode_id)
);
CREATE INDEX case_episodes_of_episode ON alerts.case_episodes (episode_id);

-- Alerts that opened a case, or reopened it, as its version: the part of a case's history that nobody did.
CREATE TABLE alerts.case_openings (
    case_id     bigint NOT NULL,
    version     integer NOT NULL,
    position    bigint NOT NULL,
    occurred_at bigint NOT NULL,
    PRIMARY KEY (case_id, version)
);

-- The alerts of an episode are those of its rule and group between its ends.
CREATE INDEX alerts_newest_of_series
    ON alerts.alerts (rule_id, jsonb_hash_extended(group_values, 0), event_time DESC, alert_id);
"""

GRANTS = """
GRANT USAGE ON SEQUENCE alerts.alert_events_position_seq TO tripline_alert_projector, tripline_alert_api;

GRANT SELECT (rule_id, group_values, event_time, content) ON alerts.alerts TO tripline_alert_projector;
GRANT SELECT (alert_id, position, type) ON alerts.alert_events TO tripline_alert_projector;
CREATE POLICY projector_reads ON alerts.alert_events FOR SELECT TO tripline_alert_projector USING (true);

GRANT SELECT ON alerts.case_events TO tripline_alert_projector, tripline_alert_api;
GRANT INSERT (position, type, occurred_at, policy) ON alerts.case_events TO tripline_alert_projector;
GRANT INSERT (type, case_id, version, occurred_at, actor, comment, assignee, outcome, request_id, idempotency_key,
              request_hash) ON alerts.case_events TO tripline_alert_api;
ALTER TABLE alerts.case_events ENABLE ROW LEVEL SECURITY;
CREATE POLICY all_read ON alerts.case_events FOR SELECT TO tripline_alert_projector, tripline_alert_api USING (true);
CREATE POLICY projector_sets_policy ON alerts.case_events FOR INSERT TO tripline_alert_projector
    WITH CHECK (type = 'CasePolicySet');
CREATE POLICY api_appends_work ON alerts.case_events FOR INSERT TO tripline_alert_api
    WITH CHECK (type <> 'CasePolicySet');

GRANT SELECT, UPDATE (position, policy) ON alerts.case_cursor TO tripline_alert_projector;
GRANT SELECT, UPDATE (position) ON alerts.case_cursor TO tripline_alert_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON alerts.episodes, alerts.cases, alerts.case_episodes, alerts.case_openings
    TO tripline_alert_projector;
GRANT SELECT ON alerts.episodes, alerts.cases, alerts.case_episodes, alerts.case_openings TO tripline_alert_api;
GRANT UPDATE (state, version, changed_at, active_since, acknowledged_by, acknowledged_at, assignee, outcome,
              resolved_by, resolved_at) ON alerts.cases TO tripline_alert_api;

RESET ROLE;
"""


def upgrade() -> None:
    """Create tables, grants and row security."""
    for statements in (TABLES, GRANTS):
        op.execute(statements)


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
