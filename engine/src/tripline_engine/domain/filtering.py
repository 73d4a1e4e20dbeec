"""A rule's filter over the columns of the history: which transactions pass it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal

import numpy as np
import numpy.typing as npt

from tripline_contracts import decimals
from tripline_contracts.event_type import EventType, Field
from tripline_contracts.filter_constants import Constant
from tripline_contracts.filters import All, Any_, Comparison, Filter, Membership, Not
from tripline_contracts.spelling import Operator
from tripline_engine.domain.history import HashKey, History
from tripline_engine.domain.limit import Limit
from tripline_engine.domain.rows import ABSENT, Texts

Passes = npt.NDArray[np.bool_]
Test = Callable[[History, int, int], Passes]
"""Whether each row from the first number to the second passes."""


def compile_filter(condition: Filter, event_type: EventType, key: HashKey) -> Test:
    """The filter as a function over columns. A comparison with null is false, whatever the operator."""
    match condition:
        case All(operands):
            return _combined([compile_filter(each, event_type, key) for each in operands], np.logical_and)
        case Any_(operands):
            return _combined([compile_filter(each, event_type, key) for each in operands], np.logical_or)
        case Not(operand):
            return _inverted(compile_filter(operand, event_type, key))
        case Comparison(name, operator, constant):
            return _comparison(event_type.field(name), operator, [constant], event_type, key)
        case Membership(name, constants):
            return _comparison(event_type.field(name), "=", constants, event_type, key)


def from_time(since: int, test: Test | None) -> Test:
    """Besides, the event time (ms) is not before ``since``."""

    def late_enough(history: History, start: int, end: int) -> Passes:
        result: Passes = history.time[start:end] >= since
        return result if test is None else result & test(history, start, end)

    return late_enough


def _comparison(
    field: Field, operator: Operator, constants: Sequence[Constant], event_type: EventType, key: HashKey
) -> Test:
    """True if the comparison with one of the constants is."""
    if field.kind == "decimal":
        return _amounts(field.name, [Limit(operator, _scaled(constant)) for constant in constants])
    if field.kind == "timestamp":
        return _times(field, operator, [int(constant) for constant in constants], event_type)
    return _texts(field.name, [str(constant) for constant in constants], key, equal=operator == "=")


def _inverted(inner: Test) -> Test:
    def test(history: History, start: int, end: int) -> Passes:
        return ~inner(history, start, end)

    return test


def _combined(tests: Sequence[Test], operation: np.ufunc) -> Test:
    def test(history: History, start: int, end: int) -> Passes:
        result = tests[0](history, start, end)
        for each in tests[1:]:
            result = operation(result, each(history, start, end))
        return result

    return test


def _amounts(name: str, limits: Sequence[Limit]) -> Test:
    """True if one of the limits holds."""

    def test(history: History, start: int, end: int) -> Passes:
        rows, amounts = np.arange(start, end), history.measure(name)
        result = np.zeros(end - start, np.bool_)
        for limit in limits:
            result |= limit.values(rows, amounts)
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
    own = field.name == event_type.time_field.name

    def test(history: History, start: int, end: int) -> Passes:
        times = (history.time if own else history.stamp(field.name))[start:end]
        result: Passes = np.zeros(end - start, np.bool_)
        for constant in constants:
            result |= _TIME_OPERATORS[operator](times, constant)
        result &= times != ABSENT
        return result

    return test


def _texts(name: str, constants: Sequence[str], key: HashKey, *, equal: bool) -> Test:
    low, high = key.of(_as_texts(constants))

    def test(history: History, start: int, end: int) -> Passes:
        codes, table = history.codes(name)[start:end], history.values[name]
        found = table.find(low, high)
        among = np.isin(codes, found[found >= 0])
        result: Passes = (among if equal else ~among) & (codes >= 0)
        return result

    return test


def _as_texts(values: Sequence[str]) -> Texts:
    encoded = [value.encode() for value in values]
    offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    data = np.frombuffer(b"".join(encoded) or b"\0", np.uint8)
    return Texts(offsets, data, np.ones(len(values), np.bool_))


def _scaled(constant: str | int) -> int:
    return decimals.to_scaled(Decimal(constant))
