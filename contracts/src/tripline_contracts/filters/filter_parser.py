"""The filter of a rule: all, any, not, over comparisons of an event's fields with constants and with named values.

    {"all": [f, …]}   {"any": [f, …]}   {"not": f}
    {"field": "amount", "operator": ">=", "value": "100"}
    {"field": "key", "in": ["25", "26"]}
    {"field": "amount", "operator": ">=", "value": {"parameter": "high-amount"}}
    {"field": "key", "in": {"list": "watched"}}

The grammar is closed: what is not in it is refused by name. Numbers and times take all six operators, texts and
enums `=` and `!=`, all of them `in`. Every field may be compared but the id. Named lists hold texts, so texts and enums
can be in them; parameters are decimals.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from tripline_contracts import spelling
from tripline_contracts.errors import InvalidConstant, InvalidDefinition, Problem
from tripline_contracts.event_type import EventType, Field
from tripline_contracts.filters import named_values
from tripline_contracts.filters.filter_constants import Constant, in_order, operators_of, read_constant
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

__all__ = [
    "All",
    "Any_",
    "Comparison",
    "Constant",
    "Filter",
    "ListMembership",
    "Membership",
    "Not",
    "ParameterComparison",
    "parse",
    "read",
]

MAX_DEPTH: Final = 12
"""Of `all`, `any`, `not` and the comparison inside them; with it a rule stays within the depth of JSON that the
services read."""
MAX_COMPARISONS: Final = 256
MAX_LIST: Final = 1_000
"""Constants of one `in`."""
MAX_CONSTANTS: Final = 2_000
"""Constants of the whole filter: what a Kafka record takes in the worst spelling."""

MOST_PROBLEMS: Final = 100
"""Of one filter; a longer list helps nobody."""

_WORDS: Final = ("all", "any", "not", "field", "operator", "value", "in")
_SHAPES: Final = "all, any, not, or field with operator and value, or field with in"


def parse(data: object, event_type: EventType) -> Filter:
    """The filter that the JSON means; raises InvalidDefinition with every problem found in it."""
    parsed, problems = read(data, event_type)
    if parsed is None or problems:
        raise InvalidDefinition(problems)
    return parsed


def read(data: object, event_type: EventType) -> tuple[Filter | None, list[Problem]]:
    """Like `parse`, but gives the problems back; their fields are paths such as `filter.all[1].value`.

    Work and depth are bounded whatever the JSON: reading stops at the first bound that it meets.
    """
    reading = _Reading(event_type)
    try:
        return reading.read(data, "filter", 1), reading.problems
    except _TooMuch as bound:
        return None, [*reading.problems, Problem("filter", str(bound))]


class _TooMuch(Exception):
    """A bound on the whole filter is passed."""


class _Reading:
    """One filter being read: the problems so far, and how much there was."""

    def __init__(self, event_type: EventType) -> None:
        self.problems: list[Problem] = []
        self._event_type = event_type
        self._comparisons = 0
        self._constants = 0

    def read(self, data: object, path: str, depth: int) -> Filter | None:
        """The filter at that path; None if there is a problem in it."""
        members = self._members(data, path)
        word = next(iter(members)) if len(members) == 1 else ""
        if word not in ("all", "any", "not"):
            self._count_comparison()
            return self._leaf(members, path) if members else None
        if depth == MAX_DEPTH:
            self._count_comparison()
            self._refuse(path, f"nested more than {MAX_DEPTH} deep")
            return None
        if word == "not":
            operand = self.read(members[word], f"{path}.not", depth + 1)
            return None if operand is None else Not(operand)
        operands = self._operands(members[word], f"{path}.{word}", depth + 1)
        if operands is None:
            return None
        return All(operands) if word == "all" else Any_(operands)

    def _members(self, data: object, path: str) -> dict[str, object]:
        """The object's members under their proper names, keys in any case; empty if there is a problem."""
        if not isinstance(data, Mapping) or not data:
            self._refuse(path, f"expected an object with {_SHAPES}; not {_shown(data)}")
            return {}
        members: dict[str, object] = {}
        for key, value in list(data.items())[: len(_WORDS) + 1]:
            word = key.casefold() if isinstance(key, str) else ""
            if word not in _WORDS:
                self._refuse(path, f"unknown {spelling.shown(key)}; expected {_SHAPES}")
                return {}
            if word in members:
                self._refuse(path, f"{word} is given twice, in different cases; expected once")
                return {}
            members[word] = value
        return members

    def _operands(self, data: object, path: str, depth: int) -> tuple[Filter, ...] | None:
        if not isinstance(data, (list, tuple)) or not 1 <= len(data) <= MAX_COMPARISONS:
            self._count_comparison()
            self._refuse(path, f"expected a list of 1 to {MAX_COMPARISONS} filters")
            return None
        read = [self.read(item, f"{path}[{i}]", depth) for i, item in enumerate(data)]
        operands = tuple(operand for operand in read if operand is not None)
        return operands if len(operands) == len(read) else None

    def _leaf(self, members: Mapping[str, object], path: str) -> Filter | None:
        if set(members) not in ({"field", "operator", "value"}, {"field", "in"}):
            self._refuse(path, f"expected {_SHAPES}; not {' with '.join(sorted(members))}")
            return None
        field = self._field(members["field"], path)
        if field is None:
            return None
        if "in" in members:
            return self._membership(field, members["in"], f"{path}.in")
        return self._comparison(field, members["operator"], members["value"], path)

    def _field(self, name: object, path: str) -> Field | None:
        field = self._event_type.find(name) if isinstance(name, str) else None
        if field is None or field.role == "id":
            names = ", ".join(field.name for field in self._event_type.fields if field.role != "id")
            self._refuse(f"{path}.field", f"expected one of {names}; not {spelling.shown(name)}")
            return None
        return field

    def _comparison(self, field: Field, operator: object, value: object, path: str) -> Filter | None:
        symbol, allowed = spelling.operator(operator), operators_of(field)
        named = isinstance(value, Mapping) and field.kind == "decimal"
        constant = (
            self._named(value, "parameter", f"{path}.value")
            if named
            else self._constant(value, field, f"{path}.value")
        )
        if symbol is None or symbol not in allowed:
            expected = f"expected one of {' '.join(allowed)} for {field.name}"
            self._refuse(f"{path}.operator", f"{expected}; not {spelling.shown(operator)}")
            return None
        if constant is None:
            return None
        if named:
            return ParameterComparison(field.name, symbol, str(constant))
        return Comparison(field.name, symbol, constant)

    def _membership(self, field: Field, data: object, path: str) -> Filter | None:
        if isinstance(data, Mapping):
            if field.kind in ("string", "enum"):
                name = self._named(data, "list", path)
                return None if name is None else ListMembership(field.name, name)
            self._refuse(
                path, f"expected a list of constants; named lists hold texts, and {field.name} is none"
            )
        elif not isinstance(data, (list, tuple)) or not 1 <= len(data) <= MAX_LIST:
            self._refuse(path, f'expected a list of 1 to {MAX_LIST} constants, or {{"list": name}}')
        else:
            read = [self._constant(value, field, f"{path}[{i}]") for i, value in enumerate(data)]
            constants = [constant for constant in read if constant is not None]
            return Membership(field.name, in_order(constants, field)) if len(constants) == len(read) else None
        return None

    def _constant(self, value: object, field: Field, path: str) -> Constant | None:
        self._constants += 1
        if self._constants > MAX_CONSTANTS:
            raise _TooMuch(f"more than {MAX_CONSTANTS} constants in one filter")
        try:
            return read_constant(value, field)
        except InvalidConstant as error:
            self._refuse(path, str(error))
            return None

    def _named(self, data: object, kind: named_values.Kind, path: str) -> str | None:
        try:
            return named_values.read_reference(cast("Mapping[object, object]", data), kind)
        except InvalidConstant as error:
            self._refuse(path, str(error))
            return None

    def _count_comparison(self) -> None:
        self._comparisons += 1
        if self._comparisons > MAX_COMPARISONS:
            raise _TooMuch(f"more than {MAX_COMPARISONS} comparisons in one filter")

    def _refuse(self, path: str, message: str) -> None:
        self.problems.append(Problem(path, message))
        if len(self.problems) == MOST_PROBLEMS:
            raise _TooMuch("more problems than are listed")


def _shown(data: object) -> str:
    return "an empty object" if isinstance(data, Mapping) else spelling.shown(data)
