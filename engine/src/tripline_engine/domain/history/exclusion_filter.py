"""The filter that leaves out what operators have cleared of a rule."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tripline_contracts.filter_tree import All, Comparison
from tripline_engine.domain.history.history import History
from tripline_engine.domain.history.row_filter import FilterCompiler, Test
from tripline_engine.domain.rules.exclusions import Exclusions, Group


def excluding(forgotten: Exclusions, compiler: FilterCompiler, test: Test | None) -> Test | None:
    """Besides, the transaction is not forgotten."""
    if not forgotten.before and not forgotten.groups:
        return test
    groups = [(each.before, _in_group(each.group, compiler)) for each in forgotten.groups]
    last = max(forgotten.before, *(before for before, _ in groups), 0)

    def not_forgotten(history: History, start: int, end: int) -> npt.NDArray[np.bool_]:
        result = np.ones(end - start, np.bool_) if test is None else test(history, start, end)
        if start + history.offset >= last:
            return result
        sequences = np.arange(start, end) + history.offset
        result = result & (sequences >= forgotten.before)
        for before, among in groups:
            result &= (sequences >= before) | ~among(history, start, end)
        return result

    return not_forgotten


def _in_group(group: Group, compiler: FilterCompiler) -> Test:
    """Whether a transaction is one of the group's."""
    if not group:
        return lambda _, start, end: np.ones(end - start, np.bool_)
    return compiler.compile(All(tuple(Comparison(name, "=", value) for name, value in group)))
