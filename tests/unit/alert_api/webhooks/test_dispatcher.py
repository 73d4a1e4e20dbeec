"""A thread for each webhook: none holds up another, and what is under way at the end is waited for."""

from __future__ import annotations

import threading

from structlog.testing import capture_logs

from alert_api.errors import SecretSealedOtherwise, StoreUnavailable
from alert_api.service.webhooks.dispatcher import Dispatcher


class Webhooks:
    """Three of them, of which the first never answers, and of the last nobody knows the secret."""

    def __init__(self) -> None:
        self.held, self.told, self.ended = threading.Event(), threading.Event(), threading.Event()
        self.asked = 0

    def is_leader(self) -> bool:
        self.asked += 1
        if self.asked == 1:
            raise StoreUnavailable("away")
        return True

    def active(self) -> list[int]:
        return [1, 2, 3]

    def step(self, webhook_id: int) -> bool:
        if webhook_id == 1:
            self.held.wait(30)
            self.ended.set()
        elif webhook_id == 3:
            raise SecretSealedOtherwise(webhook_id)
        else:
            self.told.set()
        return False


def test_a_slow_webhook_holds_up_no_other() -> None:
    webhooks, stop = Webhooks(), threading.Event()
    thread = threading.Thread(target=Dispatcher(webhooks, webhooks.step, stop, 0.001).run)
    thread.start()
    assert webhooks.told.wait(30)
    stop.set()
    webhooks.held.set()
    thread.join(30)
    assert not thread.is_alive()


def test_at_the_end_a_request_under_way_is_waited_for() -> None:
    webhooks = stopped_meanwhile(Webhooks(), patience=30)
    assert webhooks.ended.is_set()


def test_but_not_for_ever() -> None:
    webhooks = Webhooks()
    with capture_logs() as logs:
        stopped_meanwhile(webhooks, patience=0)
    left = [entry["webhook"] for entry in logs if entry["event"] == "webhook_left_waiting"]
    assert left == [1]
    webhooks.held.set()
    assert webhooks.ended.wait(30)


def stopped_meanwhile(webhooks: Webhooks, patience: float) -> Webhooks:
    """A dispatcher that is told to stop while the first webhook is told; which answers soon after, if waited for."""
    stop, begun = threading.Event(), threading.Event()

    def step(webhook_id: int) -> bool:
        if webhook_id == 1:
            begun.set()
        elif webhook_id == 2 and begun.wait(30):
            stop.set()
            if patience:
                threading.Timer(0.05, webhooks.held.set).start()
        return webhooks.step(webhook_id)

    Dispatcher(webhooks, step, stop, 0.001, patience).run()
    return webhooks
