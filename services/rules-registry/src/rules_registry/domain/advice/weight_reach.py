"""Whether the weights of conditions can add up to what they have to, and whether they can miss it."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from rules_registry.domain.advice.filter_reach import NamesNow
from rules_registry.domain.advice.rule_warning import RuleWarning
from tripline_contracts import decimals
from tripline_contracts.filters.named_values import Parameter
from tripline_contracts.rules.conditions import Number, WeightedOf


def weight_warnings(weighted: WeightedOf, path: str, names: NamesNow) -> Iterator[RuleWarning]:
    """Warnings of one weighting at that path, whatever its conditions say; none where a parameter has no value."""
    *weights, least = (_value(number, names) for number in weighted.numbers)
    known = [weight for weight in weights if weight is not None]
    if least is None or len(known) < len(weights):
        return
    # ints: sums of decimals would be rounded to the context's 28 digits
    scaled, needed = [decimals.to_scaled(weight) for weight in known], decimals.to_scaled(least)
    most = sum(weight for weight in scaled if weight > 0)
    lowest = sum(weight for weight in scaled if weight < 0)
    field, shown = f"{path}.atLeast", decimals.plain(least)
    if most < needed:
        reached = decimals.plain_scaled(most)
        yield RuleWarning(
            "limit-never-reached", field, f"never holds: the weights add up to {reached} at most, not {shown}"
        )
    elif lowest >= needed:
        reached = decimals.plain_scaled(lowest)
        yield RuleWarning(
            "limit-always-reached",
            field,
            f"always holds: the weights add up to {reached} at least, and {shown} is enough",
        )


def _value(number: Number, names: NamesNow) -> Decimal | None:
    return names.number_of(number.name) if isinstance(number, Parameter) else number
