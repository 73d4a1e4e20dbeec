"""Filters in words, as the language writes them: fields by their declared names, operators, `and`, `or`, `not`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Final

from rules_registry.domain.wording.spans import moment

_WORD: Final = re.compile(r"-?[\w.]+", re.ASCII)
_RESERVED: Final = frozenset({"and", "or", "not", "in", "list", "parameter", "field", "where"})


def filter_words(tree: object, *, inside: bool = False) -> str:
    """The filter; `inside` another one in brackets where it needs them."""
    if not isinstance(tree, Mapping):
        return as_json(tree)
    for key, word in (("all", " and "), ("any", " or ")):
        operands = tree.get(key)
        if isinstance(operands, Sequence) and operands:
            text = word.join(filter_words(operand, inside=True) for operand in operands)
            return f"({text})" if inside and len(operands) > 1 else text
    if "not" in tree:
        inner = filter_words(tree["not"])
        return f"not ({inner})"
    return _comparison(tree)


def conjuncts(tree: object) -> tuple[object, ...]:
    """What has to be true together; of no filter nothing."""
    if tree is None:
        return ()
    operands = tree.get("all") if isinstance(tree, Mapping) else None
    return tuple(operands) if isinstance(operands, Sequence) else (tree,)


def constant(value: object) -> str:
    """A constant or a limit: numbers and plain words as they are, other texts in quotes, times in ISO 8601."""
    if isinstance(value, Mapping) and set(value) == {"parameter"}:
        return f"parameter {value['parameter']}"
    if isinstance(value, int) and not isinstance(value, bool):
        return moment(value)
    if isinstance(value, str) and _WORD.fullmatch(value) and value.casefold() not in _RESERVED:
        return value
    return as_json(value)


def as_json(value: object) -> str:
    """What has no words of its own."""
    return json.dumps(value, ensure_ascii=False, default=str)


_TESTS: Final = {
    "startsWith": "starts with",
    "endsWith": "ends with",
    "contains": "contains",
    "multipleOf": "is a multiple of",
}


def _comparison(tree: Mapping[str, object]) -> str:
    field, among = tree.get("field"), tree.get("in")
    if isinstance(tree.get("side"), str):
        return f"side is {constant(tree['side'])}"
    if not isinstance(field, str):
        return _local_time(tree["localTime"]) if "localTime" in tree else as_json(tree)
    if "operator" in tree and "value" in tree:
        return f"{field} {tree['operator']} {constant(tree['value'])}"
    if "operator" in tree and "otherField" in tree:
        return f"{field} {tree['operator']} field {tree['otherField']}"
    if isinstance(among, Mapping) and "list" in among:
        return f"{field} in list {among['list']}"
    if isinstance(among, Sequence) and not isinstance(among, str):
        return f"{field} in ({', '.join(constant(value) for value in among)})"
    return _test(field, tree)


def _test(field: str, tree: Mapping[str, object]) -> str:
    if tree.get("isNull") is True:
        return f"{field} is null"
    networks = tree.get("inNetwork")
    if isinstance(networks, Sequence) and not isinstance(networks, str):
        return f"{field} in network {', '.join(map(str, networks))}"
    for member, words in _TESTS.items():
        if member in tree:
            return f"{field} {words} {constant(tree[member])}"
    return as_json(tree)


def _local_time(said: object) -> str:
    if not isinstance(said, Mapping):
        return as_json(said)
    days = said.get("days")
    on = f" on {', '.join(map(str, days))}" if isinstance(days, Sequence) and days else ""
    return f"local time in {said.get('zone')} from {said.get('from')} to {said.get('to')}{on}"
