"""Shadows: a version that runs beside a rule's own, and whose alerts are told apart.

A rule has one at most, which stands in its row until it is promoted or ended.
"""

from __future__ import annotations

from alembic import op

revision = "0045_shadow"
down_revision = "0044_amount_steps"
branch_labels = None
depends_on = None

LOG = """
SET LOCAL ROLE tripline_owner;

ALTER TABLE registry.rule_events
    DROP CONSTRAINT rule_events_type_check,
    ADD CONSTRAINT rule_events_type_check CHECK (
        type IN ('RulePublished', 'RulePaused', 'RuleResumed', 'RuleDeleted', 'RuleShadowStarted', 'RuleShadowEnded',
                 'RuleShadowPromoted', 'SettingsChanged', 'ControlCommand', 'ListChanged', 'ListEntriesChanged',
                 'ParameterChanged')
    );

ALTER TABLE registry.rules ADD COLUMN shadow jsonb CHECK (jsonb_typeof(shadow) = 'object');
"""

# A promoted version has the number with which it was started: alerts of it may be stored from then on, and no earlier.
VERSIONS = """
CREATE OR REPLACE VIEW alerts.published_versions AS
    SELECT rule_id, version FROM registry.rule_events WHERE type = 'RulePublished'
    UNION ALL
    SELECT rule_id, (body ->> 'definitionVersion')::integer FROM registry.rule_events
     WHERE type = 'RuleShadowPromoted';

CREATE VIEW alerts.started_shadows AS
    SELECT rule_id, version FROM registry.rule_events WHERE type = 'RuleShadowStarted';

GRANT SELECT ON alerts.started_shadows TO tripline_alert_projector;
"""

# What it takes to compare them with the rule's alerts; the whole of each stands in the topic, for as long.
ALERTS = """
CREATE TABLE alerts.shadow_alerts (
    alert_id       uuid PRIMARY KEY,
    rule_id        bigint NOT NULL,
    rule_version   integer NOT NULL,
    event_time     bigint NOT NULL,            -- ms since the epoch
    detected_at    bigint NOT NULL,            -- ms since the epoch
    transaction_id text NOT NULL,
    group_values   jsonb NOT NULL
);
CREATE INDEX shadow_alerts_by_version ON alerts.shadow_alerts (rule_id, rule_version, event_time);
CREATE INDEX shadow_alerts_by_detection ON alerts.shadow_alerts (detected_at);

GRANT SELECT, INSERT ON alerts.shadow_alerts TO tripline_alert_projector;
GRANT SELECT ON alerts.shadow_alerts TO tripline_alert_api;
GRANT SELECT, DELETE ON alerts.shadow_alerts TO tripline_alert_retention;

RESET ROLE;
"""


def upgrade() -> None:
    """Widen the log and the rules; a table for the alerts of shadows."""
    for statements in (LOG, VERSIONS, ALERTS):
        op.execute(statements)


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
