"""Tables, views and functions belong to a role that nobody logs in as, and PUBLIC loses what no service needs.

Until now all of it belonged to the superuser who migrated, the functions that run with their owner's rights too.
``tripline_owner`` has no right but that of its own objects.

Later migrations begin with ``SET LOCAL ROLE tripline_owner`` and end with ``RESET ROLE``.

Roles, and the rights on ``postgres`` and ``template1``, are the cluster's: another database may have set them already.
What belongs to somebody else than the migrations' login, as in a hosted Postgres, stays as it is.
"""

from __future__ import annotations

from alembic import op

revision = "0011_owner"
down_revision = "0010_issued_by_the_registry"
branch_labels = None
depends_on = None

OWNER = """
DO $$
BEGIN
    CREATE ROLE tripline_owner NOLOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL;  -- roles belong to the cluster: another database may have made it
END
$$;

DO $$
DECLARE
    owned text;
BEGIN
    IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
        GRANT tripline_owner TO CURRENT_USER;  -- who is no superuser may hand over to its own roles only
    END IF;
    ALTER SCHEMA registry OWNER TO tripline_owner;
    ALTER SCHEMA alerts OWNER TO tripline_owner;
    FOR owned IN
        SELECT format('%s %s', CASE relkind WHEN 'v' THEN 'VIEW' ELSE 'TABLE' END, oid::regclass)
          FROM pg_class
         WHERE relnamespace IN ('registry'::regnamespace, 'alerts'::regnamespace) AND relkind IN ('r', 'v')
         UNION ALL
        SELECT format('FUNCTION %s', oid::regprocedure)
          FROM pg_proc WHERE pronamespace IN ('registry'::regnamespace, 'alerts'::regnamespace)
    LOOP
        EXECUTE format('ALTER %s OWNER TO tripline_owner', owned);
    END LOOP;
END
$$;
"""

DATABASES = """
DO $$
DECLARE
    other text;
BEGIN
    EXECUTE format('REVOKE CONNECT, TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO tripline_registry_api, tripline_registry_relay,'
                   ' tripline_registry_status, tripline_alert_projector, tripline_alert_api', current_database());
    FOR other IN
        SELECT datname FROM pg_database
         WHERE datname IN ('postgres', 'template1') AND pg_has_role(datdba, 'USAGE')
    LOOP
        EXECUTE format('REVOKE CONNECT, TEMPORARY ON DATABASE %I FROM PUBLIC', other);
    END LOOP;
END
$$;
"""

# Large objects belong to no schema: whoever may call these fills the disk. Advisory locks are numbers that any login
# may hold: whoever may call these stops those who wait for one.
FUNCTIONS = r"""
DO $$
DECLARE
    callable regprocedure;
BEGIN
    FOR callable IN
        SELECT oid FROM pg_proc
         WHERE pronamespace = 'pg_catalog'::regnamespace AND pg_has_role(proowner, 'USAGE')
           AND (proname ~ '^(lo_|pg_advisory_|pg_try_advisory_)' OR proname IN ('loread', 'lowrite'))
    LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', callable);
    END LOOP;
END
$$;
"""


def upgrade() -> None:
    """Create the owner, hand everything over, revoke."""
    for statements in (OWNER, DATABASES, FUNCTIONS):
        op.execute(statements)


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
