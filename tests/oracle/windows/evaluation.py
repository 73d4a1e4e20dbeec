"""Evaluation of one transaction under one version by a scan of everything (semantics 3 and 6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from operator import itemgetter

from tests.oracle.parsers.conditions import (
    DEVIATION,
    DISTINCT,
    OF_ORDER,
    Condition,
    Weighting,
    conditions_of,
    settled,
    weight_of,
    weightings_of,
)
from tests.oracle.parsers.definitions import Definition
from tests.oracle.parsers.filters import passes
from tests.oracle.parsers.named_values import NamedValues
from tests.oracle.parsers.transactions import Transaction
from tests.oracle.windows.accepted_transaction import AcceptedTransaction
from tests.oracle.windows.aggregates import aggregate, deviates, different, holds, root, variance
from tests.oracle.windows.bucket_times import bucket_start
from tests.oracle.windows.event_order import value_of_order
from tests.oracle.windows.horizon import Horizon, Horizons, is_unmerged
from tests.oracle.windows.precision import Precision, precision_of


@dataclass(frozen=True, slots=True)
class Finding:
    """The content of one window: the exact value in millionths, and its contributors.

    `value` is None for a function that has none of nothing, `limit` for a parameter that has no value; such a
    condition does not hold, whatever the operator. `contributors` with equal times are in order of
    acceptance, and so are `named`, those of them that can be told one by one. `start` and `end` in ms.
    `precision` is None of an exact one.
    """

    condition: Condition
    group: dict[str, str]
    start: int
    end: int
    value: Fraction | None
    limit: int | None
    holds: bool
    contributors: list[Transaction]
    named: list[Transaction]
    precision: Precision | None


@dataclass(frozen=True, slots=True)
class Weighed:
    """A weighting: of each part its weight, whether it holds, and the numbers of its conditions in the tree, from 1.

    In millionths; None where a parameter has no value, and the total where any weight has none.
    """

    total: int | None
    at_least: int | None
    holds: bool
    parts: tuple[tuple[int | None, bool, tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True)
class Findings:
    """The result of a rule for one of its groups, and that of each condition in the order of the tree.

    `weighed` has what every weighting of the tree came to.
    """

    group: dict[str, str]
    holds: bool
    by_condition: tuple[Finding, ...]
    weighed: tuple[Weighed, ...] = ()


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The findings, and the transaction's order among those of the rule's group accepted before."""

    findings: Findings
    newest_event_time: int
    late: bool
    equal_times: bool


def group_of(definition: Definition, transaction: Transaction) -> dict[str, str] | None:
    """The transaction's group under a definition; None if one of its values is null."""
    return _group(definition.grouping, transaction)


def triggers(definition: Definition, transaction: Transaction) -> bool:
    """True if the transaction, where it has a group, triggers the rule: some condition has to count it."""
    return passes(definition.only, transaction) and any(
        passes(condition.only, transaction) for condition in definition.conditions
    )


def window_start(definition: Definition, window: int, end: int) -> int:
    """The start of a window of that length, which is that of a bucket if the rule has buckets; all in ms."""
    start = end - window
    return start if definition.bucket is None else bucket_start(start, definition.bucket)


def evaluate(
    definition: Definition,
    group: dict[str, str],
    history: Sequence[AcceptedTransaction],
    horizons: Horizons,
    counted_from: int,
) -> Evaluation:
    """Judge the last of `history`, which triggers; its window counts from sequence number `counted_from` on."""
    event = history[-1].transaction
    visible = members(definition, history, horizons.whole)
    newest = max(other.transaction.event_time for other in visible)
    if definition.chained:
        windows = [
            _window(definition, condition, history, horizon)
            for condition, horizon in zip(definition.conditions, horizons.by_condition, strict=True)
        ]
    else:
        start = window_start(definition, definition.window, event.event_time)
        windows = [
            [
                transaction
                for sequence, transaction, _ in visible
                if start <= transaction.event_time <= event.event_time and sequence >= counted_from
            ]
        ]
    results = tuple(
        _with_precision(definition, measure(condition, event, window), window, horizon, horizons.settled)
        for condition, window, horizon in zip(
            definition.conditions, windows, horizons.by_condition, strict=True
        )
    )
    return Evaluation(
        combined(definition, group, results, event.names),
        newest,
        late=newest > event.event_time,
        equal_times=any(other.transaction.event_time == event.event_time for other in visible[:-1]),
    )


