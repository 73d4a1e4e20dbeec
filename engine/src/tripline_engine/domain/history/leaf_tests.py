"""The tests of a filter that are no comparison with constants, over the columns of a history."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from tripline_contracts import decimals
from tripline_contracts.event_type import EventType, Field
from tripline_contracts.filters.filter_leaves import (
    WEEK,
    FieldComparison,
    LocalTimeTest,
    MultipleTest,
    NetworkTest,
    NullTest,
    TextTest,
)
from tripline_engine.domain.history.history import History
from tripline_engine.domain.history.local_clock import DAY_MS, MINUTE_MS, local_clock
from tripline_engine.domain.history.networks import network_test
from tripline_engine.domain.memory.array_types import BoolArray, Int64Array, RowNumber
from tripline_engine.domain.memory.int128 import multiples
from tripline_engine.domain.rules.threshold import satisfied_by
from tripline_engine.domain.transactions.columns import NULL_TIME

Test = Callable[[History, RowNumber, RowNumber], BoolArray]
"""Whether each row from the first number to before the second passes."""
FieldLeaf = FieldComparison | TextTest | NullTest | MultipleTest | NetworkTest | LocalTimeTest

_EPOCH_DAY: Final = WEEK.index("THU")


def leaf_test(leaf: FieldLeaf, event_type: EventType) -> Test:
    """The leaf as a function over columns."""
    match leaf:
        case FieldComparison():
            return _between_fields(leaf, event_type)
        case TextTest(name, operator, text):
            return lambda history, start, end: history.values[name].matching(
                history.codes(name)[start:end], operator, text.encode()
            )
        case NullTest(name):
            return _null(event_type.field(name), event_type)
        case MultipleTest(name, divisor):
            return _multiple(name, decimals.to_scaled(decimals.parse(divisor)))
        case NetworkTest(name, networks):
            return network_test(name, networks)
        case LocalTimeTest():
            return _local_time(leaf)


def _between_fields(leaf: FieldComparison, event_type: EventType) -> Test:
    by_order = satisfied_by(leaf.operator)
    one, other = event_type.field(leaf.field), event_type.field(leaf.other)

    def decimal_test(history: History, start: RowNumber, end: RowNumber) -> BoolArray:
        first, second = history.measure(one.name), history.measure(other.name)
        high, other_high = first.high[start:end], second.high[start:end]
        low, other_low = first.low[start:end], second.low[start:end]
        alike = high == other_high
        less = (high < other_high) | (alike & (low < other_low))
        return _by_order(less, alike & (low == other_low), by_order)

    columns = [time_column(field, event_type) for field in (one, other)]

    def time_test(history: History, start: RowNumber, end: RowNumber) -> BoolArray:
        first, second = (column(history)[start:end] for column in columns)
        present = (first != NULL_TIME) & (second != NULL_TIME)
        result: BoolArray = present & _by_order(first < second, first == second, by_order)
        return result

    def text_test(history: History, start: RowNumber, end: RowNumber) -> BoolArray:
        first, second = history.codes(one.name)[start:end], history.codes(other.name)[start:end]
        texts, others = history.values[one.name], history.values[other.name]
        same = texts.key_low[first] == others.key_low[second]
        same &= texts.key_high[first] == others.key_high[second]
        result: BoolArray = (first >= 0) & (second >= 0) & (same if by_order[1] else ~same)
        return result

    match one.kind:
        case "decimal":
            return decimal_test
        case "timestamp":
            return time_test
        case "string" | "enum" | "ip" | "position":
            return text_test


def _by_order(less: BoolArray, same: BoolArray, satisfied: tuple[bool, bool, bool]) -> BoolArray:
    result: BoolArray = (less & satisfied[0]) | (same & satisfied[1]) | (~less & ~same & satisfied[2])
    return result


def time_column(field: Field, event_type: EventType) -> Callable[[History], Int64Array]:
    """Where a history has the times of that field."""
    if field.name == event_type.time_field.name:
        return lambda history: history.time
    return lambda history: history.stamp(field.name)


def _null(field: Field, event_type: EventType) -> Test:
    times = time_column(field, event_type)

    def test(history: History, start: RowNumber, end: RowNumber) -> BoolArray:
        absent: BoolArray
        if field.kind == "timestamp":
            absent = times(history)[start:end] == NULL_TIME
        elif field.name in history.values:
            absent = history.codes(field.name)[start:end] < 0
        else:
            # a number is never null
            absent = np.zeros(end - start, np.bool_)
        return absent

    return test


def _multiple(name: str, divisor: int) -> Test:
    def test(history: History, start: RowNumber, end: RowNumber) -> BoolArray:
        amounts = history.measure(name)
        return multiples(amounts.low[start:end], amounts.high[start:end], divisor)

    return test


def _local_time(leaf: LocalTimeTest) -> Test:
    clock = local_clock(leaf.zone)
    begins = np.array([not leaf.days or day in leaf.days for day in WEEK])
    goes_over_midnight = leaf.end <= leaf.start

    def test(history: History, start: RowNumber, end: RowNumber) -> BoolArray:
        local = clock.local(history.time[start:end])
        minute = local % DAY_MS // MINUTE_MS
        weekday = (local // DAY_MS + _EPOCH_DAY) % len(WEEK)
        result: BoolArray
        if goes_over_midnight:
            evening, morning = minute >= leaf.start, minute < leaf.end
            result = (evening & begins[weekday]) | (morning & begins[weekday - 1])
        else:
            result = (minute >= leaf.start) & (minute < leaf.end) & begins[weekday]
        return result

    return test
