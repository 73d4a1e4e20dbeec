"""Named lists and numeric parameters: their events in the log, and what they are now.

They have versions of their own, per kind and name; so the log carries the name, and versions are unique per rule, per
list, per parameter, and among changes of settings.
"""

from __future__ import annotations

from alembic import op

revision = "0005_lists_and_parameters"
down_revision = "0004_control_commands"
branch_labels = None
depends_on = None

LOG = """
ALTER TABLE registry.rule_events
    DROP CONSTRAINT rule_events_type_check,
    DROP CONSTRAINT rule_events_of_a_rule,
    ADD COLUMN name text COLLATE "C",
    ADD CONSTRAINT rule_events_type_check CHECK (
        type IN ('RulePublished', 'RulePaused', 'RuleResumed', 'RuleDeleted', 'SettingsChanged', 'ControlCommand',
                 'ListChanged', 'ParameterChanged')
    ),
    ADD CONSTRAINT rule_events_of_a_rule CHECK (
        (rule_id IS NULL) = (type IN ('SettingsChanged', 'ControlCommand', 'ListChanged', 'ParameterChanged'))
    ),
    ADD CONSTRAINT rule_events_of_a_name CHECK (
        (name IS NOT NULL) = (type IN ('ListChanged', 'ParameterChanged'))
    );

DROP INDEX registry.rule_events_one_per_version;
CREATE UNIQUE INDEX rule_events_one_per_version ON registry.rule_events (rule_id, version)
    WHERE rule_id IS NOT NULL;
CREATE UNIQUE INDEX rule_events_one_per_settings ON registry.rule_events (version)
    WHERE type = 'SettingsChanged';
CREATE UNIQUE INDEX rule_events_one_per_name ON registry.rule_events (type, name, version)
    WHERE name IS NOT NULL;
"""

TABLES = """
-- A projection of the log. `value` is a list's texts, ascending, or a parameter's decimal text.
CREATE TABLE registry.named_values (
    kind       text NOT NULL CHECK (kind IN ('list', 'parameter')),
    name       text COLLATE "C" NOT NULL CHECK (name ~ '^[A-Za-z][A-Za-z0-9_-]{0,63}$'),
    version    integer NOT NULL CHECK (version > 0),
    value      jsonb NOT NULL CHECK (
        jsonb_typeof(value) = CASE kind WHEN 'list' THEN 'array' ELSE 'string' END
    ),
    position   bigint NOT NULL UNIQUE REFERENCES registry.rule_events (position),
    changed_at bigint NOT NULL,                -- ms since the epoch
    changed_by text NOT NULL,
    PRIMARY KEY (kind, name)
);
"""

# Nobody deletes one: rules that name it would not be valid any more.
GRANTS = """
GRANT SELECT, INSERT, UPDATE ON registry.named_values TO tripline_registry_api;
"""


def upgrade() -> None:
    """Widen the log, create the table, grant."""
    for statements in (LOG, TABLES, GRANTS):
        op.execute(statements)


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
