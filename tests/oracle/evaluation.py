"""One transaction under one version: scan everything, say what is in the window (semantics 3 and 6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from operator import itemgetter

from tests.oracle.aggregates import aggregate, different, holds
from tests.oracle.conditions import DISTINCT, Condition, settled
from tests.oracle.definitions import Definition
from tests.oracle.filters import passes
from tests.oracle.transactions import Transaction


@dataclass(frozen=True, slots=True)
class Finding:
    """What is in one window: the exact value in millionths, and what it is made of.

    `value` is None for a function that has none of nothing, `limit` for a parameter that has no value; such a
    condition does not hold, whatever the operator. `contributors` with equal times are in order of
    acceptance.
    """

    condition: Condition
    group: dict[str, str]
    end: int
    value: Fraction | None
    limit: int | None
    holds: bool
    contributors: list[Transaction]


@dataclass(frozen=True, slots=True)
class Findings:
    """Whether the rule holds for one of its groups, and why: by condition, in the order of the tree."""

    group: dict[str, str]
    holds: bool
    of: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What was found, and how the transaction stands to those of the rule's group accepted before."""

    findings: Findings
    newest_event_time: int
    late: bool
    equal_times: bool


def group_of(definition: Definition, transaction: Transaction) -> dict[str, str] | None:
    """The transaction's group under a definition; None if one of its values is null."""
    return _group(definition.grouping, transaction)


def triggers(definition: Definition, transaction: Transaction) -> bool:
    """Whether the rule is evaluated for the transaction, if that has a group: some condition has to count it."""
    return passes(definition.only, transaction) and any(
        passes(condition.only, transaction) for condition in definition.conditions
    )


def evaluate(
    definition: Definition,
    group: dict[str, str],
    accepted: list[Transaction],
    floor: int | None,
    counted_from: int,
) -> Evaluation:
    """Judge the last of `accepted`, which triggers, over all of them; in the window from `counted_from` on."""
    event = accepted[-1]
    visible = members(definition, accepted, floor)
    newest = max(other.event_time for _, other in visible)
    if definition.chained:
        found = tuple(
            measure(condition, event, _window(definition, condition, accepted, floor))
            for condition in definition.conditions
        )
    else:
        (condition,) = definition.conditions
        start = event.event_time - condition.window
        window = [
            other
            for place, other in visible
            if start <= other.event_time <= event.event_time and place >= counted_from
        ]
        found = (measure(condition, event, window),)
    return Evaluation(
        together(definition, group, found),
        newest,
        late=newest > event.event_time,
        equal_times=any(other.event_time == event.event_time for _, other in visible[:-1]),
    )


def members(
    definition: Definition, accepted: list[Transaction], floor: int | None
) -> list[tuple[int, Transaction]]:
    """All of the last one's group that are visible and trigger, with their places in the order of acceptance."""
    pick = _picker(definition.grouping)
    wanted = pick(accepted[-1].keys)
    # Most rules ask nothing, and the scan is what takes the time.
    asks = definition.only is not None or all(part.only is not None for part in definition.conditions)
    return [
        (place, other)
        for place, other in enumerate(accepted)
        if pick(other.keys) == wanted
        and (floor is None or other.event_time >= floor)
        and (not asks or triggers(definition, other))
    ]


def measure(condition: Condition, event: Transaction, window: list[Transaction]) -> Finding:
    """The value of a window that ends with `event`, against the limit; it may be empty."""
    contributors = window
    value: Fraction | None
    if condition.function == DISTINCT:
        # Null is no value, and of nothing there are 0 values, which is a number like any other.
        contributors = [other for other in window if _counted(condition, other) is not None]
        value = different([_counted(condition, other) for other in contributors])
    elif not window and condition.function not in ("COUNT", "SUM"):
        value = None
    else:
        value = aggregate(condition.function, [other.amount for other in window])
    # The value at the event's own acceptance, whenever it is judged.
    limit = event.names.number(condition.limit)
    held = value is not None and limit is not None and holds(value, condition.operator, limit)
    group = _group(condition.grouping, event)
    assert group is not None
    return Finding(condition, group, event.event_time, value, limit, held, contributors)


def together(definition: Definition, group: dict[str, str], found: tuple[Finding, ...]) -> Findings:
    """What the conditions, in the order of the tree, make of the rule."""
    return Findings(group, settled(definition.tree, iter([finding.holds for finding in found])), found)


def _window(
    definition: Definition, condition: Condition, accepted: list[Transaction], floor: int | None
) -> list[Transaction]:
    """What passes, of the group that the condition makes: other fields of the rule's may be null there."""
    end = accepted[-1].event_time
    start = end - condition.window if floor is None else max(floor, end - condition.window)
    pick = _picker(condition.grouping)
    wanted = pick(accepted[-1].keys)
    return [
        other
        for other in accepted
        if start <= other.event_time <= end
        and pick(other.keys) == wanted
        and passes(definition.only, other)
        and passes(condition.only, other)
    ]


def _group(grouping: tuple[str, ...], transaction: Transaction) -> dict[str, str] | None:
    group: dict[str, str] = {}
    for name in grouping:
        value = transaction.keys[name]
        if value is None:
            return None
        group[name] = value
    return group


def _picker(grouping: tuple[str, ...]) -> Callable[[dict[str, str | None]], object]:
    """The values of a group at once: the scan is the same as with a loop over the fields, only quicker."""
    return itemgetter(*grouping) if grouping else _one_group


def _counted(condition: Condition, transaction: Transaction) -> str | None:
    """The text of what is counted; amounts are plain decimals there, so equal ones are equal texts."""
    assert condition.field is not None
    return transaction.keys[condition.field]


def _one_group(keys: dict[str, str | None]) -> int:
    return 0
