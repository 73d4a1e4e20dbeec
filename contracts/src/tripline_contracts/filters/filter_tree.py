"""The parts of a filter, as values: `filters` reads them from JSON, the engine evaluates them over columns.

A comparison with a field that is null is false, `!=` and `in` too; so `not` of it is true.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from tripline_contracts.filters.filter_constants import Constant
from tripline_contracts.filters.filter_leaves import (
    FieldComparison,
    LocalTimeTest,
    MultipleTest,
    NetworkTest,
    NullTest,
    SideTest,
    TextTest,
    Unnamed,
)
from tripline_contracts.filters.named_values import Parameter
from tripline_contracts.spelling import Operator

Json = dict[str, object]

_NONE: Final = frozenset[str]()
Leaf: TypeAlias = (
    "Comparison | Membership | ListMembership | ParameterComparison | "
    "FieldComparison | TextTest | NullTest | MultipleTest | NetworkTest | LocalTimeTest | SideTest"
)
"""What is not made of other filters."""
Filter: TypeAlias = "All | Any_ | Not | Leaf"


@dataclass(frozen=True, slots=True)
class All:
    """True if every operand is; there is at least one."""

    operands: tuple[Filter, ...]

    def to_json(self) -> Json:
        """The normalised form, which reads back to an equal value."""
        return {"all": [operand.to_json() for operand in self.operands]}

    def fields(self) -> frozenset[str]:
        """Canonical names of the fields that it looks at."""
        return _NONE.union(*(operand.fields() for operand in self.operands))

    def lists(self) -> frozenset[str]:
        """Names of the lists that it looks into."""
        return _NONE.union(*(operand.lists() for operand in self.operands))

    def parameters(self) -> frozenset[str]:
        """Names of the parameters that it compares with."""
        return _NONE.union(*(operand.parameters() for operand in self.operands))


@dataclass(frozen=True, slots=True)
class Any_:  # noqa: N801  # typing's Any has the name
    """True if some operand is; there is at least one."""

    operands: tuple[Filter, ...]

    def to_json(self) -> Json:
        """The normalised form, which reads back to an equal value."""
        return {"any": [operand.to_json() for operand in self.operands]}

    def fields(self) -> frozenset[str]:
        """Canonical names of the fields that it looks at."""
        return _NONE.union(*(operand.fields() for operand in self.operands))

    def lists(self) -> frozenset[str]:
        """Names of the lists that it looks into."""
        return _NONE.union(*(operand.lists() for operand in self.operands))

    def parameters(self) -> frozenset[str]:
        """Names of the parameters that it compares with."""
        return _NONE.union(*(operand.parameters() for operand in self.operands))


@dataclass(frozen=True, slots=True)
class Not:
    """True if the operand is false."""

    operand: Filter

    def to_json(self) -> Json:
        """The normalised form, which reads back to an equal value."""
        return {"not": self.operand.to_json()}

    def fields(self) -> frozenset[str]:
        """Canonical names of the fields that it looks at."""
        return self.operand.fields()

    def lists(self) -> frozenset[str]:
        """Names of the lists that it looks into."""
        return self.operand.lists()

    def parameters(self) -> frozenset[str]:
        """Names of the parameters that it compares with."""
        return self.operand.parameters()


@dataclass(frozen=True, slots=True)
class Comparison(Unnamed):
    """True if the field is not null and stands so to the constant.

    `constant` is plain decimal text for a decimal field (compared by value), int ms for a time, else text.
    """

    field: str
    operator: Operator
    constant: Constant

    def to_json(self) -> Json:
        """The normalised form, which reads back to an equal value."""
        return {"field": self.field, "operator": self.operator, "value": self.constant}

    def fields(self) -> frozenset[str]:
        """Canonical names of the fields that it looks at."""
        return frozenset((self.field,))


@dataclass(frozen=True, slots=True)
class Membership(Unnamed):
    """True if the field is one of the constants; these are as in `Comparison`, ascending, each once."""

    field: str
    constants: tuple[Constant, ...]

    def to_json(self) -> Json:
        """The normalised form, which reads back to an equal value."""
        return {"field": self.field, "in": list(self.constants)}

    def fields(self) -> frozenset[str]:
        """Canonical names of the fields that it looks at."""
        return frozenset((self.field,))


@dataclass(frozen=True, slots=True)
class ListMembership(Unnamed):
    """True if the field is in the named list, as that stood when the transaction was accepted."""

    field: str
    list_name: str

    def to_json(self) -> Json:
        """The normalised form, which reads back to an equal value."""
        return {"field": self.field, "in": {"list": self.list_name}}

    def fields(self) -> frozenset[str]:
        """Canonical names of the fields that it looks at."""
        return frozenset((self.field,))

    def lists(self) -> frozenset[str]:
        """Names of the lists that it looks into."""
        return frozenset((self.list_name,))


@dataclass(frozen=True, slots=True)
class ParameterComparison(Unnamed):
    """True if the field is not null and stands so to the parameter, as that stood when the transaction was accepted.

    Without a value of the parameter it is false, `!=` too.
    """

    field: str
    operator: Operator
    parameter: str

    def to_json(self) -> Json:
        """The normalised form, which reads back to an equal value."""
        return {"field": self.field, "operator": self.operator, "value": Parameter(self.parameter).to_json()}

    def fields(self) -> frozenset[str]:
        """Canonical names of the fields that it looks at."""
        return frozenset((self.field,))

    def parameters(self) -> frozenset[str]:
        """Names of the parameters that it compares with."""
        return frozenset((self.parameter,))
