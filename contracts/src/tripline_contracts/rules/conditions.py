"""The conditions of a rule, as values: what one of them measures, and how they are chained.

`condition_reading` reads them from JSON. A rule that is not chained has one condition and no tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias, assert_never

from tripline_contracts.filters.filter_parser import Filter
from tripline_contracts.filters.named_values import Parameter
from tripline_contracts.rules.aggregate import Function
from tripline_contracts.rules.grouping_keys import grouping_json
from tripline_contracts.rules.relative_limits import (
    WHOLE,
    Baseline,
    Excerpt,
    Number,
    RelativeLimit,
    number_json,
)
from tripline_contracts.spelling import Operator

__all__ = [
    "AllOf",
    "AnyOf",
    "Condition",
    "ConditionTree",
    "NotOf",
    "Number",
    "Weighed",
    "WeightedOf",
    "leaves",
    "measures",
    "relative_members",
    "weight_parameters",
    "weightings",
]

Json = dict[str, object]

ConditionTree: TypeAlias = "AllOf | AnyOf | NotOf | WeightedOf | Condition"


@dataclass(frozen=True, slots=True)
class Condition:
    """True if the aggregate over its own window of its own group stands so to the limit.

    `grouping_key_names` is sorted, keys as `grouping_keys` has them; `aggregate_field` is None for COUNT and for times
    since; `filter`, where there is one, is kept beside the rule's: what enters the window passes both.
    """

    grouping_key_names: tuple[str, ...]
    function: Function
    aggregate_field: str | None
    operator: Operator
    limit: Decimal | Parameter | RelativeLimit
    window_seconds: int
    filter: Filter | None = None
    excerpt: Excerpt = WHOLE

    def to_json(self) -> Json:
        """The normalised form, which reads back to an equal value; `filter` is there only where there is one."""
        normalised: Json = {
            "groupingKeyNames": grouping_json(self.grouping_key_names),
            "aggregatorFunctionType": self.function,
            "aggregateFieldName": self.aggregate_field,
            "limitOperatorType": self.operator,
            "limit": self.limit.to_json()
            if isinstance(self.limit, RelativeLimit)
            else number_json(self.limit),
            "windowSeconds": self.window_seconds,
            **self.excerpt.to_json(),
        }
        return normalised if self.filter is None else {**normalised, "filter": self.filter.to_json()}

    @property
    def reach_seconds(self) -> int:
        """How far back its window begins."""
        return self.window_seconds + self.excerpt.offset_seconds

    @property
    def baseline(self) -> Baseline | None:
        """The measure behind its limit, where that is relative."""
        return self.limit.measure if isinstance(self.limit, RelativeLimit) else None

    @property
    def in_deviations(self) -> bool:
        """Whether its limit has deviations of the measure behind it besides."""
        return isinstance(self.limit, RelativeLimit) and self.limit.plus_deviations is not None

    @property
    def measures(self) -> tuple[Condition | Baseline, ...]:
        """What is measured for it: its own window, and that of the measure behind its limit."""
        return (self,) if self.baseline is None else (self, self.baseline)

    def lists(self) -> frozenset[str]:
        """Names of the lists that its filters look into."""
        filters = (measure.filter for measure in self.measures)
        return frozenset[str]().union(*(passing.lists() for passing in filters if passing is not None))

    def parameters(self) -> frozenset[str]:
        """Names of the parameters that its filters and its limit compare with."""
        compared = frozenset[str]() if self.filter is None else self.filter.parameters()
        match self.limit:
            case Parameter(name):
                return compared | {name}
            case RelativeLimit():
                return compared | self.limit.parameters()
            case _:
                return compared


@dataclass(frozen=True, slots=True)
class AllOf:
    """True if every operand is; there is at least one."""

    operands: tuple[ConditionTree, ...]

    def to_json(self) -> Json:
        """The normalised form, which reads back to an equal value."""
        return {"all": [operand.to_json() for operand in self.operands]}


@dataclass(frozen=True, slots=True)
class AnyOf:
    """True if some operand is; there is at least one."""

    operands: tuple[ConditionTree, ...]

    def to_json(self) -> Json:
        """The normalised form, which reads back to an equal value."""
        return {"any": [operand.to_json() for operand in self.operands]}


@dataclass(frozen=True, slots=True)
class NotOf:
    """True if the operand is false."""

    operand: ConditionTree

    def to_json(self) -> Json:
        """The normalised form, which reads back to an equal value."""
        return {"not": self.operand.to_json()}


@dataclass(frozen=True, slots=True)
class Weighed:
    """Conditions, and what they add where they hold; less than nothing where the weight is negative."""

    weight: Number
    of: ConditionTree

    def to_json(self) -> Json:
        """The normalised form, which reads back to an equal value."""
        return {"weight": number_json(self.weight), "of": self.of.to_json()}


@dataclass(frozen=True, slots=True)
class WeightedOf:
    """True if the weights of the operands that hold add up to `at_least`; there is at least one operand.

    False where one of its numbers is a parameter without a value.
    """

    operands: tuple[Weighed, ...]
    at_least: Number

    def to_json(self) -> Json:
        """The normalised form, which reads back to an equal value."""
        weighted = [operand.to_json() for operand in self.operands]
        return {"weighted": weighted, "atLeast": number_json(self.at_least)}

    @property
    def numbers(self) -> tuple[Number, ...]:
        """The weights in their order, and what they have to add up to."""
        return (*(operand.weight for operand in self.operands), self.at_least)


def leaves(tree: ConditionTree) -> tuple[Condition, ...]:
    """The conditions in the order of the tree, as it was written; at least one. An alert lists them so."""
    match tree:
        case Condition():
            return (tree,)
        case NotOf(operand):
            return leaves(operand)
        case AllOf(operands) | AnyOf(operands):
            return tuple(leaf for operand in operands for leaf in leaves(operand))
        case WeightedOf(weighed):
            return tuple(leaf for operand in weighed for leaf in leaves(operand.of))
        case other:
            assert_never(other)


def weightings(tree: ConditionTree) -> Iterator[WeightedOf]:
    """What is weighted in the tree, in its order, what is outside before what is in it."""
    match tree:
        case Condition():
            return
        case NotOf(operand):
            yield from weightings(operand)
        case AllOf(operands) | AnyOf(operands):
            for operand in operands:
                yield from weightings(operand)
        case WeightedOf(weighed):
            yield tree
            for inner in weighed:
                yield from weightings(inner.of)
        case other:
            assert_never(other)


def weight_parameters(tree: ConditionTree) -> frozenset[str]:
    """Names of the parameters that are weights, or what these add up to."""
    numbers = [number for weighted in weightings(tree) for number in weighted.numbers]
    return frozenset(number.name for number in numbers if isinstance(number, Parameter))


def measures(tree: ConditionTree) -> tuple[Condition | Baseline, ...]:
    """All that is measured for the conditions, in their order, each before the measure behind its limit."""
    return tuple(measure for leaf in leaves(tree) for measure in leaf.measures)


def relative_members(conditions: Iterable[Condition]) -> list[str]:
    """What the conditions say of their windows and limits that buckets can't be held against."""
    said: dict[str, None] = {}
    for condition in conditions:
        said.update(dict.fromkeys(condition.excerpt.to_json()))
        if condition.baseline is not None:
            said["a relative limit"] = None
    return list(said)
