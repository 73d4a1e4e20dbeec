"""Webhooks as people ask for them: checked, sealed, and under four eyes where the installation has them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from alert_api.domain.webhooks.reach import Reach
from alert_api.domain.webhooks.webhook import Delivery, DeliveryState, Webhook, WebhookContent, WebhookStep
from alert_api.errors import (
    AnotherWebhook,
    OwnWebhook,
    StaleWebhook,
    WebhookInTheWay,
    WebhookNotActive,
    WebhookNotFound,
    WebhookRefused,
)

MOST = 20
"""Webhooks: each has a thread of the notifier."""


@dataclass(frozen=True, slots=True)
class DeliveryPage:
    """Deliveries, those that changed last first."""

    deliveries: Sequence[Delivery]
    following: tuple[int, str] | None


@dataclass(frozen=True, slots=True)
class StepPage:
    """What people did with webhooks, the newest first."""

    steps: Sequence[WebhookStep]
    following: int | None


class WebhookStore(Protocol):
    """Raises StoreUnavailable. What changes something is False, or None, where it changed nothing."""

    def all(self) -> Sequence[Webhook]: ...

    def get(self, webhook_id: int) -> Webhook | None: ...

    def add(
        self, content: WebhookContent, sealed: bytes, actor: str, now: int, *, four_eyes: bool
    ) -> int | None:
        """At the log's end; None where the name is taken, or there are ``MOST``."""

    def change(
        self, before: Webhook, content: WebhookContent, sealed: bytes | None, actor: str, now: int
    ) -> bool:
        """The content in place of what `before` has; not where it is another one by now, or the name is taken."""

    def rotate(self, before: Webhook, sealed: bytes, until: int, actor: str, now: int) -> bool:
        """The secret in place of the one that `before` has, which holds until then too; not where it is another one by
        now."""

    def approve(self, webhook_id: int, content_hash: str, actor: str, now: int) -> bool: ...

    def pause(self, webhook_id: int, actor: str, now: int) -> bool: ...

    def resume(self, webhook_id: int, actor: str, now: int) -> bool: ...

    def remove(self, webhook_id: int, actor: str, now: int) -> bool: ...

    def ask_for_ping(self, webhook_id: int, actor: str, now: int) -> bool: ...

    def replay(
        self, webhook_id: int, position: int | None, instant: int | None, actor: str, now: int
    ) -> bool:
        """From behind the position, or from the first notice that occurred at the instant or later."""

    def deliveries(
        self, webhook_id: int, state: DeliveryState | None, before: tuple[int, str] | None, limit: int
    ) -> DeliveryPage: ...

    def steps(self, webhook_id: int | None, before: int | None, limit: int) -> StepPage: ...


@dataclass(frozen=True, slots=True)
class WebhookPolicy:
    """:ivar reach: where webhooks may go
    :ivar four_eyes: another person has to approve each, and each change
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
        self._check(content)
        sealed = self.seal(secret.encode())
        webhook_id = self.store.add(content, sealed, actor, now, four_eyes=self.policy.four_eyes)
        if webhook_id is None:
            raise WebhookInTheWay(f"a webhook is called {content.name} already, or there are {MOST}")
        return self.get(webhook_id)

    def change(
        self,
        webhook_id: int,
        expects: Callable[[int], bool],
        content: WebhookContent,
        secret: str | None,
        actor: str,
        now: int,
    ) -> Webhook:
        """Nothing where it is so already. Raises WebhookNotFound, WebhookRefused, StaleWebhook and WebhookInTheWay."""
        before = self.get(webhook_id)
        if not expects(before.version):
            raise StaleWebhook(webhook_id, before.version)
        self._check(content)
        if secret is None and content.hash == before.content.hash:
            return before
        sealed = None if secret is None else self.seal(secret.encode())
        if not self.store.change(before, content, sealed, actor, now):
            version = self.get(webhook_id).version
            if version != before.version:
                raise StaleWebhook(webhook_id, version)
            raise WebhookInTheWay(f"another webhook is called {content.name}")
        return self.get(webhook_id)

    def rotate(
        self,
        webhook_id: int,
        expects: Callable[[int], bool],
        secret: str,
        until: int,
        actor: str,
        now: int,
    ) -> Webhook:
        """Another secret, beside which the one of before holds until then. What a second person approved stays as it
        is, so nobody has to approve it. Raises WebhookNotFound and StaleWebhook."""
        before = self.get(webhook_id)
        if not expects(before.version) or not self.store.rotate(
            before, self.seal(secret.encode()), until, actor, now
        ):
            raise StaleWebhook(webhook_id, self.get(webhook_id).version)
        return self.get(webhook_id)

    def approve(self, webhook_id: int, content_hash: str, actor: str, now: int) -> Webhook:
        """Raises WebhookNotFound, AnotherWebhook and OwnWebhook. Again it changes nothing."""
        webhook = self.get(webhook_id)
        if webhook.content.hash != content_hash:
            raise AnotherWebhook(webhook_id)
        if webhook.requested_by == actor:
            raise OwnWebhook(webhook_id, actor)
        if webhook.state == "requested" and not self.store.approve(webhook_id, content_hash, actor, now):
            webhook = self.get(webhook_id)
            if webhook.state == "requested":
                raise AnotherWebhook(webhook_id)  # changed meanwhile
        return self.get(webhook_id)

    def pause(self, webhook_id: int, actor: str, now: int) -> Webhook:
        """Raises WebhookNotFound. Again it changes nothing."""
        self.store.pause(webhook_id, actor, now)
        return self.get(webhook_id)

    def resume(self, webhook_id: int, actor: str, now: int) -> Webhook:
        """Raises WebhookNotFound. Again it changes nothing."""
        self.store.resume(webhook_id, actor, now)
        return self.get(webhook_id)

    def test(self, webhook_id: int, actor: str, now: int) -> Webhook:
        """Raises WebhookNotFound and WebhookNotActive."""
        done = self.store.ask_for_ping(webhook_id, actor, now)
        webhook = self.get(webhook_id)
        if not done:
            raise WebhookNotActive(webhook_id, webhook.state)
        return webhook

    def replay(
        self, webhook_id: int, position: int | None, instant: int | None, actor: str, now: int
    ) -> Webhook:
        """Raises WebhookNotFound."""
        self.store.replay(webhook_id, position, instant, actor, now)
        return self.get(webhook_id)

    def remove(self, webhook_id: int, actor: str, now: int) -> None:
        """Raises WebhookNotFound."""
        if not self.store.remove(webhook_id, actor, now):
            raise WebhookNotFound(webhook_id)

    def _check(self, content: WebhookContent) -> None:
        refused = self.policy.reach.refuses_url(content.url)
        if refused is not None:
            raise WebhookRefused("url", refused)
