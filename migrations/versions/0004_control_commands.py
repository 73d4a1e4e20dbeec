"""Control commands in the log, and what the engine's shards answer to an export.

A command concerns no rule and has no version: so versions are unique per rule, and among changes of settings.
``registry.control_commands`` says what followed from each; ``registry.rule_exports`` is a projection of rule-status.v1.
"""

from __future__ import annotations

from alembic import op

revision = "0004_control_commands"
down_revision = "0003_alert_stream"
branch_labels = None
depends_on = None

LOG = """
ALTER TABLE registry.rule_events
    DROP CONSTRAINT rule_events_type_check,
    DROP CONSTRAINT rule_events_check,
    DROP CONSTRAINT rule_events_one_per_version,
    ALTER COLUMN version DROP NOT NULL,
    ADD CONSTRAINT rule_events_type_check CHECK (
        type IN ('RulePublished', 'RulePaused', 'RuleResumed', 'RuleDeleted', 'SettingsChanged', 'ControlCommand')
    ),
    ADD CONSTRAINT rule_events_of_a_rule CHECK (
        (rule_id IS NULL) = (type IN ('SettingsChanged', 'ControlCommand'))
    ),
    ADD CONSTRAINT rule_events_of_a_version CHECK ((version IS NULL) = (type = 'ControlCommand'));

CREATE UNIQUE INDEX rule_events_one_per_version ON registry.rule_events (rule_id, version) NULLS NOT DISTINCT
    WHERE version IS NOT NULL;
"""

TABLES = """
-- The events that followed from a command have the positions after its own, up to last_position.
CREATE TABLE registry.control_commands (
    command_id    uuid PRIMARY KEY,
    command       text NOT NULL,
    position      bigint NOT NULL UNIQUE REFERENCES registry.rule_events (position),
    last_position bigint NOT NULL CHECK (last_position >= position),
    occurred_at   bigint NOT NULL,             -- ms since the epoch
    actor         text NOT NULL
);

-- Which rules each shard said it holds, as of the command's position.
CREATE TABLE registry.rule_exports (
    command_id  uuid NOT NULL,
    shard       integer NOT NULL CHECK (shard >= 0),
    shards      integer NOT NULL CHECK (shards > shard),
    position    bigint NOT NULL,
    exported_at bigint NOT NULL,               -- ms since the epoch
    rules       jsonb NOT NULL CHECK (jsonb_typeof(rules) = 'array'),
    PRIMARY KEY (command_id, shard)
);
"""

GRANTS = """
GRANT SELECT, INSERT ON registry.control_commands TO tripline_registry_api;
GRANT SELECT ON registry.rule_exports TO tripline_registry_api;
GRANT SELECT, INSERT, UPDATE ON registry.rule_exports TO tripline_registry_status;
"""


def upgrade() -> None:
    """Widen the log, create the tables, grant."""
    for statements in (LOG, TABLES, GRANTS):
        op.execute(statements)


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
