"""The parts of a filter, as values: `filters` reads them from JSON, the engine evaluates them over columns.

A comparison with a field that is null is false, `!=` and `in` too; so `not` of it is true.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from tripline_contracts.filter_constants import Constant
from tripline_contracts.spelling import Operator

Json = dict[str, object]
Filter: TypeAlias = "All | Any_ | Not | Comparison | Membership"


@dataclass(frozen=True, slots=True)
class All:
    """True if every operand is; there is at least one."""

    operands: tuple[Filter, ...]

    def to_json(self) -> Json:
        """The normalised form, which reads back to an equal value."""
        return {"all": [operand.to_json() for operand in self.operands]}

    def fields(self) -> frozenset[str]:
        """Canonical names of the fields that it looks at."""
        return _fields_of(self.operands)


@dataclass(frozen=True, slots=True)
class Any_:  # noqa: N801  # typing's Any has the name
    """True if some operand is; there is at least one."""

    operands: tuple[Filter, ...]

    def to_json(self) -> Json:
        """The normalised form, which reads back to an equal value."""
        return {"any": [operand.to_json() for operand in self.operands]}

    def fields(self) -> frozenset[str]:
        """Canonical names of the fields that it looks at."""
        return _fields_of(self.operands)


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


@dataclass(frozen=True, slots=True)
class Comparison:
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
class Membership:
    """True if the field is one of the constants; these are as in `Comparison`, ascending, each once."""

    field: str
    constants: tuple[Constant, ...]

    def to_json(self) -> Json:
        """The normalised form, which reads back to an equal value."""
        return {"field": self.field, "in": list(self.constants)}

    def fields(self) -> frozenset[str]:
        """Canonical names of the fields that it looks at."""
        return frozenset((self.field,))


def _fields_of(operands: tuple[Filter, ...]) -> frozenset[str]:
    return frozenset[str]().union(*(operand.fields() for operand in operands))
