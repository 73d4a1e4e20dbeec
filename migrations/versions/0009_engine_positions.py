"""Where the shards of engines stand in the log, and what the status projector may compare reports with.

The relay compares the digests with the log. The status projector stores no report about an event that is not there.
"""

from __future__ import annotations

from alembic import op

revision = "0009_engine_positions"
down_revision = "0008_events_are_announced"
branch_labels = None
depends_on = None

TABLE = """
-- The last word of each shard. `digest` is that of the events after `digest_from`, up to `position`.
CREATE TABLE registry.engine_positions (
    engine      text NOT NULL CHECK (length(engine) BETWEEN 1 AND 200),
    shard       integer NOT NULL CHECK (shard >= 0),
    shards      integer NOT NULL CHECK (shards > shard),
    position    bigint NOT NULL CHECK (position >= 0),
    digest      text NOT NULL CHECK (digest ~ '^([0-9a-f]{64})?$'),
    digest_from bigint NOT NULL CHECK (digest_from BETWEEN 0 AND position),
    is_waiting  boolean NOT NULL,
    reported_at bigint NOT NULL,               -- ms since the epoch
    PRIMARY KEY (engine, shard)
);
"""

GRANTS = """
GRANT SELECT, INSERT, UPDATE ON registry.engine_positions TO tripline_registry_status;
GRANT SELECT (position, rule_id, version) ON registry.rule_events TO tripline_registry_status;
GRANT SELECT (command_id, position) ON registry.control_commands TO tripline_registry_status;
GRANT SELECT ON registry.engine_positions TO tripline_registry_relay, tripline_registry_api;
"""


def upgrade() -> None:
    """Create the table, grant."""
    for statements in (TABLE, GRANTS):
        op.execute(statements)


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
