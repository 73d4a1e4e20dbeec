"""The filter of a rule: all, any, not, over comparisons of an event's fields with constants and with named values.

    {"all": [f, …]}   {"any": [f, …]}   {"not": f}
    {"field": "amount", "operator": ">=", "value": "100"}
    {"field": "key", "in": ["25", "26"]}
    {"field": "amount", "operator": ">=", "value": {"parameter": "high-amount"}}
    {"field": "key", "in": {"list": "watched"}}
    {"field": "key", "operator": "=", "otherField": "otherKey"}
    {"field": "key", "startsWith": "25"}   endsWith, contains
    {"field": "key", "isNull": true}
    {"field": "amount", "multipleOf": "100"}
    {"localTime": {"zone": "Europe/Berlin", "from": "22:00", "to": "06:00", "days": ["SAT", "SUN"]}}
    {"side": "from"}   where the rule groups by a party

The grammar is closed: what is not in it is refused by name. Numbers and times take all six operators, texts and
enums `=` and `!=`, all of them `in`. Every field may be compared but the id. Named lists hold texts, so texts and enums
can be in them; parameters are decimals.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tripline_contracts import spelling
from tripline_contracts.errors import InvalidDefinition, Problem
from tripline_contracts.event_type import EventType
from tripline_contracts.filters.filter_constants import Constant
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
from tripline_contracts.filters.leaf_reader import (
    MAX_COMPARISONS,
    MAX_CONSTANTS,
    MAX_LIST,
    MOST_PROBLEMS,
    SHAPES,
    WORDS,
    LeafReader,
    TooMuch,
    shown,
)

__all__ = [
    "MAX_COMPARISONS",
    "MAX_CONSTANTS",
    "MAX_LIST",
    "MOST_PROBLEMS",
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

_WORDS: Final = ("all", "any", "not", *WORDS)
_BY_FOLDED: Final = {word.casefold(): word for word in _WORDS}


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
    except TooMuch as bound:
        return None, [*reading.problems, Problem("filter", str(bound))]


class _Reading(LeafReader):
    """One filter being read: the tree, down to its tests."""

    def read(self, data: object, path: str, depth: int) -> Filter | None:
        """The filter at that path; None if there is a problem in it."""
        members = self._members(data, path)
        word = next(iter(members)) if len(members) == 1 else ""
        if word not in ("all", "any", "not"):
            self.count_comparison()
            return self.leaf(members, path) if members else None
        if depth == MAX_DEPTH:
            self.count_comparison()
            self.refuse(path, f"nested more than {MAX_DEPTH} deep")
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
            self.refuse(path, f"expected an object with {SHAPES}; not {shown(data)}")
            return {}
        members: dict[str, object] = {}
        for key, value in list(data.items())[: len(_WORDS) + 1]:
            word = _BY_FOLDED.get(key.casefold(), "") if isinstance(key, str) else ""
            if not word:
                self.refuse(path, f"unknown {spelling.shown(key)}; expected {SHAPES}")
                return {}
            if word in members:
                self.refuse(path, f"{word} is given twice, in different cases; expected once")
                return {}
            members[word] = value
        return members

    def _operands(self, data: object, path: str, depth: int) -> tuple[Filter, ...] | None:
        if not isinstance(data, (list, tuple)) or not 1 <= len(data) <= MAX_COMPARISONS:
            self.count_comparison()
            self.refuse(path, f"expected a list of 1 to {MAX_COMPARISONS} filters")
            return None
        read = [self.read(item, f"{path}[{i}]", depth) for i, item in enumerate(data)]
        operands = tuple(operand for operand in read if operand is not None)
        return operands if len(operands) == len(read) else None
