"""The rules topic written anew from the log of events, after it was lost."""

from __future__ import annotations

from typing import Protocol

from rules_registry.errors import CannotRepublish
from rules_registry.service.relay import BATCH, OutboxPort, PublisherPort


class RewindableOutbox(OutboxPort, Protocol):
    """An outbox that can begin again."""

    def rewind(self) -> None: ...
    def last_position(self) -> int: ...


class TopicPort(Protocol):
    """The rules topic, to be asked for its size."""

    def records(self) -> int | None:
        """The number of records that it may hold; `None`: there is no such topic."""


def republish(outbox: RewindableOutbox, topic: TopicPort, publisher: PublisherPort) -> int:
    """Delivers the whole log into the empty topic; the number of events.

    Nothing else may deliver meanwhile, so it takes the relay's lock. It puts the relay's cursor back first and moves it
    as the relay does: where it is cut off, the next relay goes on. Raises `CannotRepublish`, `DeliveryFailed`,
    `StoreUnavailable`.
    """
    if not outbox.try_lock():
        raise CannotRepublish("A relay is active: stop every relay first, or it would deliver in between.")
    records = topic.records()
    if records is None:
        raise CannotRepublish("There is no topic rules.v1: create it first.")
    if records:
        raise CannotRepublish(
            f"rules.v1 is not empty ({records} records): republishing is for a topic that was lost. Delete and create "
            "it first; where records are only behind, the relay delivers them by itself."
        )
    outbox.rewind()
    position, end = 0, outbox.last_position()
    while position < end:
        events = outbox.undelivered(position, BATCH)
        publisher.deliver(events)
        outbox.advance(position, events[-1].position)
        position = events[-1].position
    return position
