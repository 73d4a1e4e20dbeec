"""A webhook: a target that is told of cases. A change of it needs a second person as it did itself, so what is approved
is what holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from alert_api.domain.cases.severity import SEVERITIES, Severity
from alert_api.domain.notifications.case_notice import CaseNotice, NoticeType
from tripline_contracts.canonical import canonical_json, sha256_hex

Template = Literal["cloudevents", "slack"]
TEMPLATES: tuple[Template, ...] = get_args(Template)
WebhookState = Literal["requested", "active", "paused"]
DeliveryState = Literal["retrying", "delivered", "dead"]
StepType = Literal[
    "WebhookRequested",
    "WebhookApproved",
    "WebhookChanged",
    "WebhookPaused",
    "WebhookResumed",
    "WebhookTested",
    "WebhookReplayed",
    "WebhookSecretRotated",
    "WebhookRemoved",
]
STEP_TYPES: tuple[StepType, ...] = get_args(StepType)
MOST_DEAD = 1000
"""Dead letters of one webhook that are counted."""


@dataclass(frozen=True, slots=True)
class WebhookContent:
    """What is asked for.

    :ivar min_severity: of cases that are at least so severe by the worst of their rules; None: of all
    :ivar rule_ids: of cases that one of these rules has an episode in; none: of all
    :ivar subjects: of cases about one of these, each `field:value` as filters of cases have it; none: about whatever
    """

    name: str
    url: str
    template: Template
    types: tuple[NoticeType, ...]
    min_severity: Severity | None = None
    rule_ids: tuple[int, ...] = ()
    subjects: tuple[str, ...] = ()

    @property
    def hash(self) -> str:
        """What an approver has seen."""
        return sha256_hex(canonical_json(self.as_json()))

    def as_json(self) -> dict[str, Any]:
        """Its members, under the names that the API has for them."""
        return {
            "name": self.name,
            "url": self.url,
            "template": self.template,
            "eventTypes": sorted(self.types),
            "minSeverity": self.min_severity,
            "ruleIds": sorted(self.rule_ids),
            # Left out where there are none: the hash of what was approved before there were subjects stays.
            **({"subjects": sorted(self.subjects)} if self.subjects else {}),
        }

    def wants(self, notice: CaseNotice) -> bool:
        """Whether the notice is for it, the case being as it is now."""
        case = notice.case
        if notice.type not in self.types:
            return False
        if self.rule_ids and not set(self.rule_ids) & set(case.rule_ids):
            return False
        about = notice.subject
        if self.subjects and f"{about.get('field')}:{about.get('value')}" not in self.subjects:
            return False
        if self.min_severity is None:
            return True
        rank = SEVERITIES.index
        return case.severity is not None and rank(case.severity) <= rank(self.min_severity)


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


@dataclass(frozen=True, slots=True)
class Webhook:
    """:ivar requested_by: who asked for what it is now: for it, or for its last change
    :ivar position: notices of the log up to here are delivered, dead-lettered, or not for it
    :ivar former_until: until then, in ms since the epoch, it signs with the secret that it had before, too
    :ivar dead: dead letters, as many as are counted at most
    :ivar last: the delivery that changed last
    """

    webhook_id: int
    content: WebhookContent
    version: int
    four_eyes: bool
    requested_by: str
    requested_at: int
    approved_by: str | None
    approved_at: int | None
    paused_by: str | None
    paused_at: int | None
    position: int
    former_until: int | None = None
    dead: int = 0
    last: Delivery | None = None

    @property
    def state(self) -> WebhookState:
        if self.approved_by is None and self.four_eyes:
            return "requested"
        return "active" if self.paused_by is None else "paused"


@dataclass(frozen=True, slots=True)
class WebhookStep:
    """What somebody did with a webhook: `detail` is what was asked for, or from where it was replayed."""

    step_id: int
    webhook_id: int
    type: StepType
    actor: str
    occurred_at: int
    version: int
    detail: Mapping[str, Any]
