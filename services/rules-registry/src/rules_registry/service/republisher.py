"""The rules topic written anew from the log of events, after it was lost or where a reader has missed a part."""

from __future__ import annotations

from typing import Protocol

from rules_registry.errors import CannotRepublish
from rules_registry.service.relay import BATCH, OutboxPort, PublisherPort


class RewindableOutbox(OutboxPort, Protocol):
    """An outbox that can begin again."""

    def rewind(self, to: int = 0) -> None: ...


class TopicPort(Protocol):
    """The rules topic, to be asked for its size."""

    def records(self) -> int | None:
        """The number of records that it may hold; `None`: there is no such topic."""


def republish(
    outbox: RewindableOutbox, topic: TopicPort, publisher: PublisherPort, since: int | None = None
) -> int:
    """Delivers the whole log into the empty topic, or again what is from position `since` on; the number of events.

    Readers take each position once, so what comes again changes nothing where it had been taken. Nothing else may
    deliver meanwhile, so it takes the relay's lock. It puts the relay's cursor back first and moves it as the relay
    does: where it is cut off, the next relay goes on. Raises `CannotRepublish`, `DeliveryFailed`, `StoreUnavailable`.
    """
    if not outbox.try_lock():
        raise CannotRepublish("A relay is active: stop every relay first, or it would deliver in between.")
    records = topic.records()
    if records is None:
        raise CannotRepublish("There is no topic rules.v1: create it first.")
    if records and since is None:
        raise CannotRepublish(
            f"rules.v1 is not empty ({records} records): republishing is for a topic that was lost. Delete and create "
            "it first; where records are only behind, the relay delivers them by itself. For a reader that waits for a "
            "position give --from POSITION."
        )
    begin, end = (since or 1) - 1, outbox.last_position()
    if not 0 <= begin < max(end, 1):
        raise CannotRepublish(f"The log has no position {since}: it ends at {end}.")
    # the relay has not come so far: it delivers from where it is
    position = min(begin, outbox.cursor())
    outbox.rewind(position)
    delivered = 0
    while position < end:
        events = outbox.undelivered(position, BATCH)
        publisher.deliver(events)
        outbox.advance(position, events[-1].position)
        position, delivered = events[-1].position, delivered + len(events)
    return delivered
