"""One transaction under one version: scan everything, say what is in the window (semantics 3)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from operator import itemgetter

from tests.oracle.aggregates import aggregate, holds
from tests.oracle.definitions import Definition
from tests.oracle.filters import passes
from tests.oracle.transactions import Transaction


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule finds: the exact value in millionths, the window in order of acceptance, the newest."""

    group: dict[str, str]
    value: Fraction
    holds: bool
    window: list[Transaction]
    newest_event_time: int
    late: bool
    equal_times: bool


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
    definition: Definition,
    group: dict[str, str],
    accepted: list[Transaction],
    floor: int | None,
    counted_from: int,
) -> Finding:
    """Judge the last of `accepted`, which passes, over all of them; in the window from `counted_from` on."""
    event = accepted[-1]
    # One comparison instead of a loop over the fields: the scan is the same, only quicker.
    pick = itemgetter(*definition.grouping) if definition.grouping else _one_group
    wanted = pick(event.keys)
    visible = [
        (place, other)
        for place, other in enumerate(accepted)
        if pick(other.keys) == wanted
        and (floor is None or other.event_time >= floor)
        and passes(definition.condition, other)
    ]
    start = event.event_time - definition.window
    window = [
        other
        for place, other in visible
        if start <= other.event_time <= event.event_time and place >= counted_from
    ]
    value = aggregate(definition.function, [other.amount for other in window])
    newest = max(other.event_time for _, other in visible)
    held = holds(value, definition.operator, definition.limit)
    return Finding(
        group,
        value,
        held,
        window,
        newest,
        late=newest > event.event_time,
        equal_times=any(other.event_time == event.event_time for _, other in visible[:-1]),
    )


def _one_group(keys: dict[str, str | None]) -> int:
    return 0
