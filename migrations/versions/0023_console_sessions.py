"""Sessions of the console: what a browser has in place of an API key.

The id of a session is in its browser only. Here are its hash, and the key that it stands for, encrypted under the id:
who reads this table, or a backup of it, has no key.
"""

from __future__ import annotations

from alembic import op

revision = "0023_console_sessions"
down_revision = "0022_list_entries"
branch_labels = None
depends_on = None

# Times are ms since the epoch.
SESSIONS = """
SET LOCAL ROLE tripline_owner;

CREATE TABLE alerts.console_sessions (
    sha256     text PRIMARY KEY CHECK (sha256 ~ '^[0-9a-f]{64}$'),
    actor      text NOT NULL,
    sealed     bytea NOT NULL CHECK (octet_length(sealed) <= 32768),
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL
);
CREATE INDEX console_sessions_by_actor ON alerts.console_sessions (actor, created_at);
CREATE INDEX console_sessions_by_end ON alerts.console_sessions (expires_at);

GRANT SELECT, INSERT, DELETE ON alerts.console_sessions TO tripline_alert_api;

RESET ROLE;
"""


def upgrade() -> None:
    """Create the table and its grants."""
    op.execute(SESSIONS)


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
