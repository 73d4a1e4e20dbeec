"""Alerts are found by amount, by when they were detected, by their rule's severity and by what became of their case.

The amount is that of the event type's first measure, which the projector writes. Of alerts that are there already it is
read from their content: the names are those of the types that ship and of the installation's own, if the environment
names it (TRIPLINE_EVENT_TYPE). What rules are for is the registry's; of it the alert API sees the severity.
"""

from __future__ import annotations

import os

from alembic import op

from tripline_contracts import event_type_loader, installed

revision = "0035_alert_filters"
down_revision = "0034_notices"
branch_labels = None
depends_on = None

VIEW = """
SET LOCAL ROLE tripline_owner;

CREATE VIEW alerts.rule_severities AS
    SELECT rule_id, severity FROM registry.rule_purposes WHERE severity IS NOT NULL;
GRANT SELECT ON alerts.rule_severities TO tripline_alert_api;
"""

AMOUNT = """
ALTER TABLE alerts.alerts ADD COLUMN amount numeric;
UPDATE alerts.alerts SET amount = coalesce({measures})::numeric WHERE coalesce({measures}) IS NOT NULL;
GRANT INSERT (amount) ON alerts.alerts TO tripline_alert_projector;
"""

# Detection follows the order of rows, so a summary of each range of pages is enough to find them, and costs nothing.
INDEXES = """
CREATE INDEX alerts_by_amount ON alerts.alerts (amount) WHERE amount IS NOT NULL;
CREATE INDEX alerts_by_detection ON alerts.alerts USING brin (detected_at) WITH (autosummarize = on);
CREATE INDEX cases_newest_of_outcome ON alerts.cases (outcome, last DESC, case_id DESC) WHERE outcome IS NOT NULL;

RESET ROLE;
"""


def _measures() -> str:
    """The amount in an alert's content, as SQL: of an event type's fields the first measure."""
    types = [event_type_loader.load(name) for name in event_type_loader.shipped()]
    types.append(installed.installed(os.environ.get(installed.SETTING, "")))
    names = dict.fromkeys(declared.measures[0] for declared in types if declared.measures)
    return ", ".join(f"content #>> '{{transaction,{name}}}'" for name in names)


def upgrade() -> None:
    """Create view, column and indexes."""
    for statements in (VIEW, AMOUNT.format(measures=_measures()), INDEXES):
        op.execute(statements)


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
