"""What a change of a list or of a parameter makes happen, and which of them a definition names, and where."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import assert_never

from rules_registry.domain.commands import ChangeNamed
from rules_registry.domain.deciding import require_expected
from rules_registry.domain.events import ListChanged, NamedChanged, ParameterChanged
from rules_registry.domain.named import Named
from tripline_contracts.filters import (
    All,
    Any_,
    Comparison,
    Filter,
    ListMembership,
    Membership,
    Not,
    ParameterComparison,
)
from tripline_contracts.names import Kind, Parameter
from tripline_contracts.rule_definition import RuleDefinition


@dataclass(frozen=True, slots=True)
class Reference:
    """A name in a definition; `field` is its place, like `filter.all[1].in`."""

    kind: Kind
    name: str
    field: str


def decide_named(current: Named | None, command: ChangeNamed) -> NamedChanged | None:
    """The event that brings the value in force (`current` is `None`: there is no such name yet); `None` where it is in
    force already. Raises `StaleVersion`; what does not exist has version 0.
    """
    version = 0 if current is None else current.version
    require_expected(version, command.expected)
    if current is not None and current.value == command.value:
        return None
    if isinstance(command.value, Decimal):
        return ParameterChanged(command.name, version + 1, command.value)
    return ListChanged(command.name, version + 1, command.value)


def references(definition: RuleDefinition) -> tuple[Reference, ...]:
    """Every list and parameter that the definition names, place by place."""
    found = [] if definition.filter is None else list(_in_filter(definition.filter, "filter"))
    if isinstance(definition.limit, Parameter):
        found.append(Reference("parameter", definition.limit.name, "limit"))
    return tuple(found)


def _in_filter(part: Filter, path: str) -> Iterator[Reference]:
    match part:
        case All(operands):
            yield from _in_operands(operands, f"{path}.all")
        case Any_(operands):
            yield from _in_operands(operands, f"{path}.any")
        case Not(operand):
            yield from _in_filter(operand, f"{path}.not")
        case ListMembership(_, name):
            yield Reference("list", name, f"{path}.in")
        case ParameterComparison(_, _, name):
            yield Reference("parameter", name, f"{path}.value")
        case Comparison() | Membership():
            pass
        case never:
            assert_never(never)


def _in_operands(operands: tuple[Filter, ...], path: str) -> Iterator[Reference]:
    for i, operand in enumerate(operands):
        yield from _in_filter(operand, f"{path}[{i}]")
