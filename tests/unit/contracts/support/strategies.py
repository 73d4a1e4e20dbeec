"""Filters and conditions drawn by hypothesis, in their normalised form."""

from __future__ import annotations

from typing import get_args

from hypothesis import strategies as st

from tripline_contracts import decimals
from tripline_contracts.event_type import MAX_TIMESTAMP, EventType, Field
from tripline_contracts.filters.filter_constants import Constant, in_order, operators_of
from tripline_contracts.filters.filter_leaves import (
    TEXT_OPERATORS,
    WEEK,
    FieldComparison,
    LocalTimeTest,
    MultipleTest,
    NetworkTest,
    NullTest,
    TextTest,
)
from tripline_contracts.filters.filter_parser import (
    All,
    Any_,
    Comparison,
    Filter,
    ListMembership,
    Membership,
    Not,
    ParameterComparison,
)
from tripline_contracts.filters.named_values import Parameter
from tripline_contracts.normal_forms.ip_addresses import normal_address, normal_network
from tripline_contracts.rules.aggregate import SINCE, Function
from tripline_contracts.rules.conditions import (
    AllOf,
    AnyOf,
    Condition,
    ConditionTree,
    NotOf,
    Number,
    Weighed,
    WeightedOf,
)
from tripline_contracts.rules.definition_parser import MAX_WINDOW_SECONDS
from tripline_contracts.spelling import Operator

NAMES = st.from_regex("[A-Za-z][A-Za-z0-9_-]{0,63}", fullmatch=True)


def filters_of(event_type: EventType) -> st.SearchStrategy[Filter]:
    """Any filter over that event type, of a few operands and levels."""
    compared = [field for field in event_type.fields if field.role != "id"]
    leaves = st.sampled_from(compared).flatmap(_leaf)
    pairs = [
        st.builds(FieldComparison, st.just(one.name), st.sampled_from(operators_of(one)), st.just(other.name))
        for one in compared
        for other in compared
        if one.kind == other.kind and one != other
    ]
    others = st.one_of(*pairs, _local_times(event_type.time_field.name))
    return st.recursive(leaves | others, _nested, max_leaves=5)


def _local_times(field: str) -> st.SearchStrategy[Filter]:
    minutes = st.integers(0, 24 * 60 - 1)
    days = st.sets(st.sampled_from(WEEK), max_size=len(WEEK) - 1).map(
        lambda drawn: tuple(day for day in WEEK if day in drawn)
    )
    zones = st.sampled_from(["UTC", "Europe/Berlin", "America/Argentina/ComodRivadavia", "Etc/GMT+12"])
    return st.builds(LocalTimeTest, st.just(field), zones, minutes, minutes, days)


def _nested(inner: st.SearchStrategy[Filter]) -> st.SearchStrategy[Filter]:
    operands = st.lists(inner, min_size=1, max_size=3).map(tuple)
    return st.builds(All, operands) | st.builds(Any_, operands) | st.builds(Not, inner)


def _leaf(field: Field) -> st.SearchStrategy[Filter]:
    constants = constants_of(field)
    compared = st.builds(Comparison, st.just(field.name), st.sampled_from(operators_of(field)), constants)
    lists = st.lists(constants, min_size=1, max_size=4).map(lambda drawn: in_order(drawn, field))
    plain: st.SearchStrategy[Filter] = compared | st.builds(Membership, st.just(field.name), lists)
    plain |= st.builds(NullTest, st.just(field.name))
    if field.kind == "timestamp":
        return plain
    if field.kind == "decimal":
        operators = st.sampled_from(operators_of(field))
        divisors = st.integers(1, 10**24 - 1).map(decimals.plain_scaled)
        plain |= st.builds(MultipleTest, st.just(field.name), divisors)
        return plain | st.builds(ParameterComparison, st.just(field.name), operators, NAMES)
    if field.kind == "string":
        plain |= st.builds(TextTest, st.just(field.name), st.sampled_from(TEXT_OPERATORS), constants.map(str))
    if field.kind == "ip":
        networks = st.sets(
            st.ip_addresses().map(lambda a: normal_network(str(a)) or ""), min_size=1, max_size=3
        )
        plain |= st.builds(NetworkTest, st.just(field.name), networks.map(lambda drawn: tuple(sorted(drawn))))
    return plain | st.builds(ListMembership, st.just(field.name), NAMES)


