"""One webhook's deliveries, in the log's order: what is not taken is tried again, and dead-lettered after the last try.

    next notices ──▶ request, and again ──▶ delivery and position stored

A kill after the request and before the position means that it is sent again, with the id that it had.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import structlog
import tenacity

from alert_api.domain.notifications.case_notice import CaseNotice
from alert_api.domain.webhooks.message import Message, message_of, ping_of
from alert_api.domain.webhooks.signature import Secrets
from alert_api.domain.webhooks.webhook import DeliveryState, WebhookContent

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Target:
    """An active webhook as its deliverer needs it; `ping_at` is when somebody asked for a test that was not sent.

    :ivar version: another one after a change
    :ivar replays: another one after a replay, which may lead to the position that it had
    """

    webhook_id: int
    content: WebhookContent
    secrets: Secrets
    version: int
    replays: int
    position: int
    ping_at: int | None


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a request: a status, or why there is none."""

    status: int | None
    error: str | None = None

    @property
    def taken(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


class DeliveryStore(Protocol):
    """The database, for deliverers. Raises StoreUnavailable."""

    def target(self, webhook_id: int) -> Target | None:
        """The webhook, where it is active. Raises SecretSealedOtherwise."""

    def notices(self, after: int, limit: int) -> Sequence[CaseNotice]:
        """Those behind the position."""

    def record(
        self, target: Target, message: Message, state: DeliveryState, attempts: int, answer: Answer
    ) -> None:
        """What has come of the message so far."""

    def advance(self, target: Target, position: int) -> bool:
        """The webhook's position is this one now; False where somebody replays, pauses, changes or removes it."""

    def pinged(self, target: Target) -> None:
        """The test that was asked for is done."""


class Sender(Protocol):
    """Requests to webhooks; raises nothing."""

    def post(self, url: str, secrets: Secrets, message: Message) -> Answer: ...


class DeliveryTally(Protocol):
    """The process's counters."""

    def delivery(self, outcome: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Tries:
    """How often, and how long between two: exponentially longer, by chance within that. Seconds."""

    most: int = 10
    first: float = 1.0
    longest: float = 300.0


BATCH = 50
LOOK_SECONDS = 1.0
"""Between two looks at whether a webhook that waits for its next try is what it was."""


class _Superseded(Exception):
    """The webhook is removed, paused or changed, or its position is somebody else's."""


class Deliverer:
    """Works on one webhook; `step` once or until told to stop."""

    def __init__(
        self,
        store: DeliveryStore,
        sender: Sender,
        tally: DeliveryTally,
        stop: threading.Event,
        tries: Tries,
        console_url: str | None,
    ) -> None:
        self._store, self._sender, self._tally = store, sender, tally
        self._stop, self._tries, self._console_url = stop, tries, console_url

    def step(self, webhook_id: int) -> bool:
        """Do what is to be done for the webhook; True where there may be more.

        Raises StoreUnavailable and SecretSealedOtherwise.
        """
        target = self._store.target(webhook_id)
        if target is None:
            return False
        if target.ping_at is not None:
            self._ping(target, target.ping_at)
        notices = self._store.notices(target.position, BATCH)
        for number, notice in enumerate(notices):
            if target.content.wants(notice):
                message = message_of(notice, target.content.template, self._console_url)
                if not self._deliver(target, message):
                    return False
            tied = number + 1 < len(notices) and notices[number + 1].position == notice.position
            if not tied:
                moved = self._moved(target, notice.position)
                if moved is None:
                    return True
                target = moved
        return bool(notices)

    def _moved(self, target: Target, position: int) -> Target | None:
        if not self._store.advance(target, position):
            return None
        return replace(target, position=position, ping_at=None)

    def _ping(self, target: Target, asked_at: int) -> None:
        """Once: whoever tests sees at once whether it is taken."""
        content = target.content
        message = ping_of(target.webhook_id, content.name, asked_at, target.position, content.template)
        answer = self._sender.post(content.url, target.secrets, message)
        self._store.record(target, message, "delivered" if answer.taken else "dead", 1, answer)
        self._store.pinged(target)
        self._tally.delivery("delivered" if answer.taken else "dead")

    def _deliver(self, target: Target, message: Message) -> bool:
        """Until it is taken, or the last try failed; False where it was broken off and is to come again."""
        wait = tenacity.wait_random_exponential(multiplier=self._tries.first, max=self._tries.longest)
        attempts = tenacity.Retrying(
            stop=tenacity.stop_any(
                tenacity.stop_after_attempt(self._tries.most),
                tenacity.stop_when_event_set(self._stop),
            ),
            wait=wait,
            sleep=lambda seconds: self._pause(seconds, target),
            retry=tenacity.retry_if_result(lambda answer: not answer.taken),
            before_sleep=self._recording(target, message),
            retry_error_callback=lambda state: state.outcome.result() if state.outcome else None,
        )
        try:
            answer = attempts(self._sender.post, target.content.url, target.secrets, message)
        except _Superseded:
            return False
        count = attempts.statistics["attempt_number"]
        if not answer.taken and count < self._tries.most:
            return False  # told to stop
        state: DeliveryState = "delivered" if answer.taken else "dead"
        self._store.record(target, message, state, count, answer)
        self._tally.delivery(state)
        if state == "dead":
            log.warning(
                "webhook_gave_up", webhook=target.webhook_id, notice=message.id, status=answer.status,
                error=answer.error, consequence="it is listed, and can be replayed",
            )  # fmt: skip
        return True

    def _pause(self, seconds: float, target: Target) -> None:
        """Between two tries. Who mends or pauses the webhook does not wait for the next one. Raises _Superseded."""
        left = seconds
        while not self._stop.wait(min(left, LOOK_SECONDS)):
            if self._is_another(target):
                raise _Superseded
            left -= LOOK_SECONDS
            if left <= 0:
                return

    def _is_another(self, target: Target) -> bool:
        now = self._store.target(target.webhook_id)
        if now is None or (now.version, now.replays) != (target.version, target.replays):
            return True
        if now.ping_at is not None:
            # Who mends a receiver tests it while a notice waits for its next try.
            self._ping(now, now.ping_at)
        return False

    def _recording(self, target: Target, message: Message) -> Callable[[tenacity.RetryCallState], None]:
        def record(state: tenacity.RetryCallState) -> None:
            if state.outcome is not None:
                self._store.record(target, message, "retrying", state.attempt_number, state.outcome.result())
                self._tally.delivery("retried")

        return record
