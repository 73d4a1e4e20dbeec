"""One transaction under one version: scan everything, say what is in the window (semantics 3)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from operator import itemgetter

from tests.oracle.aggregates import aggregate, holds
from tests.oracle.definitions import Definition
from tests.oracle.transactions import Transaction


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that holds: the exact value in millionths, the window in order of acceptance, the newest."""

    group: dict[str, str]
    value: Fraction
    window: list[Transaction]
    newest_event_time: int


def group_of(definition: Definition, transaction: Transaction) -> dict[str, str] | None:
    """The transaction's group under a definition; None if one of its values is null."""
    group: dict[str, str] = {}
    for name in definition.grouping:
        value = transaction.keys[name]
        if value is None:
            return None
        group[name] = value
    return group


def evaluate(
    definition: Definition, group: dict[str, str], accepted: list[Transaction], floor: int | None
) -> Finding | None:
    """Judge the last of `accepted` over all of them; None if the rule does not hold."""
    event = accepted[-1]
    # One comparison instead of a loop over the fields: the scan is the same, only quicker.
    pick = itemgetter(*definition.grouping) if definition.grouping else _one_group
    wanted = pick(event.keys)
    visible = [
        other
        for other in accepted
        if pick(other.keys) == wanted and (floor is None or other.event_time >= floor)
    ]
    start = event.event_time - definition.window
    window = [other for other in visible if start <= other.event_time <= event.event_time]
    value = aggregate(definition.function, [other.amount for other in window])
    if not holds(value, definition.operator, definition.limit):
        return None
    return Finding(group, value, window, max(other.event_time for other in visible))


def _one_group(keys: dict[str, str | None]) -> int:
    return 0
