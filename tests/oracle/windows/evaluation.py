"""Evaluation of one transaction under one version by a scan of everything (semantics 3 and 6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from operator import itemgetter

from tests.oracle.parsers.conditions import (
    Condition,
    Relative,
    Weighting,
    conditions_of,
    settled,
    weight_of,
    weightings_of,
)
from tests.oracle.parsers.definitions import Definition
from tests.oracle.parsers.filters import passes
from tests.oracle.parsers.grouping_keys import Key
from tests.oracle.parsers.measures import DEVIATION, Measure
from tests.oracle.parsers.named_values import NamedValues
from tests.oracle.parsers.transactions import Transaction
from tests.oracle.windows.accepted_transaction import AcceptedTransaction
from tests.oracle.windows.aggregates import holds, variance
from tests.oracle.windows.bucket_times import bucket_start
from tests.oracle.windows.contents import Behind, content, group_by, holds_with_roots
from tests.oracle.windows.horizon import Horizon, Horizons, is_unmerged
from tests.oracle.windows.precision import Precision, precision_of


@dataclass(frozen=True, slots=True)
class Finding:
    """The content of one window: the exact value in millionths, and its contributors.

    `value` is None for a function that has none of nothing, and of fewer than are asked for; `limit` for a parameter
    that has no value, and where what a relative limit is made of has none; such a condition does not hold, whatever the
    operator. `contributors` with equal times are in order of
    acceptance, and so are `named`, those of them that can be told one by one. `start` and `end` in ms.
    `precision` is None of an exact one.
    """

    condition: Condition
    group: dict[str, str]
    start: int
    end: int
    value: Fraction | None
    limit: Fraction | None
    holds: bool
    contributors: list[Transaction]
    named: list[Transaction]
    precision: Precision | None
    behind: Behind | None = None


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
    return group_by(definition.grouping, transaction)


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
        _with_precision(
            definition,
            measure(condition, event, window, _behind(definition, condition, history, horizon)),
            window,
            horizon,
            horizons.settled,
        )
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


def measure(
    condition: Condition, event: Transaction, window: list[Transaction], behind: Behind | None = None
) -> Finding:
    """The exact value of a window of `event`, against the limit."""
    measured = content(condition, event, window)
    if isinstance(condition.limit, Relative):
        assert behind is not None
        limit = behind.limit
    else:
        # The value at the event's own acceptance, whenever it is judged.
        number = event.names.number(condition.limit)
        limit = None if number is None else Fraction(number)
    value = measured.value
    held = value is not None and limit is not None and holds(value, condition.operator, limit)
    deviating = condition.function == DEVIATION
    if value is not None and limit is not None and (deviating or (behind is not None and behind.rooted)):
        held = holds_with_roots(condition, value, limit, window, behind)
    return Finding(
        condition,
        measured.group,
        measured.start,
        measured.end,
        value,
        limit,
        held,
        measured.contributors,
        named=measured.contributors,
        precision=None,
        behind=behind,
    )


def _behind(
    definition: Definition, condition: Condition, history: Sequence[AcceptedTransaction], horizon: Horizon
) -> Behind | None:
    """What the condition's limit is made of, if it is relative."""
    limit, event = condition.limit, history[-1].transaction
    if not isinstance(limit, Relative):
        return None
    window = _window(definition, limit.measure, history, horizon)
    measured, more = content(limit.measure, event, window), limit.deviations is not None
    rooted = more or limit.measure.function == DEVIATION
    return Behind(
        measured,
        event.names.number(limit.times),
        event.names.number(limit.plus),
        more,
        None if limit.deviations is None else event.names.number(limit.deviations),
        variance([other.amount for other in window]) if rooted and len(window) > 1 else None,
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
    definition: Definition, part: Measure, history: Sequence[AcceptedTransaction], horizon: Horizon
) -> list[Transaction]:
    """The window's transactions of the measure's group; other fields of the rule may be null there."""
    now = history[-1].transaction.event_time
    # An hour back, an hour long: from two hours before up to, but not at, an hour before.
    start, last = window_start(definition, part.reach, now), now - part.offset - 1 if part.offset else now
    pick = _picker(part.grouping)
    group_values = pick(history[-1].transaction.keys)
    return [
        other.transaction
        for other in (history if part.current else history[:-1])
        if start <= other.transaction.event_time <= last
        and pick(other.transaction.keys) == group_values
        and horizon.sees(other)
        and passes(definition.only, other.transaction)
        and passes(part.only, other.transaction)
    ]


def _picker(grouping: tuple[Key, ...]) -> Callable[[dict[str, str | None]], object]:
    """The values of a group at once: the scan is the same as with a loop over the fields, only quicker."""
    if any(key.step for key in grouping):
        return lambda keys: tuple(key.value(keys) for key in grouping)
    return itemgetter(*(key.field for key in grouping)) if grouping else _one_group


def _one_group(keys: dict[str, str | None]) -> int:
    return 0
