"""Filters of rules (semantics 2): parsed, evaluated for one transaction, and their fields."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from tests.oracle.parsers.filter_fields import Constant, read_constant, read_field, value_of
from tests.oracle.parsers.filter_tests import Test, fields_of_test, holds, read_test
from tests.oracle.parsers.named_values import ListName, Parameter, read_reference
from tests.oracle.parsers.transactions import Transaction
from tests.oracle.values.errors import Unreadable
from tests.oracle.values.event_types import SIDE, current_type
from tests.oracle.values.strict_json import Value, read_text

_EQUALITY: dict[str, Callable[[object, object], bool]] = {"=": operator.eq, "!=": operator.ne}
_ORDER: dict[str, Callable[[int, int], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}


@dataclass(frozen=True, slots=True)
class Comparison:
    """A field against constants: amounts in millionths, times in ms. `in` has any number of them, the rest one.

    Or against what is `named`, which has other values for other transactions; then there are no constants.
    """

    field: str
    operator: str
    constants: tuple[Constant, ...]
    named: ListName | Parameter | None = None


@dataclass(frozen=True, slots=True)
class Combination:
    """`all`, `any`, or `not` of exactly one."""

    kind: str
    parts: tuple[Filter, ...]


Filter: TypeAlias = "Comparison | Combination | Test"


def read_filter(value: Value | None) -> Filter:
    """The filter in a definition, or Unreadable."""
    if not isinstance(value, dict):
        raise Unreadable("filter is not an object")
    if value.keys() == {"not"}:
        return Combination("not", (read_filter(value["not"]),))
    for kind in ("all", "any"):
        if value.keys() == {kind}:
            return Combination(kind, tuple(read_filter(part) for part in _at_least_one(value[kind])))
    if value.keys() == {SIDE}:
        return Comparison(SIDE, "=", (_read_side(value[SIDE]),))
    test = read_test(value)
    return _read_comparison(value) if test is None else test


def _read_side(value: Value) -> str:
    side = read_text(value, SIDE)
    if not any(side in sides for sides in current_type().parties.values()):
        raise Unreadable("no side of any party")
    return side


def _read_comparison(value: dict[str, Value]) -> Comparison:
    field = read_field(value.get("field"))
    if value.keys() == {"field", "in"}:
        name = read_reference(value["in"], "list")
        if name is not None:
            if field not in current_type().keys:
                raise Unreadable(f"no list for {field}")
            return Comparison(field, "in", (), ListName(name))
        return Comparison(
            field, "in", tuple(read_constant(field, item) for item in _at_least_one(value["in"]))
        )
    if value.keys() != {"field", "operator", "value"}:
        raise Unreadable("no filter has these keys")
    symbol = read_text(value["operator"], "operator")
    if symbol not in _EQUALITY and not (symbol in _ORDER and field in current_type().numbers):
        raise Unreadable(f"{field} has no operator {symbol}")
    name = read_reference(value["value"], "parameter")
    if name is None:
        return Comparison(field, symbol, (read_constant(field, value["value"]),))
    if field != current_type().amount:
        raise Unreadable(f"no parameter for {field}")
    return Comparison(field, symbol, (), Parameter(name))


def _at_least_one(value: Value) -> list[Value]:
    if not isinstance(value, list) or not value:
        raise Unreadable("a list of at least one is expected")
    return value


def passes(condition: Filter | None, transaction: Transaction) -> bool:
    """True if a transaction passes; without a filter all do. A comparison with null is false."""
    if condition is None:
        return True
    if isinstance(condition, Combination):
        answers: Iterable[bool] = (passes(part, transaction) for part in condition.parts)
        if condition.kind == "not":
            return not any(answers)
        return all(answers) if condition.kind == "all" else any(answers)
    return (
        _compares(condition, transaction)
        if isinstance(condition, Comparison)
        else holds(condition, transaction)
    )


def _compares(condition: Comparison, transaction: Transaction) -> bool:
    value = value_of(condition.field, transaction)
    if value is None:
        return False
    constants = _constants(condition, transaction)
    if condition.operator == "in":
        return value in constants
    if not constants:
        return False
    (constant,) = constants
    if condition.operator in _EQUALITY:
        return _EQUALITY[condition.operator](value, constant)
    assert isinstance(value, int)
    assert isinstance(constant, int)
    return _ORDER[condition.operator](value, constant)


def _constants(comparison: Comparison, transaction: Transaction) -> Collection[Constant]:
    """As they stood when the transaction was accepted; none of a parameter without a value."""
    if isinstance(comparison.named, ListName):
        return transaction.names.texts(comparison.named)
    if isinstance(comparison.named, Parameter):
        number = transaction.names.number(comparison.named)
        return () if number is None else (number,)
    return comparison.constants


def fields_of(condition: Filter | None) -> frozenset[str]:
    """Every field that the filter names."""
    if condition is None:
        return frozenset()
    if isinstance(condition, Comparison):
        return frozenset({condition.field})
    if not isinstance(condition, Combination):
        return fields_of_test(condition)
    return frozenset().union(*(fields_of(part) for part in condition.parts))
