"""The aggregate conditions of a rule: one of a plain rule, a tree of several of a chained one (semantics 6)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from tests.oracle.parsers.filters import Filter, fields_of, read_filter
from tests.oracle.parsers.named_values import NamedValues, Parameter, read_reference
from tests.oracle.values.decimals import read_decimal
from tests.oracle.values.errors import OutOfScope, Unreadable
from tests.oracle.values.event_types import current_type
from tests.oracle.values.strict_json import Value, read_integer, read_text

FUNCTIONS = ("SUM", "AVG", "MIN", "MAX", "COUNT")
DISTINCT = "COUNT_DISTINCT"
SINCE_PREVIOUS, SINCE_FIRST = "SECONDS_SINCE_PREVIOUS", "SECONDS_SINCE_FIRST"
CHANGED = "CHANGED"
DEVIATION = "STDDEV"
# What depends on the order of the window's transactions.
OF_ORDER = (SINCE_PREVIOUS, SINCE_FIRST, CHANGED)
OPERATORS = {
    "EQUAL": "=",
    "NOT_EQUAL": "!=",
    "GREATER_EQUAL": ">=",
    "LESS_EQUAL": "<=",
    "GREATER": ">",
    "LESS": "<",
}
# What a condition is made of, and what a chained rule therefore has not beside its conditions.
MEMBERS = (
    "groupingKeyNames",
    "aggregatorFunctionType",
    "aggregateFieldName",
    "unique",
    "limitOperatorType",
    "limit",
    "windowSeconds",
    "windowMinutes",
)
_WIDEST_SECONDS = 400 * 24 * 3600
_MOST_CONDITIONS = 16
_MOST_LEVELS = 6


@dataclass(frozen=True, slots=True)
class Condition:
    """An aggregate held against a limit. Grouping in name order, limit in millionths, window in ms.

    `field` is None for COUNT and for what looks at times alone, `only` its own filter, which the one
    condition of a plain rule has not.
    """

    grouping: tuple[str, ...]
    function: str
    field: str | None
    operator: str
    limit: int | Parameter
    window: int
    only: Filter | None = None

    def uses(self) -> frozenset[str]:
        """The fields that it names."""
        fields = {*self.grouping, *fields_of(self.only)}
        return frozenset(fields if self.field is None else fields | {self.field})


@dataclass(frozen=True, slots=True)
class Chain:
    """`all`, `any`, or `not` of exactly one."""

    kind: str
    parts: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Weighting:
    """Parts of which those that hold have to weigh `at_least` so much together; in millionths."""

    parts: tuple[Tree, ...]
    weights: tuple[int | Parameter, ...]
    at_least: int | Parameter


Tree: TypeAlias = "Condition | Chain | Weighting"


def conditions_of(tree: Tree) -> tuple[Condition, ...]:
    """In the order of the tree."""
    if isinstance(tree, Condition):
        return (tree,)
    return tuple(condition for part in tree.parts for condition in conditions_of(part))


def settled(tree: Tree, answers: Iterator[bool], names: NamedValues) -> bool:
    """True if the tree holds where its conditions, in order, hold as `answers` say."""
    if isinstance(tree, Condition):
        return next(answers)
    # All of them, even where one settles it: each takes its own answers.
    results = [settled(part, answers, names) for part in tree.parts]
    if isinstance(tree, Weighting):
        total, least = weight_of(tree, results, names), names.number(tree.at_least)
        return total is not None and least is not None and total >= least
    if tree.kind == "not":
        return not results[0]
    return all(results) if tree.kind == "all" else any(results)


def weight_of(tree: Weighting, results: list[bool], names: NamedValues) -> int | None:
    """The weight of the parts that hold, as `results` say; None where any of all weights has no value."""
    total = 0
    for number, holds in zip(tree.weights, results, strict=True):
        weight = names.number(number)
        if weight is None:
            return None
        total += weight if holds else 0
    return total


def weightings_of(tree: Tree, first: int = 0) -> Iterator[tuple[Weighting, int]]:
    """Each in the tree, from outside to inside and from first to last, with how many conditions stand before it."""
    if isinstance(tree, Condition):
        return
    if isinstance(tree, Weighting):
        yield tree, first
    for part in tree.parts:
        yield from weightings_of(part, first)
        first += len(conditions_of(part))


def read_tree(value: Value) -> Tree:
    """The `conditions` of a definition, or Unreadable."""
    tree = _read_tree(value, _MOST_LEVELS)
    conditions = conditions_of(tree)
    if len(conditions) > _MOST_CONDITIONS:
        raise Unreadable("too many conditions")
    if len(conditions) > 1 and not shared_grouping(conditions):
        raise Unreadable("the groupings share no field")
    return tree


def shared_grouping(conditions: tuple[Condition, ...]) -> tuple[str, ...]:
    """The fields that all groupings have, in name order."""
    return tuple(sorted(set(conditions[0].grouping).intersection(*(other.grouping for other in conditions))))


def _read_tree(value: Value, levels: int) -> Tree:
    """A tree of at most `levels` levels; a condition is one."""
    if not isinstance(value, dict) or levels == 0:
        raise Unreadable("no condition, or too deep")
    if value.keys() == {"not"}:
        return Chain("not", (_read_tree(value["not"], levels - 1),))
    for kind in ("all", "any"):
        if value.keys() == {kind}:
            parts = value[kind]
            if not isinstance(parts, list) or not parts:
                raise Unreadable(f"{kind} of nothing")
            return Chain(kind, tuple(_read_tree(part, levels - 1) for part in parts))
    if value.keys() == {"weighted", "atLeast"}:
        return _read_weighting(value, levels)
    if value.keys() - {*MEMBERS, "filter"}:
        raise Unreadable("a condition has something else")
    return read_condition(value, None if value.get("filter") is None else read_filter(value["filter"]))


def _read_weighting(value: dict[str, Value], levels: int) -> Weighting:
    parts, weights = [], []
    items = value["weighted"]
    if not isinstance(items, list) or not items:
        raise Unreadable("weighted of nothing")
    for item in items:
        if not isinstance(item, dict) or item.keys() != {"weight", "of"}:
            raise Unreadable("a weight of something else")
        weights.append(_limit(item["weight"]))
        parts.append(_read_tree(item["of"], levels - 1))
    return Weighting(tuple(parts), tuple(weights), _limit(value["atLeast"]))


def read_condition(members: dict[str, Value], only: Filter | None) -> Condition:
    """A condition of these members, whatever else there is, or Unreadable."""
    if members.get("unique") not in (None, []):
        raise OutOfScope("unique in a normalised definition")
    function, field = _aggregate(members)
    return Condition(
        _grouping(members),
        function,
        field,
        _operator(members),
        _limit(members.get("limit")),
        _window(members),
        only,
    )


def _grouping(members: dict[str, Value]) -> tuple[str, ...]:
    names = members.get("groupingKeyNames")
    if not isinstance(names, list):
        raise Unreadable("groupingKeyNames is not a list")
    fields = [_groupable(name) for name in names]
    if len(set(fields)) != len(fields):
        raise Unreadable("repeated grouping key")
    return tuple(sorted(fields))


def _groupable(name: Value | None) -> str:
    written = read_text(name, "field")
    field = current_type().aliases.get(written, written)
    if field not in current_type().groupable:
        raise Unreadable(f"{field} is no key")
    return field


def _aggregate(members: dict[str, Value]) -> tuple[str, str | None]:
    function, field = members.get("aggregatorFunctionType"), members.get("aggregateFieldName")
    if function in (DISTINCT, CHANGED):
        return function, _groupable(field)
    if function in (SINCE_PREVIOUS, SINCE_FIRST):
        if field is not None:
            raise Unreadable("times are of no field")
        return function, None
    if not isinstance(function, str) or function not in (*FUNCTIONS, DEVIATION):
        raise Unreadable("unknown aggregate function")
    if function == "COUNT":
        return function, None
    if field != current_type().amount:
        raise Unreadable("aggregate field is not a measure")
    return function, current_type().amount


def _operator(members: dict[str, Value]) -> str:
    name = read_text(members.get("limitOperatorType"), "operator")
    symbol = OPERATORS.get(name, name)
    if symbol not in OPERATORS.values():
        raise Unreadable("unknown operator")
    return symbol


def _limit(value: Value | None) -> int | Parameter:
    name = read_reference(value, "parameter")
    return read_decimal(value, "limit") if name is None else Parameter(name)


def _window(members: dict[str, Value]) -> int:
    if "windowSeconds" in members:
        seconds = read_integer(members["windowSeconds"], "windowSeconds")
    else:
        seconds = 60 * read_integer(members.get("windowMinutes"), "windowMinutes")
    return read_duration(seconds, "window")


def read_duration(seconds: int, what: str) -> int:
    """A number of seconds, as a window may last, in ms, or Unreadable."""
    if not 1 <= seconds <= _WIDEST_SECONDS:
        raise Unreadable(f"{what} out of range")
    return 1000 * seconds
