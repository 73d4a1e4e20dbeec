"""The size of a filter in comparisons and constants: what a record carries and an evaluation computes."""

from __future__ import annotations

from typing import assert_never

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


def comparisons(read: Filter) -> int:
    """The number of comparisons, an `in` counted as one."""
    match read:
        case All(operands) | Any_(operands):
            return sum(map(comparisons, operands))
        case Not(operand):
            return comparisons(operand)
        case Comparison() | Membership() | ListMembership() | ParameterComparison():
            return 1
        case other:
            assert_never(other)


def constants(read: Filter) -> int:
    """The number of constants that it spells out; a named list or parameter is none."""
    match read:
        case All(operands) | Any_(operands):
            return sum(map(constants, operands))
        case Not(operand):
            return constants(operand)
        case Membership(_, said):
            return len(said)
        case Comparison():
            return 1
        case ListMembership() | ParameterComparison():
            return 0
        case other:
            assert_never(other)