def constants_of(field: Field) -> st.SearchStrategy[Constant]:
    """What the field is compared with, as it is kept."""
    match field.kind:
        case "timestamp":
            return st.integers(0, MAX_TIMESTAMP)
        case "decimal":
            return st.integers(-(10**24) + 1, 10**24 - 1).map(decimals.plain_scaled)
        case "position":
            return positions()
        case "ip":
            return st.ip_addresses().map(lambda address: normal_address(str(address)) or "")
        case "enum":
            return st.sampled_from(field.values)
        case "string":
            characters = st.characters(exclude_characters="\0", exclude_categories=["Cs"])
            return st.text(characters, min_size=1, max_size=field.max_length)


def positions() -> st.SearchStrategy[str]:
    """Positions in their normal form."""
    degrees = st.tuples(st.integers(-89_999_999, 89_999_999), st.integers(-179_999_999, 180_000_000))
    return degrees.map(lambda both: ",".join(map(decimals.plain_scaled, both)))


def conditions_of(event_type: EventType) -> st.SearchStrategy[ConditionTree]:
    """Any conditions that share the grouping by the first anchor, of a few operands and levels."""
    return st.recursive(_condition(event_type), _chained, max_leaves=5).filter(lambda tree: _depth(tree) <= 6)


def _chained(inner: st.SearchStrategy[ConditionTree]) -> st.SearchStrategy[ConditionTree]:
    operands = st.lists(inner, min_size=1, max_size=3).map(tuple)
    weighed = st.lists(st.builds(Weighed, _numbers(), inner), min_size=1, max_size=3).map(tuple)
    weighted = st.builds(WeightedOf, weighed, _numbers())
    return st.builds(AllOf, operands) | st.builds(AnyOf, operands) | st.builds(NotOf, inner) | weighted


def _numbers() -> st.SearchStrategy[Number]:
    decimal = st.integers(-(10**24) + 1, 10**24 - 1).map(decimals.from_scaled)
    return decimal | st.builds(Parameter, NAMES)


@st.composite
def _condition(draw: st.DrawFn, event_type: EventType) -> Condition:
    function = draw(st.sampled_from(functions_of(event_type)))
    fields = fields_of(function, event_type)
    return Condition(
        tuple(sorted({event_type.anchors[0], *draw(st.sets(st.sampled_from(event_type.groupable)))})),
        function,
        draw(st.sampled_from(fields)),
        draw(st.sampled_from(get_args(Operator))),
        draw(_numbers()),
        draw(st.integers(1, MAX_WINDOW_SECONDS)),
        draw(st.none() | filters_of(event_type)),
    )


def _depth(tree: ConditionTree) -> int:
    match tree:
        case Condition():
            return 1
        case NotOf(operand):
            return 1 + _depth(operand)
        case AllOf(operands) | AnyOf(operands):
            return 1 + max(map(_depth, operands))
        case WeightedOf(weighed):
            return 1 + max(_depth(operand.of) for operand in weighed)


def functions_of(event_type: EventType) -> list[Function]:
    """The functions that there are fields for."""
    return [name for name in get_args(Function) if fields_of(name, event_type)]


def fields_of(function: Function, event_type: EventType) -> tuple[str | None, ...]:
    """The fields that a function may be of."""
    if function in ("COUNT", *SINCE):
        return (None,)
    if function == "SPEED_KMH":
        return event_type.positions
    return event_type.groupable if function in ("COUNT_DISTINCT", "CHANGED") else event_type.measures
