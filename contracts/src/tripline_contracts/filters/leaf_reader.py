"""Reads what a filter is made of: its comparisons and other tests, and counts what there is in all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from tripline_contracts import spelling
from tripline_contracts.errors import InvalidConstant, Problem
from tripline_contracts.event_type import SIDE, TEXT_KINDS, EventType, Field
from tripline_contracts.filters import named_values
from tripline_contracts.filters.filter_constants import Constant, in_order, operators_of, read_constant
from tripline_contracts.filters.filter_leaves import (
    TEXT_OPERATORS,
    FieldComparison,
    LocalTimeTest,
    MultipleTest,
    NetworkTest,
    NullTest,
    SideTest,
    TextTest,
)
from tripline_contracts.filters.filter_tree import (
    Comparison,
    Leaf,
    ListMembership,
    Membership,
    ParameterComparison,
)
from tripline_contracts.filters.local_time_reader import read_local_time
from tripline_contracts.normal_forms.ip_addresses import EXPECTED_NETWORK, normal_network
from tripline_contracts.spelling import Operator

MAX_COMPARISONS: Final = 256
"""Tests of any kind."""
MAX_LIST: Final = 1_000
"""Constants of one `in`."""
MAX_CONSTANTS: Final = 2_000
"""Constants of the whole filter: what a Kafka record takes in the worst spelling."""
MOST_PROBLEMS: Final = 100
"""Of one filter; a longer list helps nobody."""

WORDS: Final = (
    "field", "operator", "value", "otherField", "in", *TEXT_OPERATORS, "isNull", "multipleOf", "inNetwork",
    "localTime", SIDE,
)  # fmt: skip
SHAPES: Final = (
    "all, any, not, or field with operator and value or otherField, or field with one of "
    f"in, {', '.join(TEXT_OPERATORS)}, isNull, multipleOf, inNetwork, or localTime, or side"
)
_OF_ONE_FIELD: Final = {"in", *TEXT_OPERATORS, "isNull", "multipleOf", "inNetwork"}


class TooMuch(Exception):
    """A bound on the whole filter is passed."""


class LeafReader:
    """The tests of one filter being read: the problems so far, and how much there was."""

    def __init__(self, event_type: EventType) -> None:
        self.problems: list[Problem] = []
        self._event_type = event_type
        self._comparisons = 0
        self._constants = 0

    def leaf(self, members: Mapping[str, object], path: str) -> Leaf | None:
        if set(members) == {"localTime"}:
            return self._local_time(members["localTime"], f"{path}.localTime")
        if set(members) == {SIDE}:
            return self._side(members[SIDE], f"{path}.{SIDE}")
        said = set(members) - {"field"}
        word = next(iter(said)) if len(said) == 1 else ""
        fits = word in _OF_ONE_FIELD or said in ({"operator", "value"}, {"operator", "otherField"})
        if "field" not in members or not fits:
            self.refuse(path, f"expected {SHAPES}; not {' with '.join(sorted(members))}")
            return None
        field = self._field(members["field"], f"{path}.field")
        if field is None:
            return None
        if "otherField" in said:
            return self._between_fields(field, members["operator"], members["otherField"], path)
        if "value" in said:
            return self._comparison(field, members["operator"], members["value"], path)
        return self._of_one_field(field, word, members[word], f"{path}.{word}")

    def _of_one_field(self, field: Field, word: str, data: object, path: str) -> Leaf | None:
        match word:
            case "in":
                return self._membership(field, data, path)
            case "isNull":
                return self._null_test(field, data, path)
            case "multipleOf":
                return self._multiple_test(field, data, path)
            case "inNetwork":
                return self._network_test(field, data, path)
            case "startsWith" | "endsWith" | "contains":
                if field.kind != "string":
                    self.refuse(path, f"expected a field of texts beside it; {field.name} is none")
                    return None
                text = self._constant(data, field, path)
                return None if text is None else TextTest(field.name, word, str(text))
            case never:
                raise AssertionError(never)

    def _field(self, name: object, path: str) -> Field | None:
        field = self._event_type.find(name) if isinstance(name, str) else None
        if field is None or field.role == "id":
            names = ", ".join(field.name for field in self._event_type.fields if field.role != "id")
            self.refuse(path, f"expected one of {names}; not {spelling.shown(name)}")
            return None
        return field

    def _operator(self, field: Field, operator: object, path: str) -> Operator | None:
        symbol, allowed = spelling.operator(operator), operators_of(field)
        if symbol is None or symbol not in allowed:
            expected = f"expected one of {' '.join(allowed)} for {field.name}"
            self.refuse(f"{path}.operator", f"{expected}; not {spelling.shown(operator)}")
            return None
        return symbol

    def _between_fields(self, field: Field, operator: object, name: object, path: str) -> Leaf | None:
        symbol, other = self._operator(field, operator, path), self._field(name, f"{path}.otherField")
        if other is None:
            return None
        if other.kind != field.kind or other == field:
            expected = f"expected another field of kind {field.kind}, as {field.name} is"
            self.refuse(f"{path}.otherField", f"{expected}; not {other.name}")
            return None
        return None if symbol is None else FieldComparison(field.name, symbol, other.name)

    def _null_test(self, field: Field, data: object, path: str) -> Leaf | None:
        if data is not True:
            self.refuse(
                path, f'expected true, and around it {{"not": …}} for the opposite; not {shown(data)}'
            )
            return None
        return NullTest(field.name)

    def _multiple_test(self, field: Field, data: object, path: str) -> Leaf | None:
        if field.kind != "decimal":
            self.refuse(path, f"expected a field of decimal numbers beside it; {field.name} is none")
            return None
        divisor = self._constant(data, field, path)
        if divisor is None:
            return None
        if str(divisor).startswith("-") or divisor == "0":
            self.refuse(path, f"expected a number above 0; not {divisor}")
            return None
        return MultipleTest(field.name, str(divisor))

    def _network_test(self, field: Field, data: object, path: str) -> Leaf | None:
        if field.kind != "ip":
            self.refuse(path, f"expected a field of addresses beside it (kind ip); {field.name} is none")
            return None
        if not isinstance(data, (list, tuple)) or not 1 <= len(data) <= MAX_LIST:
            self.refuse(path, f"expected a list of 1 to {MAX_LIST} networks, each {EXPECTED_NETWORK}")
            return None
        networks = [self._network(value, f"{path}[{i}]") for i, value in enumerate(data)]
        read = {network for network in networks if network is not None}
        return None if None in networks else NetworkTest(field.name, tuple(sorted(read)))

    def _network(self, value: object, path: str) -> str | None:
        self._count_constant()
        network = normal_network(value) if isinstance(value, str) else None
        if network is None:
            said = f"expected {EXPECTED_NETWORK}, without bits behind its prefix"
            self.refuse(path, f"{said}; not {spelling.shown(value)}")
        return network

    def _local_time(self, data: object, path: str) -> Leaf | None:
        read = read_local_time(data, path, self._event_type.time_field.name)
        if isinstance(read, LocalTimeTest):
            return read
        for problem in read:
            self.refuse(problem.field, problem.message)
        return None

    def _side(self, data: object, path: str) -> Leaf | None:
        sides = self._event_type.sides
        folded = data.casefold() if isinstance(data, str) else None
        for side in sides:
            if side.casefold() == folded:
                return SideTest(side)
        expected = f"one of {', '.join(sides)}" if sides else "no side: the event type has no parties"
        self.refuse(path, f"expected {expected}; not {shown(data)}")
        return None

    def _comparison(self, field: Field, operator: object, value: object, path: str) -> Leaf | None:
        named = isinstance(value, Mapping) and field.kind == "decimal"
        constant = (
            self._named(value, "parameter", f"{path}.value")
            if named
            else self._constant(value, field, f"{path}.value")
        )
        symbol = self._operator(field, operator, path)
        if symbol is None or constant is None:
            return None
        if named:
            return ParameterComparison(field.name, symbol, str(constant))
        return Comparison(field.name, symbol, constant)

    def _membership(self, field: Field, data: object, path: str) -> Leaf | None:
        if isinstance(data, Mapping):
            if field.kind in TEXT_KINDS:
                name = self._named(data, "list", path)
                return None if name is None else ListMembership(field.name, name)
            self.refuse(
                path, f"expected a list of constants; named lists hold texts, and {field.name} is none"
            )
        elif not isinstance(data, (list, tuple)) or not 1 <= len(data) <= MAX_LIST:
            self.refuse(path, f'expected a list of 1 to {MAX_LIST} constants, or {{"list": name}}')
        else:
            read = [self._constant(value, field, f"{path}[{i}]") for i, value in enumerate(data)]
            constants = [constant for constant in read if constant is not None]
            return Membership(field.name, in_order(constants, field)) if len(constants) == len(read) else None
        return None

    def _constant(self, value: object, field: Field, path: str) -> Constant | None:
        self._count_constant()
        try:
            return read_constant(value, field)
        except InvalidConstant as error:
            self.refuse(path, str(error))
            return None

    def _count_constant(self) -> None:
        self._constants += 1
        if self._constants > MAX_CONSTANTS:
            raise TooMuch(f"more than {MAX_CONSTANTS} constants in one filter")

    def _named(self, data: object, kind: named_values.Kind, path: str) -> str | None:
        try:
            return named_values.read_reference(cast("Mapping[object, object]", data), kind)
        except InvalidConstant as error:
            self.refuse(path, str(error))
            return None

    def count_comparison(self) -> None:
        self._comparisons += 1
        if self._comparisons > MAX_COMPARISONS:
            raise TooMuch(f"more than {MAX_COMPARISONS} comparisons in one filter")

    def refuse(self, path: str, message: str) -> None:
        self.problems.append(Problem(path, message))
        if len(self.problems) == MOST_PROBLEMS:
            raise TooMuch("more problems than are listed")


def shown(data: object) -> str:
    """The value for a message."""
    return "an empty object" if isinstance(data, Mapping) else spelling.shown(data)
