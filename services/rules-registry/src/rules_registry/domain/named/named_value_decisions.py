"""Decisions on changes of lists and parameters, and the references to them in a definition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import get_args

from rules_registry.domain.commands import ChangeNamed
from rules_registry.domain.decisions import require_expected
from rules_registry.domain.events import ListChanged, NamedChanged, ParameterChanged
from rules_registry.domain.named_value import NamedEntry
from tripline_contracts.filters.named_values import Kind
from tripline_contracts.rules.rule_definition import RuleDefinition


@dataclass(frozen=True, slots=True)
class Reference:
    """A name in a definition; `field` is its place, like `filter.all[1].in`."""

    kind: Kind
    name: str
    field: str


def decide_named(current: NamedEntry | None, command: ChangeNamed) -> NamedChanged | None:
    """The event that brings the value in force (`current` is `None`: there is no such name yet); `None` where it is in
    force already. Raises `StaleVersion`; what does not exist has version 0.
    """
    version = 0 if current is None else current.version
    require_expected(version, command.expected)
    if current is not None and current.value == command.value and not current.has_ends:
        return None
    if isinstance(command.value, Decimal):
        return ParameterChanged(command.name, version + 1, command.value)
    return ListChanged(command.name, version + 1, command.value)


def references(definition: RuleDefinition) -> tuple[Reference, ...]:
    """Every list and parameter that the definition names, place by place."""
    return tuple(_named_in(definition.to_json(), ""))


def _named_in(value: object, path: str) -> Iterator[Reference]:
    """Walks the JSON and not the classes: the grammar is closed, nothing else in it is an object of one such member."""
    if isinstance(value, list):
        for i, inner in enumerate(value):
            yield from _named_in(inner, f"{path}[{i}]")
    elif isinstance(value, dict):
        for word, inner in value.items():
            if word in get_args(Kind) and isinstance(inner, str):
                yield Reference(word, inner, path)
            else:
                yield from _named_in(inner, f"{path}.{word}" if path else word)
