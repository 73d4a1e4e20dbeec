"""Webhooks of cases about some subjects, and another secret for one without an interruption.

A webhook that is given another secret signs with the one of before too, until a moment. The API still reads neither:
it hands the new one over, and the database moves the old one aside. For whom a webhook tells and of what stays, so that
ends no approval; all other changes do, as before.
"""

from __future__ import annotations

from alembic import op

revision = "0042_webhook_subjects"
down_revision = "0041_cases_by_outcome"
branch_labels = None
depends_on = None

# Times are ms since the epoch.
COLUMNS = """
SET LOCAL ROLE tripline_owner;

ALTER TABLE alerts.webhooks
    ADD COLUMN subjects      text[] NOT NULL DEFAULT '{}',  -- field:value; none: cases about whatever
    ADD COLUMN former_sealed bytea,
    ADD COLUMN former_until  bigint,
    ADD CHECK ((former_sealed IS NULL) = (former_until IS NULL));

ALTER TABLE alerts.webhook_steps DROP CONSTRAINT webhook_steps_type_check;
ALTER TABLE alerts.webhook_steps ADD CONSTRAINT webhook_steps_type_check
    CHECK (type IN ('WebhookRequested', 'WebhookApproved', 'WebhookChanged', 'WebhookPaused', 'WebhookResumed',
                    'WebhookTested', 'WebhookReplayed', 'WebhookSecretRotated', 'WebhookRemoved'));
"""

# A rotation is what leaves the secret of before beside the new one, which the API has no right to write. A secret that
# comes with a change replaces both.
TRIGGER = """
DROP TRIGGER webhook_change_ends_approval ON alerts.webhooks;

CREATE OR REPLACE FUNCTION alerts.webhook_change_ends_approval() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF NEW.former_sealed = OLD.secret_sealed AND NEW.content_hash = OLD.content_hash THEN
        RETURN NEW;
    END IF;
    IF NEW.approved_by IS NOT NULL THEN
        RAISE EXCEPTION 'webhook % is changed, so its approval has to go', OLD.webhook_id
            USING ERRCODE = 'check_violation';
    END IF;
    IF NEW.secret_sealed <> OLD.secret_sealed THEN
        NEW.former_sealed := NULL;
        NEW.former_until := NULL;
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER webhook_change_ends_approval BEFORE UPDATE ON alerts.webhooks FOR EACH ROW
  WHEN ((OLD.name, OLD.url, OLD.template, OLD.event_types, OLD.min_severity, OLD.rule_ids, OLD.subjects,
         OLD.secret_sealed, OLD.content_hash, OLD.version)
        IS DISTINCT FROM (NEW.name, NEW.url, NEW.template, NEW.event_types, NEW.min_severity, NEW.rule_ids,
                          NEW.subjects, NEW.secret_sealed, NEW.content_hash, NEW.version))
  EXECUTE FUNCTION alerts.webhook_change_ends_approval();

CREATE FUNCTION alerts.rotate_webhook_secret(webhook bigint, seen integer, sealed bytea, until bigint)
RETURNS TABLE (webhook_id bigint, version integer)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog AS $$
    UPDATE alerts.webhooks w
       SET former_sealed = w.secret_sealed, former_until = until, secret_sealed = sealed, version = w.version + 1
     WHERE w.webhook_id = webhook AND w.version = seen AND w.removed_at IS NULL
    RETURNING w.webhook_id, w.version
$$;
REVOKE ALL ON FUNCTION alerts.rotate_webhook_secret(bigint, integer, bytea, bigint) FROM PUBLIC;
"""

GRANTS = """
GRANT EXECUTE ON FUNCTION alerts.rotate_webhook_secret(bigint, integer, bytea, bigint) TO tripline_alert_api;
GRANT SELECT (subjects, former_until), INSERT (subjects), UPDATE (subjects) ON alerts.webhooks TO tripline_alert_api;

RESET ROLE;
"""


def upgrade() -> None:
    """Add the columns, and let the trigger tell a rotation from a change."""
    for statements in (COLUMNS, TRIGGER, GRANTS):
        op.execute(statements)


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
