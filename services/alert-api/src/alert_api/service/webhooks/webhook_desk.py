"""Webhooks as people ask for them: checked, sealed, and under four eyes where the installation has them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from alert_api.domain.webhooks.reach import Reach
from alert_api.domain.webhooks.webhook import Delivery, DeliveryState, Webhook, WebhookContent
from alert_api.errors import AnotherWebhook, OwnWebhook, WebhookInTheWay, WebhookNotFound, WebhookRefused

MOST = 20
"""Webhooks: each has a thread of the notifier."""


@dataclass(frozen=True, slots=True)
class DeliveryPage:
    """Deliveries, those that changed last first."""

    deliveries: Sequence[Delivery]
    following: tuple[int, str] | None


class WebhookStore(Protocol):
    """Raises StoreUnavailable."""

    def all(self) -> Sequence[Webhook]: ...

    def get(self, webhook_id: int) -> Webhook | None: ...

    def add(
        self, content: WebhookContent, sealed: bytes, actor: str, now: int, *, four_eyes: bool
    ) -> int | None:
        """At the log's end; None where the name is taken, or there are ``MOST``."""

    def approve(self, webhook_id: int, actor: str, now: int) -> bool: ...

    def remove(self, webhook_id: int, actor: str, now: int) -> bool: ...

    def ask_for_ping(self, webhook_id: int, now: int) -> bool: ...

    def replay(self, webhook_id: int, position: int | None, instant: int | None) -> bool:
        """From behind the position, or from the first notice that occurred at the instant or later."""

    def deliveries(
        self, webhook_id: int, state: DeliveryState | None, before: tuple[int, str] | None, limit: int
    ) -> DeliveryPage: ...


@dataclass(frozen=True, slots=True)
class WebhookPolicy:
    """:ivar reach: where webhooks may go
    :ivar four_eyes: another person has to approve each
    """

    reach: Reach
    four_eyes: bool = True


@dataclass(frozen=True, slots=True)
class WebhookDesk:
    """What the API does. `seal` closes a secret so that the notifier alone opens it."""

    store: WebhookStore
    policy: WebhookPolicy
    seal: Callable[[bytes], bytes]

    def get(self, webhook_id: int) -> Webhook:
        """Raises WebhookNotFound."""
        webhook = self.store.get(webhook_id)
        if webhook is None:
            raise WebhookNotFound(webhook_id)
        return webhook

    def request(self, content: WebhookContent, secret: str, actor: str, now: int) -> Webhook:
        """Raises WebhookRefused and WebhookInTheWay."""
        refused = self.policy.reach.refuses_url(content.url)
        if refused is not None:
            raise WebhookRefused("url", refused)
        sealed = self.seal(secret.encode())
        webhook_id = self.store.add(content, sealed, actor, now, four_eyes=self.policy.four_eyes)
        if webhook_id is None:
            raise WebhookInTheWay(f"a webhook is called {content.name} already, or there are {MOST}")
        return self.get(webhook_id)

    def approve(self, webhook_id: int, content_hash: str, actor: str, now: int) -> Webhook:
        """Raises WebhookNotFound, AnotherWebhook and OwnWebhook. Again it changes nothing."""
        webhook = self.get(webhook_id)
        if webhook.content.hash != content_hash:
            raise AnotherWebhook(webhook_id)
        if webhook.requested_by == actor:
            raise OwnWebhook(webhook_id, actor)
        if webhook.state == "requested":
            self.store.approve(webhook_id, actor, now)
        return self.get(webhook_id)
