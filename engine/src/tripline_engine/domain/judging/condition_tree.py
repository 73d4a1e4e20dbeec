"""The tree of a chained rule over the conditions of many transactions: `all`, `any`, `not`, and weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import assert_never

import numpy as np

from tripline_contracts import decimals
from tripline_contracts.filters.named_values import Parameter
from tripline_contracts.rules.conditions import (
    AllOf,
    AnyOf,
    Condition,
    ConditionTree,
    NotOf,
    Number,
    WeightedOf,
)
from tripline_engine.domain.history.history import History
from tripline_engine.domain.judging.verdict import Weighed, Weighing
from tripline_engine.domain.rules.named_values import NamedValues
from tripline_engine.domain.rules.threshold import Matches


@dataclass(frozen=True, slots=True)
class TreeNumbers:
    """The numbers in a tree (scaled by 10⁶), for the anchor's rows from ``start`` to ``end`` of the history.

    A parameter has the value that it had when the row was accepted; None before it had any.
    """

    named: NamedValues
    anchor: str
    history: History
    start: int
    end: int

    def runs(self, numbers: Sequence[Number]) -> Iterator[tuple[int, int, list[int | None]]]:
        """Runs of rows, counted from ``start``, in which no number changes, and the numbers there."""
        columns = [self._runs(number) for number in numbers]
        bounds = sorted({0, *(until for column in columns for _, until, _ in column)})
        for first, until in pairwise(bounds):
            yield first, until, [_value_in(column, first) for column in columns]

    def _runs(self, number: Number) -> list[tuple[int, int, int | None]]:
        if not isinstance(number, Parameter):
            return [(0, self.end - self.start, decimals.to_scaled(number))]
        shift = self.start + self.history.offset
        runs = self.named.parameter(number.name).runs(self.anchor, shift, self.end + self.history.offset)
        return [(first - shift, until - shift, scaled) for first, until, scaled in runs]


@dataclass(frozen=True, slots=True)
class WeighedRows:
    """One weighting of a tree over n transactions.

    :ivar held: by operand, where it holds (bool, n)
    :ivar holds: where the weights of these add up to enough (bool, n)
    :ivar conditions: by operand, the numbers of the conditions in it, in the order of the tree, from 1
    """

    node: WeightedOf
    held: list[Matches]
    holds: Matches
    conditions: list[range]

    def of_row(self, i: int, numbers: TreeNumbers) -> Weighing:
        """The weighting of the i-th transaction."""
        runs = numbers.runs(self.node.numbers)
        *weights, least = next(values for first, until, values in runs if first <= i < until)
        held = [bool(column[i]) for column in self.held]
        known = [weight for weight in weights if weight is not None]
        total = (
            sum(weight for weight, holds in zip(known, held, strict=True) if holds)
            if len(known) == len(weights)
            else None
        )
        return Weighing(
            total=_text(total),
            at_least=_text(least),
            holds=bool(self.holds[i]),
            weights=tuple(
                Weighed(_text(weight), holds, tuple(conditions))
                for weight, holds, conditions in zip(weights, held, self.conditions, strict=True)
            ),
        )


@dataclass(slots=True)
class TreeReading:
    """A tree read over n transactions, condition by condition.

    :ivar weightings: those read so far, in the order of the tree
    """

    numbers: TreeNumbers
    weightings: list[WeighedRows] = field(default_factory=list)
    _conditions: int = 0

    def read(self, tree: ConditionTree, satisfied: Iterator[Matches]) -> Matches:
        """Where the tree holds (bool, n), if its conditions, which come in its order, do there."""
        match tree:
            case Condition():
                self._conditions += 1
                return next(satisfied)
            case NotOf(operand):
                return ~self.read(operand, satisfied)
            case AllOf(operands):
                every: Matches = np.all([self.read(operand, satisfied) for operand in operands], axis=0)
                return every
            case AnyOf(operands):
                some: Matches = np.any([self.read(operand, satisfied) for operand in operands], axis=0)
                return some
            case WeightedOf():
                return self._weigh(tree, satisfied)
            case other:
                assert_never(other)

    def _weigh(self, node: WeightedOf, satisfied: Iterator[Matches]) -> Matches:
        number, held, conditions = len(self.weightings), [], []
        for operand in node.operands:
            first = self._conditions + 1
            held.append(self.read(operand.of, satisfied))
            conditions.append(range(first, self._conditions + 1))
        holds = _weighed(node, held, self.numbers)
        self.weightings.insert(number, WeighedRows(node, held, holds, conditions))
        return holds


def _weighed(node: WeightedOf, held: list[Matches], numbers: TreeNumbers) -> Matches:
    """Where the weights add up: sums are made once for each pattern of operands that hold, in integers of any size."""
    pattern = np.zeros(len(held[0]), np.int64)
    for i, column in enumerate(held):
        pattern |= column.astype(np.int64) << i
    holds = np.zeros(len(pattern), np.bool_)
    for first, until, (*weights, least) in numbers.runs(node.numbers):
        known = [weight for weight in weights if weight is not None]
        if least is None or len(known) < len(weights):
            continue
        patterns, inverse = np.unique(pattern[first:until], return_inverse=True)
        enough = [_total(known, bits) >= least for bits in patterns.tolist()]
        holds[first:until] = np.array(enough, np.bool_)[inverse]
    return holds


def _total(weights: list[int], pattern: int) -> int:
    return sum(weight for i, weight in enumerate(weights) if pattern >> i & 1)


def _value_in(column: list[tuple[int, int, int | None]], row: int) -> int | None:
    return next(value for first, until, value in column if first <= row < until)


def _text(scaled: int | None) -> str | None:
    return None if scaled is None else decimals.plain_scaled(scaled)
