"""A webhook: a target that is told of cases. It is not changed: another one takes its place, so what a second person
has approved is what holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from alert_api.domain.notifications.case_notice import NoticeType
from tripline_contracts.canonical import canonical_json, sha256_hex

Template = Literal["cloudevents", "slack"]
TEMPLATES: tuple[Template, ...] = get_args(Template)
WebhookState = Literal["requested", "active"]
DeliveryState = Literal["retrying", "delivered", "dead"]


@dataclass(frozen=True, slots=True)
class WebhookContent:
    """What is asked for."""

    name: str
    url: str
    template: Template
    types: tuple[NoticeType, ...]

    @property
    def hash(self) -> str:
        """What an approver has seen."""
        members = {
            "name": self.name,
            "url": self.url,
            "template": self.template,
            "eventTypes": sorted(self.types),
        }
        return sha256_hex(canonical_json(members))


@dataclass(frozen=True, slots=True)
class Webhook:
    """:ivar position: notices of the log up to here are delivered, dead-lettered, or not for it"""

    webhook_id: int
    content: WebhookContent
    four_eyes: bool
    requested_by: str
    requested_at: int
    approved_by: str | None
    approved_at: int | None
    position: int

    @property
    def state(self) -> WebhookState:
        return "active" if self.approved_by is not None or not self.four_eyes else "requested"


@dataclass(frozen=True, slots=True)
class Delivery:
    """A notice, or a ping, on its way to a webhook. `status` is the last HTTP status, None where there was none."""

    event_id: str
    type: str
    position: int
    state: DeliveryState
    attempts: int
    status: int | None
    error: str | None
    changed_at: int
