"""Reading the `conditions` of a chained rule, and noting what is wrong with them.

    {"all": [c, …]}   {"any": [c, …]}   {"not": c}
    {"weighted": [{"weight": "30", "of": c}, …], "atLeast": "60"}
    {"groupingKeyNames": …, "aggregatorFunctionType": …, …, "windowSeconds": …}

The members of a condition are those of a rule, in all their spellings, an optional `filter`, and what it takes of its
window. Its limit may be relative: {"measure": {…}, "times": "3", "plus": "0"}, with
`plusDeviations` where the measure is an AVG.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeGuard

from tripline_contracts import spelling
from tripline_contracts.errors import InvalidConstant, InvalidNamedValue, Problem
from tripline_contracts.event_type import EventType
from tripline_contracts.filters import filter_parser, filter_size, named_values
from tripline_contracts.filters.named_values import Parameter
from tripline_contracts.rules import grouping_keys
from tripline_contracts.rules.conditions import (
    AllOf,
    AnyOf,
    Condition,
    ConditionTree,
    NotOf,
    Number,
    Weighed,
    WeightedOf,
    leaves,
    measures,
)
from tripline_contracts.rules.definition_members import BASELINE_MEMBERS, CONDITION_MEMBERS
from tripline_contracts.rules.measure_parser import MeasureReading
from tripline_contracts.rules.relative_limits import Baseline, RelativeLimit

MAX_CONDITIONS: Final = 16
MAX_DEPTH: Final = 6
"""Of `all`, `any`, `not`, `weighted` and the condition inside them."""
_LIMIT_MEMBERS: Final = ("measure", "times", "plus", "plusDeviations")

_LIMIT_NAMES: Final = {name.casefold(): name for name in _LIMIT_MEMBERS}
_WORDS: Final = ("all", "any", "not", "weighted")
_SHAPES: Final = "all, any, not, weighted, or a condition's members"


def read(data: object, event_type: EventType) -> tuple[ConditionTree | None, list[Problem]]:
    """The tree that the JSON means, or None and what is wrong with it.

    The problems' fields are paths such as `conditions.all[1].limit`. Work and depth are bounded whatever the JSON.
    """
    reading = _Reading(event_type)
    try:
        tree = reading.read(data, "conditions", 1)
    except _TooMuch as bound:
        return None, [*reading.problems, Problem("conditions", str(bound))]
    if tree is None or reading.problems:
        return None, reading.problems
    problems = _groupings_apart(tree) or _steps_apart(tree)
    return (None if problems else tree), problems


def too_much_filtered(filter_beside: filter_parser.Filter | None, tree: ConditionTree) -> list[Problem]:
    """The bounds of one filter hold for all filters of a rule together: it has to fit in a Kafka record."""
    filters = [filter_ for filter_ in (filter_beside, *(one.filter for one in measures(tree))) if filter_]
    comparisons = sum(map(filter_size.comparisons, filters))
    constants = sum(map(filter_size.constants, filters))
    bounds = {
        "comparisons": (comparisons, filter_parser.MAX_COMPARISONS),
        "constants": (constants, filter_parser.MAX_CONSTANTS),
    }
    return [
        Problem("conditions", f"more than {limit} {what} in the filters of one rule")
        for what, (number, limit) in bounds.items()
        if number > limit
    ]


class _TooMuch(Exception):
    """A bound on all conditions is passed."""


class _Reading:
    """One tree being read: the problems so far, and how many conditions there were."""

    def __init__(self, event_type: EventType) -> None:
        self.problems: list[Problem] = []
        self._event_type = event_type
        self._conditions = 0

    def read(self, data: object, path: str, depth: int) -> ConditionTree | None:
        """The tree at that path; None if there is a problem in it."""
        if not isinstance(data, Mapping) or not data:
            self._count()  # so that a long list of nonsense ends as well
            self._refuse(path, f"expected an object with {_SHAPES}; not {_shown(data)}")
            return None
        words = [key.casefold() for key in data if isinstance(key, str) and key.casefold() in _WORDS]
        if not words:
            self._count()
            return self._condition(data, path)
        if len(data) > 1 and words != ["weighted"]:
            self._count()
            self._refuse(path, f"expected one of {_SHAPES}; not {words[0]} beside something else")
            return None
        if depth == MAX_DEPTH:
            self._count()
            self._refuse(path, f"nested more than {MAX_DEPTH} deep")
            return None
        if words == ["weighted"]:
            return self._weighted(data, path, depth + 1)
        return self._chained(words[0], next(iter(data.values())), f"{path}.{words[0]}", depth + 1)

    def _chained(self, word: str, data: object, path: str, depth: int) -> ConditionTree | None:
        if word == "not":
            operand = self.read(data, path, depth)
            return None if operand is None else NotOf(operand)
        if not self._is_list(data, path, "conditions"):
            return None
        read = [self.read(item, f"{path}[{i}]", depth) for i, item in enumerate(data)]
        operands = tuple(operand for operand in read if operand is not None)
        if len(operands) < len(read):
            return None
        return AllOf(operands) if word == "all" else AnyOf(operands)

    def _is_list(self, data: object, path: str, what: str) -> TypeGuard[Sequence[object]]:
        if isinstance(data, (list, tuple)) and 1 <= len(data) <= MAX_CONDITIONS:
            return True
        self._count()
        self._refuse(path, f"expected a list of 1 to {MAX_CONDITIONS} {what}")
        return False

    def _weighted(self, data: Mapping[str, object], path: str, depth: int) -> ConditionTree | None:
        members = self._members(data, ("weighted", "atLeast"), path)
        if members is None:
            return None
        weighted, at_least = members
        least = self._number(at_least, f"{path}.atLeast")
        path = f"{path}.weighted"
        if not self._is_list(weighted, path, "conditions with their weights"):
            return None
        read = [self._weighed(item, f"{path}[{i}]", depth) for i, item in enumerate(weighted)]
        operands = tuple(operand for operand in read if operand is not None)
        return None if least is None or len(operands) < len(read) else WeightedOf(operands, least)

    def _weighed(self, data: object, path: str, depth: int) -> Weighed | None:
        members = self._members(data, ("weight", "of"), path)
        if members is None:
            return None
        weight, of = members
        number, tree = self._number(weight, f"{path}.weight"), self.read(of, f"{path}.of", depth)
        return None if number is None or tree is None else Weighed(number, tree)

    def _members(self, data: object, names: tuple[str, str], path: str) -> tuple[object, object] | None:
        """The values of just these two members, in any case."""
        spelled = {key.casefold(): value for key, value in data.items()} if isinstance(data, Mapping) else {}
        if isinstance(data, Mapping) and len(spelled) == len(data) == 2:
            first, second = (name.casefold() for name in names)
            if first in spelled and second in spelled:
                return spelled[first], spelled[second]
        self._count()
        self._refuse(path, f"expected an object with {' and '.join(names)}, and nothing else")
        return None

    def _number(self, value: object, path: str) -> Number | None:
        try:
            if isinstance(value, Mapping):
                return Parameter(named_values.read_reference(value, "parameter"))
            return named_values.read_parameter(spelling.bare(value) if isinstance(value, str) else value)
        except InvalidConstant as error:
            self._refuse(path, str(error))
        except InvalidNamedValue as error:
            self._refuse(path, error.problems[0].message)
        return None

    def _condition(self, data: Mapping[str, object], path: str) -> Condition | None:
        relative = _relative(data)
        # what stands for a relative limit is replaced below
        members = data if relative is None else _with_number(data)
        reading = MeasureReading(members, self._event_type, CONDITION_MEMBERS)
        condition = reading.condition()
        self._refuse_what(reading, path)
        if relative is None:
            return condition
        grouping = condition.grouping_key_names if condition else ()
        limit = self._relative_limit(relative, grouping, f"{path}.limit")
        return None if condition is None or limit is None else replace(condition, limit=limit)

    def _relative_limit(
        self, data: Mapping[object, object], grouping: tuple[str, ...], path: str
    ) -> RelativeLimit | None:
        """The limit; its measure groups as the condition does unless it says otherwise."""
        self._count()
        values: dict[str, object] = {}
        for key, value in data.items():
            name = _LIMIT_NAMES.get(key.casefold()) if isinstance(key, str) else None
            if name is None or name in values:
                expected = f"expected only {', '.join(_LIMIT_MEMBERS)}, each once"
                self._refuse(path, f"{expected}; not {spelling.shown(key)}")
                return None
            values[name] = value
        baseline = self._baseline(values["measure"], grouping, f"{path}.measure")
        numbers = MeasureReading({}, self._event_type, CONDITION_MEMBERS)
        times = numbers.number("times", _or(values.get("times"), 1))
        plus = numbers.number("plus", _or(values.get("plus"), 0))
        said = values.get("plusDeviations")
        deviations = None if said is None else numbers.number("plusDeviations", said)
        self._refuse_what(numbers, path)
        if said is not None and baseline is not None and baseline.function != "AVG":
            expected = f"expected AVG as the measure beside it, not {baseline.function}"
            self._refuse(f"{path}.plusDeviations", expected)
        if baseline is None or times is None or plus is None:
            return None
        return RelativeLimit(baseline, times, plus, deviations)

    def _baseline(self, data: object, grouping: tuple[str, ...], path: str) -> Baseline | None:
        if not isinstance(data, Mapping) or not data:
            self._refuse(path, f"expected an object with {', '.join(BASELINE_MEMBERS)}; not {_shown(data)}")
            return None
        named = any(isinstance(key, str) and key.casefold() == "groupingkeynames" for key in data)
        members = data if named else {**data, "groupingKeyNames": grouping_keys.grouping_json(grouping)}
        reading = MeasureReading(members, self._event_type, BASELINE_MEMBERS)
        baseline = reading.baseline()
        self._refuse_what(reading, path)
        return baseline

    def _refuse_what(self, reading: MeasureReading, path: str) -> None:
        if reading.counts_with_reset():
            self._refuse(
                f"{path}.aggregateFieldName", "a condition can't reset on alert; expected COUNT_FLINK"
            )
        for problem in reading.problems:
            self._refuse(f"{path}.{problem.field}", problem.message)

    def _count(self) -> None:
        self._conditions += 1
        if self._conditions > MAX_CONDITIONS:
            raise _TooMuch(f"more than {MAX_CONDITIONS} conditions in one rule")

    def _refuse(self, path: str, message: str) -> None:
        self.problems.append(Problem(path, message))


def _relative(data: Mapping[str, object]) -> Mapping[object, object] | None:
    """The limit, if it is one with a measure."""
    limit = next((value for key, value in data.items() if _is_limit(key)), None)
    if not isinstance(limit, Mapping):
        return None
    return limit if any(isinstance(key, str) and key.casefold() == "measure" for key in limit) else None


def _with_number(data: Mapping[str, object]) -> dict[str, object]:
    """All members, a number in place of the first limit: one that is said again is refused as it always is."""
    first = next(key for key in data if _is_limit(key))
    return {key: 0 if key == first else value for key, value in data.items()}


def _is_limit(key: object) -> bool:
    return isinstance(key, str) and key.casefold() == "limit"


def _or(value: object, otherwise: int) -> object:
    return otherwise if value is None else value


def _groupings_apart(tree: ConditionTree) -> list[Problem]:
    """A rule runs on the anchor of the fields that all its measures group by; without any it runs nowhere, unless it
    is one condition over the one global group."""
    groupings = sorted({measure.grouping_key_names for measure in measures(tree)})
    alone = len(leaves(tree)) == len(groupings) == 1
    if alone or frozenset(groupings[0]).intersection(*groupings):
        return []
    listed = ", ".join(f"[{', '.join(map(grouping_keys.words, grouping))}]" for grouping in groupings)
    return [Problem("conditions", f"expected groupings that all share a field; not {listed}")]


def _steps_apart(tree: ConditionTree) -> list[Problem]:
    """A group has one value of a field, so all that is measured looks at it alike."""
    by_field: dict[str, set[str]] = {}
    for key in {key for measure in measures(tree) for key in measure.grouping_key_names}:
        by_field.setdefault(grouping_keys.field_of(key), set()).add(key)
    return [
        Problem(
            "conditions",
            f"expected one way to group by {field}; not {', '.join(map(grouping_keys.words, sorted(keys)))}",
        )
        for field, keys in sorted(by_field.items())
        if len(keys) > 1
    ]


def _shown(data: object) -> str:
    return "an empty object" if isinstance(data, Mapping) else spelling.shown(data)
