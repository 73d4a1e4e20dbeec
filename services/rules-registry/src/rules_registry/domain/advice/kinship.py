"""Rules that say the same as another one, or fire only where another one fires too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from decimal import Decimal

from rules_registry.domain.advice.rule_warning import RuleWarning
from rules_registry.domain.rule import Rule
from tripline_contracts import decimals
from tripline_contracts.rules.rule_definition import RuleDefinition

_GROWING = frozenset({"COUNT", "COUNT_DISTINCT", "MAX", "SECONDS_SINCE_FIRST"})
"""Functions that a longer window can only raise; a sum may fall by a negative amount."""
_SAME = frozenset({"SECONDS_SINCE_PREVIOUS", "CHANGED", "SPEED_KMH"})
"""Functions that are the same in any window where they have a value; a longer one has the one before more often."""


def kinship_warnings(definition: RuleDefinition, others: Iterable[Rule]) -> Iterator[RuleWarning]:
    """Warnings of a definition beside the other living rules, one for each that it says the same as, or that always
    fires where it does; of paused ones none, for they fire nowhere."""
    for rule in others:
        if rule.state != "ACTIVE":
            continue
        name = f"rule {rule.rule_id} ({rule.name})"
        if rule.definition == definition:
            yield RuleWarning("same-as-another", "", f"{name} says the same", rule.rule_id)
        elif (why := _wider(rule.definition, definition)) is not None:
            message = f"{name} fires wherever this one does: {why}"
            yield RuleWarning("shadowed-by-another", "limit", message, rule.rule_id)


def _wider(other: RuleDefinition, definition: RuleDefinition) -> str | None:
    """Why the other one fires wherever this one does; None where that is not known.

    Both have to be alike but for limit and window, exact, and fire each time: what was silent or reset may tell them
    apart.
    """
    if not _is_plain(definition) or not _is_plain(other):
        return None
    limits = definition.limit, other.limit
    if not isinstance(limits[0], Decimal) or not isinstance(limits[1], Decimal):
        return None
    alike = replace(other, limit=limits[0], window_seconds=definition.window_seconds)
    if alike != definition or definition.operator in ("=", "!="):
        return None
    rises = definition.operator in (">", ">=")
    looser = limits[1] <= limits[0] if rises else limits[1] >= limits[0]
    longer = other.window_seconds - definition.window_seconds
    if not looser or (longer and not _stretches(definition, rises=rises, longer=longer)):
        return None
    window = f", and its window is {'longer' if longer > 0 else 'shorter'}" if longer else ""
    return f"its limit is {definition.operator} {decimals.plain(limits[1])}{window}"


def _stretches(definition: RuleDefinition, *, rises: bool, longer: int) -> bool:
    """Whether the other window can only help: a longer one where the value has to rise, a shorter one where it has to
    fall; of a minimum the other way round."""
    if definition.function in _SAME:
        return longer > 0
    if definition.function in _GROWING:
        return (longer > 0) == rises
    return definition.function == "MIN" and (longer > 0) != rises


def _is_plain(definition: RuleDefinition) -> bool:
    return (
        definition.conditions is None
        and definition.firing == "every"
        and definition.bucket_seconds is None
        and not definition.reset_on_alert
        and definition.cooldown_seconds is None
    )
