"""Entries of lists, one by one: a list may have a million, and some of them end at a time.

What was a list's JSON becomes rows; the list's row keeps how many there are and what they come to.
"""

from __future__ import annotations

from alembic import op

revision = "0022_list_entries"
down_revision = "0021_effective_until"
branch_labels = None
depends_on = None

# Changes of a list have one row of versions, whether of entries or of the whole.
LOG = """
SET LOCAL ROLE tripline_owner;

ALTER TABLE registry.rule_events
    DROP CONSTRAINT rule_events_type_check,
    DROP CONSTRAINT rule_events_of_a_rule,
    DROP CONSTRAINT rule_events_of_a_name,
    ADD CONSTRAINT rule_events_type_check CHECK (
        type IN ('RulePublished', 'RulePaused', 'RuleResumed', 'RuleDeleted', 'SettingsChanged', 'ControlCommand',
                 'ListChanged', 'ListEntriesChanged', 'ParameterChanged')
    ),
    ADD CONSTRAINT rule_events_of_a_rule CHECK (
        (rule_id IS NULL)
        = (type IN ('SettingsChanged', 'ControlCommand', 'ListChanged', 'ListEntriesChanged', 'ParameterChanged'))
    ),
    ADD CONSTRAINT rule_events_of_a_name CHECK (
        (name IS NOT NULL) = (type IN ('ListChanged', 'ListEntriesChanged', 'ParameterChanged'))
    );

DROP INDEX registry.rule_events_one_per_name;
CREATE UNIQUE INDEX rule_events_one_per_name ON registry.rule_events ((type = 'ParameterChanged'), name, version)
    WHERE name IS NOT NULL;
"""

ENTRIES = """
CREATE TABLE registry.list_entries (
    name     text COLLATE "C" NOT NULL,
    value    text COLLATE "C" NOT NULL CHECK (char_length(value) BETWEEN 1 AND 64),
    until    bigint,                           -- ms since the epoch; NULL: it stays
    position bigint NOT NULL,                  -- of the event that brought it, or its end
    PRIMARY KEY (name, value)
);
CREATE INDEX list_entries_by_end ON registry.list_entries (until) WHERE until IS NOT NULL;
CREATE INDEX list_entries_with_end ON registry.list_entries (name) WHERE until IS NOT NULL;

INSERT INTO registry.list_entries (name, value, position)
SELECT n.name, v.value, n.position
FROM registry.named_values n, jsonb_array_elements_text(n.value) AS v (value) WHERE n.kind = 'list';

ALTER TABLE registry.named_values
    ADD COLUMN size integer,
    ADD COLUMN bytes bigint,                   -- of the values' canonical JSON, less one bracket
    DROP CONSTRAINT named_values_check,
    ALTER COLUMN value DROP NOT NULL;
UPDATE registry.named_values n SET value = NULL, (size, bytes) = (
    SELECT count(*), coalesce(sum(octet_length(to_jsonb(e.value)::text) + 1), 0)
    FROM registry.list_entries e WHERE e.name = n.name
) WHERE kind = 'list';
ALTER TABLE registry.named_values ADD CONSTRAINT named_values_check CHECK (
    CASE kind WHEN 'list' THEN value IS NULL AND size >= 0 AND bytes >= 0
              ELSE jsonb_typeof(value) = 'string' AND size IS NULL AND bytes IS NULL END
);

GRANT SELECT, INSERT, UPDATE, DELETE ON registry.list_entries TO tripline_registry_api;

RESET ROLE;
"""


def upgrade() -> None:
    """Widen the log, move the values of lists, grant."""
    for statements in (LOG, ENTRIES):
        op.execute(statements)


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
