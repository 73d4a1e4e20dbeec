"""One transaction under one version: scan everything, say what is in the window (semantics 3)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from operator import itemgetter

from tests.oracle.aggregates import aggregate, different, holds
from tests.oracle.definitions import DISTINCT, Definition
from tests.oracle.filters import passes
from tests.oracle.transactions import Transaction


@dataclass(frozen=True, slots=True)
class Finding:
    """What is in one window: the exact value in millionths, and what it is made of.

    `contributors` with equal times are in order of acceptance.
    """

    group: dict[str, str]
    value: Fraction
    holds: bool
    contributors: list[Transaction]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A finding, and how its transaction stands to those of its group accepted before."""

    finding: Finding
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
) -> Evaluation:
    """Judge the last of `accepted`, which passes, over all of them; in the window from `counted_from` on."""
    event = accepted[-1]
    visible = members(definition, accepted, floor)
    start = event.event_time - definition.window
    window = [
        other
        for place, other in visible
        if start <= other.event_time <= event.event_time and place >= counted_from
    ]
    newest = max(other.event_time for _, other in visible)
    return Evaluation(
        measure(definition, group, window),
        newest,
        late=newest > event.event_time,
        equal_times=any(other.event_time == event.event_time for _, other in visible[:-1]),
    )


def members(
    definition: Definition, accepted: list[Transaction], floor: int | None
) -> list[tuple[int, Transaction]]:
    """All of the last one's group that are visible and pass, with their places in the order of acceptance."""
    # One comparison instead of a loop over the fields: the scan is the same, only quicker.
    pick = itemgetter(*definition.grouping) if definition.grouping else _one_group
    wanted = pick(accepted[-1].keys)
    condition = definition.condition
    return [
        (place, other)
        for place, other in enumerate(accepted)
        if pick(other.keys) == wanted
        and (floor is None or other.event_time >= floor)
        and (condition is None or passes(condition, other))
    ]


def measure(definition: Definition, group: dict[str, str], window: list[Transaction]) -> Finding:
    """The value of a window that is not empty, against the limit."""
    contributors = window
    if definition.function == DISTINCT:
        # Null is no value, and of nothing there are 0 values, which is a number like any other.
        contributors = [other for other in window if _counted(definition, other) is not None]
        value = different([_counted(definition, other) for other in contributors])
    else:
        value = aggregate(definition.function, [other.amount for other in window])
    return Finding(group, value, holds(value, definition.operator, definition.limit), contributors)


def _counted(definition: Definition, transaction: Transaction) -> str | None:
    """The text of what is counted; amounts are plain decimals there, so equal ones are equal texts."""
    assert definition.field is not None
    return transaction.keys[definition.field]


def _one_group(keys: dict[str, str | None]) -> int:
    return 0
