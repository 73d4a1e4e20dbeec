"""The size of a filter in comparisons and constants: what a record carries and an evaluation computes."""

from __future__ import annotations

from tripline_contracts.filters.filter_leaves import MultipleTest, NetworkTest, TextTest
from tripline_contracts.filters.filter_tree import All, Any_, Comparison, Filter, Membership, Not


def comparisons(read: Filter) -> int:
    """The number of comparisons and other tests, an `in` counted as one."""
    match read:
        case All(operands) | Any_(operands):
            return sum(map(comparisons, operands))
        case Not(operand):
            return comparisons(operand)
        case _:
            return 1


def constants(read: Filter) -> int:
    """The number of constants that it spells out; a named list or parameter is none."""
    match read:
        case All(operands) | Any_(operands):
            return sum(map(constants, operands))
        case Not(operand):
            return constants(operand)
        case Membership(_, said) | NetworkTest(_, said):
            return len(said)
        case Comparison() | TextTest() | MultipleTest():
            return 1
        case _:
            return 0
