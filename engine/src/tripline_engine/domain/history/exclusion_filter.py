"""The filter of exclusions: transactions that operators have cleared of a rule, or history had let go, fail it."""

from __future__ import annotations

import numpy as np

from tripline_contracts.control_commands import Group
from tripline_contracts.filters.filter_tree import All, Comparison
from tripline_engine.domain.history.history import History
from tripline_engine.domain.history.leaf_tests import Test
from tripline_engine.domain.history.row_filter import FilterCompiler
from tripline_engine.domain.memory.array_types import BoolArray
from tripline_engine.domain.rules.exclusions import Exclusions


def excluding(exclusions: Exclusions, compiler: FilterCompiler, test: Test | None) -> Test | None:
    """The test, which excluded transactions fail too."""
    if not exclusions.before and not exclusions.groups and not exclusions.let_go:
        return test
    groups = [(excluded.before, _in_group(excluded.group, compiler)) for excluded in exclusions.groups]
    last = max(exclusions.before, *(before for before, _ in (*groups, *exclusions.let_go)), 0)

    def not_excluded(history: History, start: int, end: int) -> BoolArray:
        result = np.ones(end - start, np.bool_) if test is None else test(history, start, end)
        if start + history.offset >= last:
            return result
        sequences = np.arange(start, end) + history.offset
        result = result & (sequences >= exclusions.before)
        for before, in_group in groups:
            result &= (sequences >= before) | ~in_group(history, start, end)
        for before, until in exclusions.let_go:
            result &= (sequences >= before) | (history.time[start:end] >= until)
        return result

    return not_excluded


def _in_group(group: Group, compiler: FilterCompiler) -> Test:
    """The test that the group's transactions pass."""
    if not group:
        return lambda _, start, end: np.ones(end - start, np.bool_)
    return compiler.compile(All(tuple(Comparison(name, "=", value) for name, value in group)))
