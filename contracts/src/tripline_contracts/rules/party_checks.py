"""Checks of what a rule says of parties: one party throughout, and sides only beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tripline_contracts.errors import Problem
from tripline_contracts.event_type import EventType, Party
from tripline_contracts.filters.filter_leaves import SideTest
from tripline_contracts.filters.filter_tree import All, Any_, Filter, Not
from tripline_contracts.rules.conditions import Condition
from tripline_contracts.rules.relative_limits import Baseline


def named_parties(groupings: Iterable[Sequence[str]], event_type: EventType) -> list[Party]:
    """The parties that any of the groupings names, in the event type's order."""
    names = {name for grouping in groupings for name in grouping}
    return [party for party in event_type.parties if party.name in names]


def party_problems(
    measures: Sequence[Condition | Baseline], beside: Filter | None, event_type: EventType, field: str
) -> list[Problem]:
    """What contradicts itself in the groupings and filters of one rule; told of that field.

    A window holds entries, and entries of one party are those of no other, nor transactions. So a rule has one party in
    all its groupings, or none in any.
    """
    groupings = [measure.grouping_key_names for measure in measures]
    parties = named_parties(groupings, event_type)
    filters = [*(measure.filter for measure in measures), beside]
    sides = {side for tree in filters if tree is not None for side in sides_of(tree)}
    if not parties:
        expected = "expected a grouping by a party beside a filter by side"
        return [Problem(field, expected)] if sides else []
    party = parties[0]
    if len(parties) > 1 or not all(party.name in grouping for grouping in groupings):
        return [Problem(field, "expected one party in all groupings of a rule, or none in any of them")]
    foreign = sorted(sides.difference(party.side_names))
    if foreign:
        known = ", ".join(party.side_names)
        return [Problem(field, f"expected a side of {party.name}, one of {known}; not {foreign[0]}")]
    return []


def sides_of(tree: Filter) -> Iterator[str]:
    """The sides that a filter names."""
    match tree:
        case All(operands) | Any_(operands):
            for operand in operands:
                yield from sides_of(operand)
        case Not(operand):
            yield from sides_of(operand)
        case SideTest(side):
            yield side
