"""Row filters: a rule's filter compiled to a test over the columns of a history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from tripline_contracts import decimals
from tripline_contracts.event_type import SIDE, EventType, Field
from tripline_contracts.filters.filter_constants import Constant
from tripline_contracts.filters.filter_leaves import SideTest
from tripline_contracts.filters.filter_tree import (
    All,
    Any_,
    Comparison,
    Filter,
    ListMembership,
    Membership,
    Not,
    ParameterComparison,
)
from tripline_contracts.spelling import Operator
from tripline_engine.domain.history.history import History
from tripline_engine.domain.history.leaf_tests import Test, leaf_test, time_column
from tripline_engine.domain.memory.array_types import BoolArray, Millis, RowNumber, Uint64Array
from tripline_engine.domain.rules.named_values import NamedValues
from tripline_engine.domain.rules.threshold import Threshold
from tripline_engine.domain.transactions.columns import NULL_TIME
from tripline_engine.domain.transactions.hash_key import HashKey

Passes = BoolArray
Hashes = tuple[Uint64Array, Uint64Array]
"""128-bit hashes of texts: low and high words."""


@dataclass(frozen=True, slots=True)
class FilterCompiler:
    """Compiles filters to tests over the history of one anchor, whose rows are of that event type."""

    event_type: EventType
    key: HashKey
    named: NamedValues
    anchor: str

    def compile(self, condition: Filter) -> Test:
        """The filter as a function over columns. A comparison with null is false, whatever the operator."""
        match condition:
            case All(operands) | Any_(operands):
                operation = np.logical_and if isinstance(condition, All) else np.logical_or
                return _combined([self.compile(operand) for operand in operands], operation)
            case Not(operand):
                return _inverted(self.compile(operand))
            case Comparison(name, operator, constant):
                return self._comparison(name, operator, [constant])
            case Membership(name, constants):
                return self._comparison(name, "=", constants)
            case ListMembership(name, list_name):
                return _in_list(name, list_name, self)
            case ParameterComparison(name, operator, parameter):
                return _against_parameter(name, operator, parameter, self)
            case SideTest(side):
                return _texts(SIDE, [side], self.key, equal=True)
            case leaf:
                return leaf_test(leaf, self.event_type)

    def _comparison(self, name: str, operator: Operator, constants: Sequence[Constant]) -> Test:
        """The test that the comparison with one of the constants is true."""
        field = self.event_type.field(name)
        if field.kind == "decimal":
            return _amounts(name, [Threshold(operator, _scaled(constant)) for constant in constants])
        if field.kind == "timestamp":
            return _times(field, operator, [int(constant) for constant in constants], self.event_type)
        return _texts(name, [str(constant) for constant in constants], self.key, equal=operator == "=")


def from_time(since: Millis, test: Test | None) -> Test:
    """The test, which transactions with an event time before ``since`` fail too."""

    def not_before(history: History, start: int, end: int) -> Passes:
        result: Passes = history.time[start:end] >= since
        return result if test is None else result & test(history, start, end)

    return not_before


def _inverted(inner: Test) -> Test:
    def test(history: History, start: int, end: int) -> Passes:
        return ~inner(history, start, end)

    return test


def _combined(tests: Sequence[Test], operation: np.ufunc) -> Test:
    def test(history: History, start: int, end: int) -> Passes:
        result = tests[0](history, start, end)
        for operand in tests[1:]:
            result = operation(result, operand(history, start, end))
        return result

    return test


def _amounts(name: str, thresholds: Sequence[Threshold]) -> Test:
    """The test that the value satisfies one of the thresholds."""

    def test(history: History, start: int, end: int) -> Passes:
        rows, amounts = np.arange(start, end), history.measure(name)
        result = np.zeros(end - start, np.bool_)
        for threshold in thresholds:
            result |= threshold.matching_rows(rows, amounts)
        return result

    return test


_TIME_OPERATORS: dict[str, np.ufunc] = {
    "=": np.equal,
    "!=": np.not_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "<": np.less,
    "<=": np.less_equal,
}


def _times(field: Field, operator: str, constants: Sequence[int], event_type: EventType) -> Test:
    column = time_column(field, event_type)

    def test(history: History, start: int, end: int) -> Passes:
        times = column(history)[start:end]
        result: Passes = np.zeros(end - start, np.bool_)
        for constant in constants:
            result |= _TIME_OPERATORS[operator](times, constant)
        result &= times != NULL_TIME
        return result

    return test


def _texts(name: str, constants: Sequence[str], key: HashKey, *, equal: bool) -> Test:
    low, high = key.of_all(constants)

    def test(history: History, start: int, end: int) -> Passes:
        equal_to_one = _among(history, name, (low, high), start, end)
        return equal_to_one if equal else ~equal_to_one & (history.codes(name)[start:end] >= 0)

    return test


def _in_list(name: str, list_name: str, compiler: FilterCompiler) -> Test:
    """The test that the list had the value when the transaction was accepted."""

    def test(history: History, start: int, end: int) -> Passes:
        listed, offset = compiler.named.list(list_name), history.offset
        moments = listed.moment_of(compiler.anchor, start + offset, end + offset)
        codes, texts = history.codes(name)[start:end], history.values[name]
        if isinstance(moments, int) and len(codes) > texts.end:
            # one look-up for each text rather than for each row; the last is for null
            held = listed.hold(texts.key_low[: texts.end], texts.key_high[: texts.end], moments, compiler.key)
            of_row: Passes = np.append(held, False)[codes.clip(min=-1)]
            return of_row
        result: Passes = codes >= 0
        slots = codes[result]
        asked = moments if isinstance(moments, int) else moments[result]
        result[result] = listed.hold(texts.key_low[slots], texts.key_high[slots], asked, compiler.key)
        return result

    return test


def _against_parameter(name: str, operator: Operator, parameter: str, compiler: FilterCompiler) -> Test:
    """The test that the comparison with the parameter is true, by its value when the transaction was accepted."""

    def test(history: History, start: int, end: int) -> Passes:
        result, offset = np.zeros(end - start, np.bool_), history.offset
        runs = compiler.named.parameter(parameter).runs(compiler.anchor, start + offset, end + offset)
        for first, until, scaled in runs:
            rows = np.arange(first - offset, until - offset)
            matches = Threshold(operator, scaled).matching_rows(rows, history.measure(name))
            result[first - offset - start : until - offset - start] = matches
        return result

    return test


def _among(history: History, name: str, identities: Hashes, start: RowNumber, end: RowNumber) -> Passes:
    """Whether each row's value is one of those with these identities."""
    codes, slots = history.codes(name)[start:end], history.values[name].find(*identities)
    result: Passes = np.isin(codes, slots[slots >= 0])
    return result


def _scaled(constant: str | int) -> int:
    return decimals.to_scaled(Decimal(constant))
