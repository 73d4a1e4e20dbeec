"""A record that the engine did not accept, and what becomes of it: one decision, by one person.

    open ── discard ──▶ discarded
      └─── send again ─▶ queued ── the broker confirms ──▶ sent

Sent is the end of it. If what was sent is not accepted either, that is another record, which says which one it
corrects.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, Self

Kind = Literal["sendAgain", "discard"]
State = Literal["open", "queued", "sent", "discarded"]

ID_PATTERN = "(0|[1-9][0-9]{0,9})-(0|[1-9][0-9]{0,17})"


@dataclass(frozen=True, slots=True, order=True)
class RecordPlace:
    """Where a record is in the event topic. As text `partition-offset`, which is the id that people use."""

    partition: int
    offset: int

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """The place that is spelled so; None where nothing is."""
        matched = re.fullmatch(ID_PATTERN, text)
        return cls(int(matched[1]), int(matched[2])) if matched else None

    def __str__(self) -> str:
        return f"{self.partition}-{self.offset}"


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person decided.

    :ivar decided_at: ms since the epoch
    :ivar value: what is sent; None for a record that is discarded
    :ivar backfill: the commandId of the backfill that it is sent in
    """

    kind: Kind
    actor: str
    reason: str
    decided_at: int
    value: bytes | None = None
    backfill: str | None = None

    def repeats(self, other: Decision) -> bool:
        """Whether this asks for what the other one has decided already, by the same person."""
        return (self.kind, self.actor, self.value, self.backfill) == (
            other.kind,
            other.actor,
            other.value,
            other.backfill,
        )


@dataclass(frozen=True, slots=True)
class Delivery:
    """Where a corrected record went, as the broker confirmed; the time in ms since the epoch."""

    place: RecordPlace
    delivered_at: int


def state_of(decision: Decision | None, delivery: Delivery | None) -> State:
    """What has become of a record."""
    if decision is None:
        return "open"
    if decision.kind == "discard":
        return "discarded"
    return "queued" if delivery is None else "sent"
