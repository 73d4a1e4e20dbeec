"""The conditions of a rule, as values: what one of them measures, and how they are chained.

`condition_reading` reads them from JSON. A rule that is not chained has one condition and no tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias, assert_never

from tripline_contracts import decimals
from tripline_contracts.filters.filter_parser import Filter
from tripline_contracts.filters.named_values import Parameter
from tripline_contracts.rules.aggregate import Function
from tripline_contracts.spelling import Operator

Json = dict[str, object]

ConditionTree: TypeAlias = "AllOf | AnyOf | NotOf | Condition"


@dataclass(frozen=True, slots=True)
class Condition:
    """True if the aggregate over its own window of its own group stands so to the limit.

    `grouping_key_names` is sorted; `aggregate_field` is None for COUNT and for times since; `filter`, where there is
    one, is kept beside the rule's: what enters the window passes both.
    """

    grouping_key_names: tuple[str, ...]
    function: Function
    aggregate_field: str | None
    operator: Operator
    limit: Decimal | Parameter
    window_seconds: int
    filter: Filter | None = None

    def to_json(self) -> Json:
        """The normalised form, which reads back to an equal value; `filter` is there only where there is one."""
        normalised: Json = {
            "groupingKeyNames": list(self.grouping_key_names),
            "aggregatorFunctionType": self.function,
            "aggregateFieldName": self.aggregate_field,
            "limitOperatorType": self.operator,
            "limit": (
                self.limit.to_json() if isinstance(self.limit, Parameter) else decimals.plain(self.limit)
            ),
            "windowSeconds": self.window_seconds,
        }
        return normalised if self.filter is None else {**normalised, "filter": self.filter.to_json()}

    def lists(self) -> frozenset[str]:
        """Names of the lists that its filter looks into."""
        return frozenset() if self.filter is None else self.filter.lists()

    def parameters(self) -> frozenset[str]:
        """Names of the parameters that its filter and its limit compare with."""
        compared = frozenset[str]() if self.filter is None else self.filter.parameters()
        return compared | {self.limit.name} if isinstance(self.limit, Parameter) else compared


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


def leaves(tree: ConditionTree) -> tuple[Condition, ...]:
    """The conditions in the order of the tree, as it was written; at least one. An alert lists them so."""
    match tree:
        case Condition():
            return (tree,)
        case NotOf(operand):
            return leaves(operand)
        case AllOf(operands) | AnyOf(operands):
            return tuple(leaf for operand in operands for leaf in leaves(operand))
        case other:
            assert_never(other)
