"""Who had to do with whom in a case: the two ends of the transactions that tripped its rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tripline_contracts.event_type import EventType, Party

MOST_ALERTS: Final = 500
"""Alerts of a case that are looked at, the newest."""
MOST_EPISODES: Final = 100
MOST_EDGES: Final = 60


@dataclass(frozen=True, slots=True)
class PartyEnds:
    """The party whose two sides the ends are: its name, and those of the sides, as alerts say them."""

    name: str
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Ends:
    """The fields of a transaction that say which one it is, when it was, and between whom it went; the one that is
    summed, if any; and the party whose sides these fields are, if the event type declares one."""

    identity: str
    time: str
    source: str
    target: str
    measure: str | None
    party: PartyEnds | None = None


@dataclass(frozen=True, slots=True)
class Edge:
    """The transactions from one end to another; `total` is the sum of the measure as a decimal text."""

    source: str
    target: str
    transactions: int
    total: str | None
    last: int


@dataclass(frozen=True, slots=True)
class CaseGraph:
    """The edges with the most transactions, and what they are out of: how many alerts were looked at, how many
    transactions these are about, how many of those have both ends, and how many edges there are in all."""

    edges: Sequence[Edge] = ()
    alerts: int = 0
    transactions: int = 0
    with_both: int = 0
    edge_count: int = 0


def ends_of(declared: EventType, subject_field: str | None) -> Ends | None:
    """Between whom the transactions of a case went that is about a value of this field or party, or about none.

    The sides of the party that the case is about, itself or by a field of its sides. Otherwise the first two fields
    that rules run by, in the declared order, and of a type with one such field the sides of its first party. None where
    there is neither.
    """
    keys = [name for name in declared.anchors if name in declared.groupable]
    parties = declared.parties
    party = next((one for one in parties if subject_field in (one.name, *one.fields)), None)
    if party is None and len(keys) < 2:
        party = next(iter(parties), None)
    if party is not None:
        return _of_sides(declared, party, subject_field)
    if len(keys) < 2:
        return None
    both = next((one for one in parties if {*keys[:2]} <= {*one.fields}), None)
    if both is None:
        return _of_fields(declared, keys[0], keys[1], None)
    names = {side.field: side.name for side in both.sides}
    return _of_fields(declared, keys[0], keys[1], PartyEnds(both.name, names[keys[0]], names[keys[1]]))


def _of_sides(declared: EventType, party: Party, subject_field: str | None) -> Ends:
    """From its first side to the one that the case is about, else to the second."""
    first, *others = party.sides
    other = next((side for side in others if side.field == subject_field), others[0])
    return _of_fields(declared, first.field, other.field, PartyEnds(party.name, first.name, other.name))


def _of_fields(declared: EventType, source: str, target: str, party: PartyEnds | None) -> Ends:
    measures = [field.name for field in declared.fields if field.role == "measure"]
    time = declared.time_field.name
    return Ends(declared.id_field.name, time, source, target, next(iter(measures), None), party)
