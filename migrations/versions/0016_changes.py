"""Changes that a second person has to approve.

Every content that a change has had stays, with who wrote it: nobody who wrote one of them can decide on the change,
whatever the service believes. What was decided stays decided.
"""

from __future__ import annotations

from alembic import op

revision = "0016_changes"
down_revision = "0015_audit_trail"
branch_labels = None
depends_on = None

CHANGES = """
SET LOCAL ROLE tripline_owner;

CREATE TABLE registry.change_revisions (
    change_id    bigint NOT NULL CHECK (change_id > 0),
    revision     integer NOT NULL CHECK (revision > 0),
    content      jsonb NOT NULL CHECK (jsonb_typeof(content) = 'object'),
    content_hash text NOT NULL CHECK (content_hash ~ '^[0-9a-f]{64}$'),
    editor       text NOT NULL,
    created_at   bigint NOT NULL,              -- ms since the epoch
    PRIMARY KEY (change_id, revision),
    UNIQUE (change_id, revision, content_hash)
);
CREATE TRIGGER only_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON registry.change_revisions
    FOR EACH STATEMENT EXECUTE FUNCTION registry.refuse_another_past();

CREATE TABLE registry.changes (
    change_id    bigint PRIMARY KEY,
    revision     integer NOT NULL,
    content_hash text NOT NULL,
    kind         text NOT NULL,
    subject_kind text NOT NULL CHECK (subject_kind IN ('rule', 'list', 'parameter', 'settings', 'command')),
    subject_id   text,
    state        text NOT NULL CHECK (state IN ('DRAFT', 'SUBMITTED', 'APPROVED', 'WITHDRAWN')),
    editors      text[] NOT NULL CHECK (cardinality(editors) > 0),
    created_at   bigint NOT NULL,              -- ms since the epoch
    changed_at   bigint NOT NULL,              -- ms since the epoch
    break_glass  boolean NOT NULL,
    decided_by   text,
    decided_at   bigint,                       -- ms since the epoch
    position     bigint REFERENCES registry.rule_events (position),
    reason       text,
    FOREIGN KEY (change_id, revision, content_hash)
        REFERENCES registry.change_revisions (change_id, revision, content_hash),
    CONSTRAINT four_eyes CHECK (decided_by IS NULL OR decided_by <> ALL (editors)),
    CHECK ((decided_by IS NULL) = (decided_at IS NULL)),
    CHECK ((state = 'APPROVED') = (decided_by IS NOT NULL OR break_glass)),
    CHECK (position IS NULL OR state = 'APPROVED')
);
-- One open change of each rule, list, parameter and of the settings.
CREATE UNIQUE INDEX changes_open ON registry.changes (subject_kind, coalesce(subject_id, ''))
    WHERE state IN ('DRAFT', 'SUBMITTED') AND subject_kind <> 'command';
CREATE INDEX changes_by_subject ON registry.changes (subject_kind, subject_id, change_id);
CREATE INDEX changes_by_state ON registry.changes (state, change_id);
CREATE INDEX changes_to_review ON registry.changes (change_id) WHERE break_glass AND decided_by IS NULL;
CREATE INDEX changes_new_rules ON registry.changes ((subject_id::bigint)) WHERE kind = 'PUBLISH_RULE';
CREATE UNIQUE INDEX changes_by_position ON registry.changes (position);

CREATE FUNCTION registry.demand_second_person() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND (OLD.decided_by IS NOT NULL OR OLD.state = 'WITHDRAWN') THEN
        RAISE EXCEPTION 'change % is decided', OLD.change_id USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF EXISTS (SELECT FROM registry.change_revisions r
                WHERE r.change_id = NEW.change_id AND r.editor = NEW.decided_by) THEN
        RAISE EXCEPTION 'change % cannot be decided on by %, who wrote it', NEW.change_id, NEW.decided_by
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
END
$$;
REVOKE ALL ON FUNCTION registry.demand_second_person() FROM PUBLIC;

CREATE TRIGGER demand_second_person BEFORE INSERT OR UPDATE ON registry.changes
    FOR EACH ROW EXECUTE FUNCTION registry.demand_second_person();

GRANT SELECT, INSERT ON registry.change_revisions TO tripline_registry_api;
GRANT SELECT, INSERT, UPDATE ON registry.changes TO tripline_registry_api;

RESET ROLE;
"""


def upgrade() -> None:
    """Create tables, constraints and grants."""
    op.execute(CHANGES)


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
