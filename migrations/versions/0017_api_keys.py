"""API keys that are given out over HTTP: their hashes, and what the alert API sees of them.

A key is a name, which is an actor in every history and is given once; a secret of it is kept as its SHA-256. A rotation
adds a secret and ends the one before. Neither is ever deleted, no end is moved away, nothing that was revoked comes
back.
"""

from __future__ import annotations

from alembic import op

revision = "0017_api_keys"
down_revision = "0016_changes"
branch_labels = None
depends_on = None

# Times are ms since the epoch.
KEYS = """
SET LOCAL ROLE tripline_owner;

CREATE TABLE registry.api_keys (
    name       text PRIMARY KEY CHECK (name ~ '^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$'),
    role       text NOT NULL
               CHECK (role IN ('viewer', 'analyst', 'approver', 'admin', 'auditor', 'operator')),
    created_at bigint NOT NULL,
    created_by text NOT NULL,
    revoked_at bigint,
    revoked_by text,
    CHECK ((revoked_at IS NULL) = (revoked_by IS NULL))
);
-- Ada and ada would be one person to whoever reads the audit trail.
CREATE UNIQUE INDEX api_keys_by_lower_name ON registry.api_keys (lower(name));

CREATE TABLE registry.api_key_secrets (
    secret_id    bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    name         text NOT NULL REFERENCES registry.api_keys (name),
    prefix       text NOT NULL CHECK (length(prefix) <= 8),
    sha256       text NOT NULL UNIQUE CHECK (sha256 ~ '^[0-9a-f]{64}$'),
    created_at   bigint NOT NULL,
    not_after    bigint,
    last_used_at bigint
);
CREATE INDEX api_key_secrets_by_name ON registry.api_key_secrets (name, secret_id);

CREATE FUNCTION registry.keep_end_of_secret() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF OLD.not_after IS NOT NULL AND (NEW.not_after IS NULL OR NEW.not_after > OLD.not_after) THEN
        RAISE EXCEPTION 'the end of a key only comes nearer' USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER keep_end BEFORE UPDATE OF not_after ON registry.api_key_secrets
    FOR EACH ROW EXECUTE FUNCTION registry.keep_end_of_secret();

CREATE FUNCTION registry.keep_revoked() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF OLD.revoked_at IS NOT NULL THEN
        RAISE EXCEPTION 'key % is revoked', OLD.name USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER keep_revoked BEFORE UPDATE ON registry.api_keys
    FOR EACH ROW EXECUTE FUNCTION registry.keep_revoked();
REVOKE ALL ON FUNCTION registry.keep_end_of_secret(), registry.keep_revoked() FROM PUBLIC;

GRANT SELECT, INSERT, UPDATE (revoked_at, revoked_by) ON registry.api_keys TO tripline_registry_api;
GRANT SELECT, INSERT, UPDATE (not_after) ON registry.api_key_secrets TO tripline_registry_api;
"""

# With the owner's rights, so that a service sees these columns and nothing else. What ended within the last day is
# there still, for it is answered with another sentence than what nobody knows.
VIEWS = """
CREATE VIEW {schema}.living_api_keys AS
    SELECT s.secret_id, s.name, k.role, s.sha256, s.not_after
      FROM registry.api_key_secrets s JOIN registry.api_keys k USING (name)
     WHERE k.revoked_at IS NULL
       AND (s.not_after IS NULL OR s.not_after > (extract(epoch FROM now()) * 1000)::bigint - 86400000);

CREATE VIEW {schema}.api_key_uses AS SELECT secret_id, last_used_at FROM registry.api_key_secrets;

GRANT SELECT ON {schema}.living_api_keys, {schema}.api_key_uses TO {role};
GRANT UPDATE (last_used_at) ON {schema}.api_key_uses TO {role};
"""


def upgrade() -> None:
    """Create tables, triggers and views."""
    op.execute(KEYS)
    for schema, role in (("registry", "tripline_registry_api"), ("alerts", "tripline_alert_api")):
        op.execute(VIEWS.format(schema=schema, role=role))
    op.execute("RESET ROLE")


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
