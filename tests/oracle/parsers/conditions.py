"""The aggregate conditions of a rule: one of a plain rule, a tree of several of a chained one (semantics 6)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from tests.oracle.parsers.grouping_keys import Key
from tests.oracle.parsers.measures import MEMBERS, Measure, read_measure
from tests.oracle.parsers.named_values import NamedValues, Parameter, read_reference
from tests.oracle.values.decimals import SCALE, read_decimal
from tests.oracle.values.errors import Unreadable
from tests.oracle.values.strict_json import Value, read_text

OPERATORS = {
    "EQUAL": "=",
    "NOT_EQUAL": "!=",
    "GREATER_EQUAL": ">=",
    "LESS_EQUAL": "<=",
    "GREATER": ">",
    "LESS": "<",
}
_MOST_CONDITIONS = 16
_MOST_LEVELS = 6


@dataclass(frozen=True, slots=True)
class Relative:
    """A limit: so many times a measure, a number more, and perhaps so many deviations more; all in millionths."""

    measure: Measure
    times: int | Parameter
    plus: int | Parameter
    deviations: int | Parameter | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition(Measure):
    """A measure held against a limit in millionths, or a relative one."""

    operator: str
    limit: int | Parameter | Relative

    @property
    def measures(self) -> tuple[Measure, ...]:
        """It, and what its limit is made of."""
        return (self, self.limit.measure) if isinstance(self.limit, Relative) else (self,)


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
    conditions, measures = conditions_of(tree), measures_of(tree)
    if len(measures) > _MOST_CONDITIONS:
        raise Unreadable("too many conditions")
    everywhere = len(conditions) == 1 and all(not measure.grouping for measure in measures)
    if not everywhere and not shared_grouping(measures):
        raise Unreadable("the groupings share no field")
    keys = {key for measure in measures for key in measure.grouping}
    if len(keys) > len({key.field for key in keys}):
        raise Unreadable("a field in several steps")
    return tree


def measures_of(tree: Tree) -> tuple[Measure, ...]:
    """All that is measured, in the order of the tree."""
    return tuple(measure for condition in conditions_of(tree) for measure in condition.measures)


def shared_grouping(measures: tuple[Measure, ...]) -> tuple[Key, ...]:
    """What all groupings have, in name order."""
    return tuple(sorted(set(measures[0].grouping).intersection(*(other.grouping for other in measures))))


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
    measure = read_measure(value, {"limitOperatorType", "limit"})
    limit = value.get("limit")
    if isinstance(limit, dict) and "measure" in limit:
        return _condition(measure, value, _read_relative(limit, value["groupingKeyNames"]))
    return _condition(measure, value, _limit(limit))


def _read_relative(value: dict[str, Value], grouping: Value) -> Relative:
    if value.keys() - {"measure", "times", "plus", "plusDeviations"} or not isinstance(
        value["measure"], dict
    ):
        raise Unreadable("no relative limit")
    measure = read_measure({"groupingKeyNames": grouping, **value["measure"]}, set())
    times, plus, deviations = value.get("times"), value.get("plus"), value.get("plusDeviations")
    if deviations is not None and measure.function != "AVG":
        raise Unreadable("deviations of no average")
    return Relative(
        measure,
        SCALE if times is None else _limit(times),
        0 if plus is None else _limit(plus),
        None if deviations is None else _limit(deviations),
    )


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


def _condition(measure: Measure, value: dict[str, Value], limit: int | Parameter | Relative) -> Condition:
    return Condition(
        grouping=measure.grouping,
        function=measure.function,
        field=measure.field,
        window=measure.window,
        only=measure.only,
        offset=measure.offset,
        current=measure.current,
        least=measure.least,
        operator=_operator(value),
        limit=limit,
    )


def read_condition(members: dict[str, Value]) -> Condition:
    """The condition of a plain rule, whatever else there is, or Unreadable."""
    return _condition(
        read_measure({name: members[name] for name in MEMBERS if name in members}, {*MEMBERS}),
        members,
        _limit(members.get("limit")),
    )


def _operator(members: dict[str, Value]) -> str:
    name = read_text(members.get("limitOperatorType"), "operator")
    symbol = OPERATORS.get(name, name)
    if symbol not in OPERATORS.values():
        raise Unreadable("unknown operator")
    return symbol


def _limit(value: Value | None) -> int | Parameter:
    name = read_reference(value, "parameter")
    return read_decimal(value, "limit") if name is None else Parameter(name)
