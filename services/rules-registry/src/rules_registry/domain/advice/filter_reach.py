"""What passes a filter: each way to pass it, as ranges of the fields that it looks at."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

from rules_registry.domain.advice.field_ranges import FieldRange
from tripline_contracts import decimals
from tripline_contracts.event_type import EventType
from tripline_contracts.filters.filter_constants import Constant
from tripline_contracts.filters.filter_leaves import NullTest, SideTest
from tripline_contracts.filters.filter_tree import (
    All,
    Any_,
    Comparison,
    Filter,
    Leaf,
    ListMembership,
    Membership,
    Not,
    ParameterComparison,
)

MOST_WAYS = 256
"""A filter with more ways to pass it is not looked at: its size would double with each `any`."""
MOST_CONSTANTS = 250_000
"""The same for one whose ways compare with more constants, the values of lists among them: each comparison of a way may
go through all constants of that way. A second's work at the most."""

Way: TypeAlias = Mapping[str, FieldRange]
"""By field what is left of it; a field that is not looked at is not in it."""
_Literal: TypeAlias = tuple[Leaf, bool]


class TooManyWays(Exception):
    """The filter has more than `MOST_WAYS`, or `MOST_CONSTANTS`."""


@dataclass(frozen=True, slots=True)
class NamesNow:
    """Lists and parameters as they stand; None for a name that has no value."""

    values_of: Callable[[str], Collection[str] | None]
    number_of: Callable[[str], Decimal | None]


def ways(filters: Iterable[Filter | None], event_type: EventType, names: NamesNow) -> list[Way] | None:
    """The ways to pass all of the filters; none if nothing does, and None where there are too many to tell."""
    try:
        together = [_disjuncts(one, negated=False) for one in filters if one is not None]
        conjuncts = [()] if not together else _product(together)
        _require_few_constants(conjuncts, names)
    except TooManyWays:
        return None
    passed = (_way(conjunct, event_type, names) for conjunct in conjuncts)
    return [way for way in passed if not any(left.is_empty for left in way.values())]


def _disjuncts(tree: Filter, *, negated: bool) -> list[tuple[_Literal, ...]]:
    """The filter as an `or` of `and`s of comparisons, each as it stands or negated."""
    match tree:
        case Not(operand):
            return _disjuncts(operand, negated=not negated)
        case All(operands) | Any_(operands):
            parts = [_disjuncts(operand, negated=negated) for operand in operands]
            if isinstance(tree, All) != negated:
                return _product(parts)
            return _bounded([conjunct for part in parts for conjunct in part])
        case _:
            return [((tree, negated),)]


def _require_few_constants(conjuncts: Iterable[tuple[_Literal, ...]], names: NamesNow) -> None:
    """Ends at the first way that is too much: lists that are not looked at any more are not read either."""
    work = 0
    for conjunct in conjuncts:
        constants = 0
        for leaf, _ in conjunct:
            constants += _constants(leaf, names)
            if work + constants * len(conjunct) > MOST_CONSTANTS:
                raise TooManyWays
        work += constants * len(conjunct)


def _constants(leaf: Leaf, names: NamesNow) -> int:
    match leaf:
        case Membership():
            return len(leaf.constants)
        case ListMembership():
            return len(names.values_of(leaf.list_name) or ())
        case _:
            return 1


def _product(parts: list[list[tuple[_Literal, ...]]]) -> list[tuple[_Literal, ...]]:
    together: list[tuple[_Literal, ...]] = [()]
    for part in parts:
        if len(together) * len(part) > MOST_WAYS:
            raise TooManyWays
        together = _bounded([(*left, *right) for left in together for right in part])
    return together


def _bounded(conjuncts: list[tuple[_Literal, ...]]) -> list[tuple[_Literal, ...]]:
    if len(conjuncts) > MOST_WAYS:
        raise TooManyWays
    return conjuncts


def _way(conjunct: tuple[_Literal, ...], event_type: EventType, names: NamesNow) -> Way:
    # those first that null does not pass: after them a negated one takes values away
    left: dict[str, FieldRange] = {}
    for leaf, negated in sorted(conjunct, key=lambda literal: literal[1]):
        if isinstance(leaf, SideTest):
            continue  # says nothing of a field
        for name in leaf.fields():
            before = left.get(name, FieldRange.of(event_type.field(name)))
            left[name] = _left_by(before, leaf, negated, event_type, names)
    return left


def _left_by(
    before: FieldRange, leaf: Leaf, negated: bool, event_type: EventType, names: NamesNow
) -> FieldRange:
    if isinstance(leaf, SideTest):
        return before
    is_number = event_type.field(leaf.field).kind in ("decimal", "timestamp")
    match leaf:
        case Comparison():
            return before.compared(leaf.operator, _value(leaf.constant, is_number), negated=negated)
        case Membership():
            constants = [_value(constant, is_number) for constant in leaf.constants]
            return before.one_of(constants, negated=negated)
        case ListMembership():
            values = names.values_of(leaf.list_name)
            return (
                before if values is None else before.one_of(list(_read(values, is_number)), negated=negated)
            )
        case ParameterComparison():
            number = names.number_of(leaf.parameter)
            return before if number is None else before.compared(leaf.operator, number, negated=negated)
        case NullTest():
            return before.not_null() if negated else before.only_null()
        case _:
            # which values pass is not told apart; null does not
            return before if negated else before.not_null()


def _value(constant: Constant, is_number: bool) -> str | Decimal:
    return Decimal(constant) if is_number else str(constant)


def _read(values: Collection[str], is_number: bool) -> Iterator[str | Decimal]:
    """The values of a list as the field would have them; what is no number is never in a number's field."""
    for value in values:
        if not is_number:
            yield value
            continue
        try:
            yield decimals.parse(value)
        except ValueError:
            continue
