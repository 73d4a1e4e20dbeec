"""Reading the `conditions` of a chained rule, and noting what is wrong with them.

    {"all": [c, …]}   {"any": [c, …]}   {"not": c}
    {"weighted": [{"weight": "30", "of": c}, …], "atLeast": "60"}
    {"groupingKeyNames": …, "aggregatorFunctionType": …, …, "windowSeconds": …}

The members of a condition are those of a rule, in all their spellings, and an optional `filter`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeGuard

from tripline_contracts import spelling
from tripline_contracts.errors import InvalidConstant, InvalidNamedValue, Problem
from tripline_contracts.event_type import EventType
from tripline_contracts.filters import filter_parser, filter_size, named_values
from tripline_contracts.filters.named_values import Parameter
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
)
from tripline_contracts.rules.definition_members import CONDITION_MEMBERS
from tripline_contracts.rules.definition_parser import DefinitionReading

MAX_CONDITIONS: Final = 16
MAX_DEPTH: Final = 6
"""Of `all`, `any`, `not`, `weighted` and the condition inside them."""

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
    problems = _groupings_apart(leaves(tree))
    return (None if problems else tree), problems


def too_much_filtered(filter_beside: filter_parser.Filter | None, tree: ConditionTree) -> list[Problem]:
    """The bounds of one filter hold for all filters of a rule together: it has to fit in a Kafka record."""
    filters = [filter_ for filter_ in (filter_beside, *(leaf.filter for leaf in leaves(tree))) if filter_]
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
        reading = DefinitionReading(data, self._event_type, CONDITION_MEMBERS)
        condition = reading.condition()
        if reading.counts_with_reset():
            self._refuse(
                f"{path}.aggregateFieldName", "a condition can't reset on alert; expected COUNT_FLINK"
            )
        for problem in reading.problems:
            self._refuse(f"{path}.{problem.field}", problem.message)
        return condition

    def _count(self) -> None:
        self._conditions += 1
        if self._conditions > MAX_CONDITIONS:
            raise _TooMuch(f"more than {MAX_CONDITIONS} conditions in one rule")

    def _refuse(self, path: str, message: str) -> None:
        self.problems.append(Problem(path, message))


def _groupings_apart(conditions: tuple[Condition, ...]) -> list[Problem]:
    """A rule runs on the anchor of the fields that all its conditions group by; without any it runs nowhere."""
    groupings = sorted({condition.grouping_key_names for condition in conditions})
    if len(conditions) == 1 or frozenset(groupings[0]).intersection(*groupings):
        return []
    listed = ", ".join(f"[{', '.join(grouping)}]" for grouping in groupings)
    return [Problem("conditions", f"expected groupings that all share a field; not {listed}")]


def _shown(data: object) -> str:
    return "an empty object" if isinstance(data, Mapping) else spelling.shown(data)
