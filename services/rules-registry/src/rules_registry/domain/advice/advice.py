"""All warnings of one definition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import assert_never

from rules_registry.domain.advice.filter_reach import NamesNow, ways
from rules_registry.domain.advice.kinship import kinship_warnings
from rules_registry.domain.advice.limit_reach import limit_warnings
from rules_registry.domain.advice.rule_warning import RuleWarning
from rules_registry.domain.advice.weight_reach import weight_warnings
from rules_registry.domain.history_quota import HistoryQuota
from rules_registry.domain.rule import Rule
from tripline_contracts.event_type import EventType
from tripline_contracts.rules.conditions import AllOf, AnyOf, Condition, ConditionTree, NotOf, WeightedOf
from tripline_contracts.rules.rule_definition import RuleDefinition

MUCH_OF_HISTORY = 0.5
"""A rule that alone takes more than this share of the history that the engine may hold is worth a word."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a definition is looked at beside.

    :ivar others: other living rules; those that differ in limit and window at most will do
    """

    event_type: EventType
    names: NamesNow
    others: Iterable[Rule]
    room: HistoryQuota | None = None


def advise(definition: RuleDefinition, beside: Surroundings) -> tuple[RuleWarning, ...]:
    """What is legal in the definition and likely wrong, in the order of its members."""
    return (
        *_of_conditions(definition, beside),
        *_of_history(definition, beside.room),
        *kinship_warnings(definition, beside.others),
    )


def _of_conditions(definition: RuleDefinition, beside: Surroundings) -> Iterator[RuleWarning]:
    if ways([definition.filter], beside.event_type, beside.names) == []:
        yield _excluding("filter")
        return
    several = len(definition.measured) > 1
    for path, condition in _paths(definition):
        passing = ways([definition.filter, condition.filter], beside.event_type, beside.names)
        if passing == []:
            yield _excluding(f"{path}filter")
        behind = condition.baseline
        if behind and ways([definition.filter, behind.filter], beside.event_type, beside.names) == []:
            yield _excluding(f"{path}limit.measure.filter")
        for warning in limit_warnings(
            condition, passing, beside.event_type, beside.names, may_be_empty=several
        ):
            yield replace(warning, field=f"{path}{warning.field}")
    if definition.conditions is not None:
        for path, weighted in _weightings(definition.conditions, "conditions"):
            yield from weight_warnings(weighted, path, beside.names)


def _excluding(field: str) -> RuleWarning:
    return RuleWarning(
        "filter-excludes-everything", field, "nothing passes it, with lists and parameters as they stand"
    )


def _of_history(definition: RuleDefinition, room: HistoryQuota | None) -> Iterator[RuleWarning]:
    if room is None:
        return
    share = room.held_by([definition]) / room.most
    if share > MUCH_OF_HISTORY:
        yield RuleWarning(
            "takes-much-history",
            "precision" if definition.bucket_seconds else "windowSeconds",
            f"alone it keeps {share:.0%} of the history that the engine may hold; buckets keep less",
        )


def _paths(definition: RuleDefinition) -> Iterator[tuple[str, Condition]]:
    """Each condition with the path before its members."""
    if definition.conditions is None:
        yield "", definition.measured[0]
    else:
        yield from _leaves(definition.conditions, "conditions")


def _leaves(tree: ConditionTree, path: str) -> Iterator[tuple[str, Condition]]:
    if isinstance(tree, Condition):
        yield f"{path}.", tree
    for inner_path, inner in _inner(tree, path):
        yield from _leaves(inner, inner_path)


def _weightings(tree: ConditionTree, path: str) -> Iterator[tuple[str, WeightedOf]]:
    if isinstance(tree, WeightedOf):
        yield path, tree
    for inner_path, inner in _inner(tree, path):
        yield from _weightings(inner, inner_path)


def _inner(tree: ConditionTree, path: str) -> Iterator[tuple[str, ConditionTree]]:
    """What a tree is made of, each with its path."""
    match tree:
        case Condition():
            return
        case NotOf(operand):
            yield f"{path}.not", operand
        case AllOf(operands) | AnyOf(operands):
            word = "all" if isinstance(tree, AllOf) else "any"
            yield from ((f"{path}.{word}[{i}]", operand) for i, operand in enumerate(operands))
        case WeightedOf(weighed):
            yield from ((f"{path}.weighted[{i}].of", inner.of) for i, inner in enumerate(weighed))
        case other:
            assert_never(other)
