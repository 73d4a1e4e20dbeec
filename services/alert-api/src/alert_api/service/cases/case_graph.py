"""Who had to do with whom in a case: the parties of the transactions that tripped its rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tripline_contracts.event_type import EventType

MOST_ALERTS: Final = 500
"""Alerts of a case that are looked at, the newest."""
MOST_EPISODES: Final = 100
MOST_EDGES: Final = 60


@dataclass(frozen=True, slots=True)
class Parties:
    """The fields of a transaction that say which one it is, when it was, and between whom it went; and the one that is
    summed, if any."""

    identity: str
    time: str
    source: str
    target: str
    measure: str | None


@dataclass(frozen=True, slots=True)
class Edge:
    """The transactions from one party to another; `total` is the sum of the measure as a decimal text."""

    source: str
    target: str
    transactions: int
    total: str | None
    last: int


@dataclass(frozen=True, slots=True)
class CaseGraph:
    """The edges with the most transactions, and what they are out of: how many alerts were looked at, how many
    transactions these are about, how many of those have both parties, and how many edges there are in all."""

    edges: Sequence[Edge] = ()
    alerts: int = 0
    transactions: int = 0
    with_both: int = 0
    edge_count: int = 0


def parties_of(declared: EventType) -> Parties | None:
    """The first two fields that rules run by, in the declared order; None of an event type that has but one."""
    keys = [name for name in declared.anchors if name in declared.groupable]
    if len(keys) < 2:
        return None
    measures = [field.name for field in declared.fields if field.role == "measure"]
    return Parties(
        declared.id_field.name, declared.time_field.name, keys[0], keys[1], measures[0] if measures else None
    )
