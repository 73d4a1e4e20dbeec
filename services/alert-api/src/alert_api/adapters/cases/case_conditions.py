"""What a filter of cases says of their rows, and when a row is due."""

from __future__ import annotations

from typing import Any, Final, LiteralString

from alert_api.domain.cases.due import DuePolicy
from alert_api.domain.cases.severity import SEVERITIES, Severity
from alert_api.service.cases.case_queries import CaseFilter

NEVER: Final = 2**53 - 1
"""When a case is due that may wait for ever, or is resolved: behind all others."""

# The worst of its rules', as a place in SEVERITIES.
_RANK: LiteralString = """(SELECT min(array_position(%(severities)s::text[], s.severity))
   FROM alerts.rule_severities s WHERE s.rule_id = ANY (c.rule_ids))"""

DUE_AT: LiteralString = (
    "CASE WHEN c.state <> 'resolved' THEN coalesce(c.active_at + (%(waits)s::bigint[])["
    + _RANK
    + "], %(never)s::bigint) ELSE %(never)s::bigint END"
)
"""Of `alerts.cases c`, with the values of `due_values`."""


def due_values(due: DuePolicy) -> dict[str, Any]:
    """Values for DUE_AT."""
    waits = [due.by_severity.get(severity) for severity in SEVERITIES]
    return {"severities": list(SEVERITIES), "waits": waits, "never": NEVER}


def case_conditions(
    case_filter: CaseFilter, due: DuePolicy | None = None
) -> tuple[LiteralString, dict[str, Any]]:
    """The WHERE of `alerts.cases c`, always with a condition, and its values."""
    standing = case_filter.standing
    subject = case_filter.subject
    chosen: tuple[tuple[LiteralString, str, Any], ...] = (
        ("c.outcome = %(outcome)s", "outcome", case_filter.outcome),
        ("c.assignee = %(assignee)s", "assignee", case_filter.assignee),
        ("c.rule_ids && %(rule_ids)s::bigint[]", "rule_ids", list(case_filter.rule_ids) or None),
        ("c.subject_key = %(subject_key)s", "subject_key", subject and subject.key),
        ("c.last >= %(earliest)s", "earliest", case_filter.earliest),
        ("c.last <= %(latest)s", "latest", case_filter.latest),
        ("c.state = %(state)s", "state", None if standing == "unresolved" else standing),
    )
    conditions = [condition for condition, _, value in chosen if value is not None]
    values = {name: value for _, name, value in chosen if value is not None}
    if standing is not None and standing != "resolved":
        conditions.append("c.state <> 'resolved'")  # said for a single state too: the partial index needs it
    if case_filter.severity is not None:
        conditions += _of_severity()
        values |= _severity_values(case_filter.severity)
    if case_filter.overdue_at is not None:
        waits = (due or DuePolicy({})).by_severity.values()
        # What was opened after this is not due yet, whatever its severity: the index leads to the rest.
        conditions += [
            "c.state <> 'resolved'",
            "c.active_at < %(overdue_at)s - %(least)s",
            DUE_AT + " < %(overdue_at)s",
        ]
        values |= {"overdue_at": case_filter.overdue_at, "least": min(waits, default=0)}
        values |= due_values(due or DuePolicy({}))
    where: LiteralString = " WHERE " + " AND ".join(conditions or ["true"])
    return where, values


def _of_severity() -> list[LiteralString]:
    return [
        "c.rule_ids && ARRAY(SELECT s.rule_id FROM alerts.rule_severities s WHERE s.severity = %(severity)s)",
        _RANK + " = %(rank)s",
    ]


def _severity_values(severity: Severity) -> dict[str, Any]:
    return {
        "severity": severity,
        "rank": SEVERITIES.index(severity) + 1,
        "severities": list(SEVERITIES),
    }