def members(
    definition: Definition, history: Sequence[AcceptedTransaction], horizon: Horizon
) -> list[AcceptedTransaction]:
    """All of the last one's group that are visible and trigger, in the order of acceptance."""
    pick = _picker(definition.grouping)
    group_values = pick(history[-1].transaction.keys)
    # Most rules ask nothing, and the scan is what takes the time.
    asks = definition.only is not None or all(part.only is not None for part in definition.conditions)
    return [
        other
        for other in history
        if pick(other.transaction.keys) == group_values
        and horizon.sees(other)
        and (not asks or triggers(definition, other.transaction))
    ]


def measure(condition: Condition, event: Transaction, window: list[Transaction]) -> Finding:
    """The exact value of a window that ends with `event`, against the limit; it may be empty."""
    contributors = window
    value: Fraction | None
    if condition.function == DISTINCT:
        # Null is no value, and of nothing there are 0 values, which is a number like any other.
        contributors = [other for other in window if _counted(condition, other) is not None]
        value = different([_counted(condition, other) for other in contributors])
    elif condition.function in OF_ORDER:
        value = value_of_order(condition, event, window)
    elif condition.function == DEVIATION:
        value = None if len(window) < 2 else root(variance([other.amount for other in window]))
    elif not window and condition.function not in ("COUNT", "SUM"):
        value = None
    else:
        value = aggregate(condition.function, [other.amount for other in window])
    # The value at the event's own acceptance, whenever it is judged.
    limit = event.names.number(condition.limit)
    if condition.function == DEVIATION and value is not None and limit is not None:
        # The value is a rounded root: what is compared is the square.
        held = deviates(variance([other.amount for other in window]), condition.operator, limit)
    else:
        held = value is not None and limit is not None and holds(value, condition.operator, limit)
    group = _group(condition.grouping, event)
    assert group is not None
    end = event.event_time
    return Finding(
        condition,
        group,
        end - condition.window,
        end,
        value,
        limit,
        held,
        contributors,
        named=contributors,
        precision=None,
    )


def _with_precision(
    definition: Definition, finding: Finding, window: list[Transaction], horizon: Horizon, settled: int | None
) -> Finding:
    """The finding as buckets allow it: unmerged transactions alone are named, and the value has bounds."""
    length = definition.bucket
    if length is None:
        return finding
    condition, end = finding.condition, finding.end
    return replace(
        finding,
        start=window_start(definition, condition.window, end),
        named=[other for other in window if is_unmerged(other.event_time, length, settled)],
        precision=precision_of(condition, finding.value, window, end, length, horizon),
    )


def combined(
    definition: Definition, group: dict[str, str], results: tuple[Finding, ...], names: NamedValues
) -> Findings:
    """The result of the rule from those of its conditions, in the order of the tree."""
    answers = [finding.holds for finding in results]
    weighed = tuple(
        _weighed(weighting, first, answers, names) for weighting, first in weightings_of(definition.tree)
    )
    return Findings(group, settled(definition.tree, iter(answers), names), results, weighed)


def _weighed(weighting: Weighting, first: int, answers: list[bool], names: NamedValues) -> Weighed:
    parts = []
    for part, weight in zip(weighting.parts, weighting.weights, strict=True):
        numbers = range(first, first + len(conditions_of(part)))
        holds = settled(part, iter([answers[number] for number in numbers]), names)
        parts.append((names.number(weight), holds, tuple(number + 1 for number in numbers)))
        first = numbers.stop
    return Weighed(
        weight_of(weighting, [holds for _, holds, _ in parts], names),
        names.number(weighting.at_least),
        settled(weighting, iter(answers[parts[0][2][0] - 1 : first]), names),
        tuple(parts),
    )


def _window(
    definition: Definition, condition: Condition, history: Sequence[AcceptedTransaction], horizon: Horizon
) -> list[Transaction]:
    """The window's transactions of the condition's group; other fields of the rule may be null there."""
    end = history[-1].transaction.event_time
    start = window_start(definition, condition.window, end)
    pick = _picker(condition.grouping)
    group_values = pick(history[-1].transaction.keys)
    return [
        other.transaction
        for other in history
        if start <= other.transaction.event_time <= end
        and pick(other.transaction.keys) == group_values
        and horizon.sees(other)
        and passes(definition.only, other.transaction)
        and passes(condition.only, other.transaction)
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
