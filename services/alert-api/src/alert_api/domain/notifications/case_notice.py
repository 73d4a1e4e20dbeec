"""A notice: something that became of a case, as programs and people elsewhere are told it.

Its id is made of the case and of the position in the log, so a notice that goes out again has the id that it had.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from alert_api.domain.cases.severity import Severity
from tripline_contracts import cloudevents

NoticeType = Literal[
    "CaseOpened",
    "CaseEpisodeJoined",
    "CaseAcknowledged",
    "CaseAssigned",
    "CaseResolved",
    "CaseReopened",
    "CaseCommented",
]
NOTICE_TYPES: tuple[NoticeType, ...] = get_args(NoticeType)
SOURCE = "/alert-api"


@dataclass(frozen=True, slots=True)
class CaseSummary:
    """The case as it is when the notice is written; times are event times in ms since the epoch.

    :ivar severity: the worst of its rules'
    """

    state: str
    version: int
    rule_ids: tuple[int, ...]
    alert_count: int
    first: int
    last: int
    severity: Severity | None = None


@dataclass(frozen=True, slots=True)
class CaseNotice:
    """:ivar position: in the one log of alerts and work
    :ivar version: the case's, after it; None for an episode that joined, which does not raise it
    :ivar rule_id: the rule whose episode joined
    :ivar subject: what the case is about, as the log has it
    """

    position: int
    type: NoticeType
    case_id: int
    version: int | None
    occurred_at: int
    actor: str | None
    comment: str | None
    assignee: str | None
    outcome: str | None
    rule_id: int | None
    subject: Mapping[str, Any]
    case: CaseSummary

    @property
    def id(self) -> str:
        return f"case-{self.case_id}-{self.position}"


def notice_json(notice: CaseNotice) -> dict[str, Any]:
    """The data of a notice, as `cases.v1` and webhooks carry it."""
    case = notice.case
    return {
        "type": notice.type,
        "position": notice.position,
        "caseId": notice.case_id,
        "version": notice.version,
        "occurredAt": notice.occurred_at,
        "actor": notice.actor,
        "comment": notice.comment,
        "assignee": notice.assignee,
        "outcome": notice.outcome,
        "ruleId": notice.rule_id,
        "subject": {name: notice.subject.get(name) for name in ("field", "value", "ruleId", "group")},
        "case": {
            "state": case.state,
            "version": case.version,
            "ruleIds": list(case.rule_ids),
            "severity": case.severity,
            "alertCount": case.alert_count,
            "firstEventTime": case.first,
            "lastEventTime": case.last,
        },
    }


def notice_value(notice: CaseNotice) -> bytes:
    """The record's value."""
    return json.dumps(notice_json(notice), separators=(",", ":"), ensure_ascii=False).encode()


def notice_headers(notice: CaseNotice) -> list[tuple[str, bytes]]:
    """The CloudEvents attributes of the record."""
    return cloudevents.headers(notice.id, cloudevents.type_of(notice.type), SOURCE, notice.occurred_at)
