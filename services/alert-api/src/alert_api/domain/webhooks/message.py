"""What is sent to a webhook: a CloudEvent in JSON, or a sentence as Slack takes it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from alert_api.domain.notifications.case_notice import SOURCE, CaseNotice, notice_json
from alert_api.domain.webhooks.webhook import Template
from tripline_contracts import cloudevents

PING: Final = "WebhookPinged"
_DONE: Final = {
    "CaseOpened": "was opened",
    "CaseEpisodeJoined": "was joined by another episode",
    "CaseAcknowledged": "was acknowledged",
    "CaseAssigned": "was assigned to {assignee}",
    "CaseResolved": "was resolved as {outcome}",
    "CaseReopened": "was reopened",
    "CaseCommented": "was commented on",
}


@dataclass(frozen=True, slots=True)
class Message:
    """A body with its id, its CloudEvents type's name and its media type."""

    id: str
    type: str
    position: int
    body: bytes
    media_type: str


def message_of(notice: CaseNotice, template: Template, console_url: str | None) -> Message:
    """The notice for a webhook of this template."""
    if template == "slack":
        body: dict[str, object] = {"text": sentence(notice, console_url)}
    else:
        body = _cloud_event(notice.id, notice.type, notice.occurred_at, notice_json(notice))
    return _message(notice.id, notice.type, notice.position, body, template)


def ping_of(webhook_id: int, name: str, asked_at: int, position: int, template: Template) -> Message:
    """What a test sends."""
    event_id = f"ping-{webhook_id}-{asked_at}"
    if template == "slack":
        body: dict[str, object] = {"text": _escaped(f"Tripline tests the webhook {name}.")}
    else:
        body = _cloud_event(event_id, PING, asked_at, {"type": PING, "webhookId": webhook_id, "name": name})
    return _message(event_id, PING, position, body, template)


def sentence(notice: CaseNotice, console_url: str | None) -> str:
    """What happened, in one sentence of Slack's own markup."""
    done = _DONE[notice.type].format(
        assignee=notice.assignee, outcome=(notice.outcome or "").replace("_", " ")
    )
    by = f" by {notice.actor}" if notice.actor else ""
    about = notice.subject
    subject = (
        f"{about['field']} {about['value']}"
        if about.get("field")
        else f"rule {about.get('ruleId')}, " + json.dumps(about.get("group"), ensure_ascii=False)
    )
    case = f"Case {notice.case_id}"
    named = case if console_url is None else f"<{console_url}/cases/{notice.case_id}|{case}>"
    severity = f" ({notice.case.severity})" if notice.case.severity else ""
    alerts = "1 alert" if notice.case.alert_count == 1 else f"{notice.case.alert_count} alerts"
    return f"{named}{severity} about {_escaped(subject)} {_escaped(done + by)}: {alerts}."


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _cloud_event(event_id: str, kind: str, time_ms: int, data: dict[str, object]) -> dict[str, object]:
    return {
        "specversion": "1.0",
        "id": event_id,
        "source": SOURCE,
        "type": cloudevents.type_of(kind),
        "time": cloudevents.rfc3339(time_ms),
        "datacontenttype": "application/json",
        "data": data,
    }


def _message(event_id: str, kind: str, position: int, body: dict[str, object], template: Template) -> Message:
    media_type = "application/json" if template == "slack" else "application/cloudevents+json"
    encoded = json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode()
    return Message(event_id, kind, position, encoded, media_type)
