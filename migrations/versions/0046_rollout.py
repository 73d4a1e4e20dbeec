"""Rollouts: a shadow whose alerts count for some of the groups, while the rule's own count for the others."""

from __future__ import annotations

from alembic import op

revision = "0046_rollout"
down_revision = "0045_shadow"
branch_labels = None
depends_on = None

LOG = """
SET LOCAL ROLE tripline_owner;

ALTER TABLE registry.rule_events
    DROP CONSTRAINT rule_events_type_check,
    ADD CONSTRAINT rule_events_type_check CHECK (
        type IN ('RulePublished', 'RulePaused', 'RuleResumed', 'RuleDeleted', 'RuleShadowStarted',
                 'RuleShadowRolledOut', 'RuleShadowEnded', 'RuleShadowPromoted', 'SettingsChanged', 'ControlCommand',
                 'ListChanged', 'ListEntriesChanged', 'ParameterChanged')
    );
"""

# Times in ms since the epoch. One row for each percent that a shadow had; `until` is null while it has it.
ROLLOUTS = """
CREATE VIEW alerts.rollouts AS
    SELECT rule_id, version, percent, since, until
      FROM (SELECT rule_id, type, (body ->> 'definitionVersion')::integer AS version,
                   (body ->> 'percent')::integer AS percent, occurred_at AS since,
                   lead(occurred_at) OVER (PARTITION BY rule_id ORDER BY position) AS until
              FROM registry.rule_events
             WHERE type IN ('RulePublished', 'RuleDeleted', 'RuleShadowStarted', 'RuleShadowRolledOut',
                            'RuleShadowEnded', 'RuleShadowPromoted')) AS step
     WHERE type = 'RuleShadowRolledOut';

GRANT SELECT ON alerts.rollouts TO tripline_alert_api;
"""

# Alerts of a version on trial are the rule's from its first rollout on, and those of the versions beside it may be told
# apart as a shadow's: of any that is older, for each still judges the event times for which it was in force.
VERSIONS = """
CREATE OR REPLACE VIEW alerts.published_versions AS
    SELECT rule_id, version FROM registry.rule_events WHERE type = 'RulePublished'
    UNION ALL
    SELECT rule_id, (body ->> 'definitionVersion')::integer FROM registry.rule_events
     WHERE type IN ('RuleShadowPromoted', 'RuleShadowRolledOut');

CREATE OR REPLACE VIEW alerts.started_shadows AS
    SELECT rule_id, version FROM registry.rule_events WHERE type = 'RuleShadowStarted'
    UNION ALL
    SELECT published.rule_id, published.version
      FROM alerts.published_versions AS published
     WHERE EXISTS (SELECT FROM registry.rule_events AS event
                    WHERE event.type = 'RuleShadowRolledOut' AND event.rule_id = published.rule_id
                      AND (event.body ->> 'definitionVersion')::integer > published.version);

RESET ROLE;
"""


def upgrade() -> None:
    """Widen the log, and what may be stored as an alert of which topic."""
    for statements in (LOG, ROLLOUTS, VERSIONS):
        op.execute(statements)


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
