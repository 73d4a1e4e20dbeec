"""Alerts are found by amount, by when they were detected, by their rule's severity and by what became of their case.

The amount is that of the event type's first measure, which the projector writes. Of alerts that are there already it is
read from their content, piece by piece, so nobody waits long; an upgrade that was cut off begins again. The names are
those of the types that ship and of the installation's own, if the environment names it (TRIPLINE_EVENT_TYPE). What
rules are for is the registry's; of it the alert API sees the severity.
"""

from __future__ import annotations

import os

from alembic import op
from sqlalchemy import text

from tripline_contracts import event_type_loader, installed

revision = "0035_alert_filters"
down_revision = "0034_notices"
branch_labels = None
depends_on = None

VIEW = """
SET LOCAL ROLE tripline_owner;

CREATE OR REPLACE VIEW alerts.rule_severities AS
    SELECT rule_id, severity FROM registry.rule_purposes WHERE severity IS NOT NULL;
GRANT SELECT ON alerts.rule_severities TO tripline_alert_api;
"""

AMOUNT = """
ALTER TABLE alerts.alerts ADD COLUMN IF NOT EXISTS amount numeric;
GRANT INSERT (amount) ON alerts.alerts TO tripline_alert_projector;
CREATE INDEX IF NOT EXISTS cases_newest_of_outcome ON alerts.cases (outcome, last DESC, case_id DESC)
    WHERE outcome IS NOT NULL;

RESET ROLE;
"""

# Each alert that has an amount is written anew: so many in a transaction, that nobody waits for all of them.
PARTITIONS = "SELECT name FROM alerts.alert_partitions ORDER BY name"
PIECE = 20_000
PIECE_END = """
SELECT event_time FROM alerts.{partition} WHERE event_time > :after ORDER BY event_time LIMIT 1 OFFSET :most
"""
FILL = """
UPDATE alerts.{partition} SET amount = coalesce({measures})::numeric
 WHERE event_time > :after AND event_time <= :until AND amount IS NULL AND coalesce({measures}) IS NOT NULL
"""
BEGINNING, END = -(2**63), 2**63 - 1


def _measures() -> str:
    """The amount in an alert's content, as SQL: of an event type's fields the first measure."""
    types = [event_type_loader.load(name) for name in event_type_loader.shipped()]
    types.append(installed.installed(os.environ.get(installed.SETTING, "")))
    names = dict.fromkeys(declared.measures[0] for declared in types if declared.measures)
    return ", ".join(f"content #>> '{{transaction,{name}}}'" for name in names)


def upgrade() -> None:
    """Create view, column and index; then give the alerts that are there their amounts."""
    op.execute(VIEW)
    op.execute(AMOUNT)
    with op.get_context().autocommit_block():
        op.execute("SET ROLE tripline_owner")
        for (partition,) in op.get_bind().execute(text(PARTITIONS)).fetchall():
            _fill(partition)
        op.execute("RESET ROLE")


def _fill(partition: str) -> None:
    bind, measures, after = op.get_bind(), _measures(), BEGINNING
    while after < END:
        piece = {"after": after, "most": PIECE}
        until = bind.execute(text(PIECE_END.format(partition=partition)), piece).scalar()
        span = {"after": after, "until": END if until is None else until}
        bind.execute(text(FILL.format(partition=partition, measures=measures)), span)
        after = span["until"]


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
