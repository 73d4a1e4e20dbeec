"""One transaction under one version: scan everything, say what is in the window (semantics 3 and 6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from operator import itemgetter

from tests.oracle.parsers.conditions import DISTINCT, Condition, settled
from tests.oracle.parsers.definitions import Definition
from tests.oracle.parsers.filters import passes
from tests.oracle.parsers.transactions import Transaction
from tests.oracle.windows.accepted_transaction import AcceptedTransaction
from tests.oracle.windows.aggregates import aggregate, different, holds
from tests.oracle.windows.bucket_times import bucket_start
from tests.oracle.windows.horizon import Horizon, Horizons, is_unmerged
from tests.oracle.windows.precision import Precision, precision_of


@dataclass(frozen=True, slots=True)
class Finding:
    """What is in one window: the exact value in millionths, and what it is made of.

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


def window_start(definition: Definition, window: int, end: int) -> int:
    """Where a window of that length begins, which is with a bucket if the rule has buckets; all in ms."""
    start = end - window
    return start if definition.bucket is None else bucket_start(start, definition.bucket)


def evaluate(
    definition: Definition,
    group: dict[str, str],
    known: Sequence[AcceptedTransaction],
    sights: Horizons,
    counted_from: int,
) -> Evaluation:
    """Judge the last of `known`, which triggers, over all of them; in the window from place `counted_from` on."""
    event = known[-1].transaction
    visible = members(definition, known, sights.whole)
    newest = max(other.transaction.event_time for other in visible)
    if definition.chained:
        windows = [
            _window(definition, condition, known, sight)
            for condition, sight in zip(definition.conditions, sights.each, strict=True)
        ]
    else:
        start = window_start(definition, definition.window, event.event_time)
        windows = [
            [
                transaction
                for place, transaction, _ in visible
                if start <= transaction.event_time <= event.event_time and place >= counted_from
            ]
        ]
    found = tuple(
        _told(definition, measure(condition, event, window), window, sight, sights.settled)
        for condition, window, sight in zip(definition.conditions, windows, sights.each, strict=True)
    )
    return Evaluation(
        together(definition, group, found),
        newest,
        late=newest > event.event_time,
        equal_times=any(other.transaction.event_time == event.event_time for other in visible[:-1]),
    )


def members(
    definition: Definition, known: Sequence[AcceptedTransaction], sight: Horizon
) -> list[AcceptedTransaction]:
    """All of the last one's group that are visible and trigger, in the order of acceptance."""
    pick = _picker(definition.grouping)
    wanted = pick(known[-1].transaction.keys)
    # Most rules ask nothing, and the scan is what takes the time.
    asks = definition.only is not None or all(part.only is not None for part in definition.conditions)
    return [
        other
        for other in known
        if pick(other.transaction.keys) == wanted
        and sight.sees(other)
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
    elif not window and condition.function not in ("COUNT", "SUM"):
        value = None
    else:
        value = aggregate(condition.function, [other.amount for other in window])
    # The value at the event's own acceptance, whenever it is judged.
    limit = event.names.number(condition.limit)
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


def _told(
    definition: Definition, finding: Finding, window: list[Transaction], sight: Horizon, settled: int | None
) -> Finding:
    """What buckets leave to tell: no single transactions but the newest, and between what bounds the value is."""
    length = definition.bucket
    if length is None:
        return finding
    condition, end = finding.condition, finding.end
    return replace(
        finding,
        start=window_start(definition, condition.window, end),
        named=[other for other in window if is_unmerged(other.event_time, length, settled)],
        precision=precision_of(condition, finding.value, window, end, length, sight),
    )


def together(definition: Definition, group: dict[str, str], found: tuple[Finding, ...]) -> Findings:
    """What the conditions, in the order of the tree, make of the rule."""
    return Findings(group, settled(definition.tree, iter([finding.holds for finding in found])), found)


def _window(
    definition: Definition, condition: Condition, known: Sequence[AcceptedTransaction], sight: Horizon
) -> list[Transaction]:
    """What passes, of the group that the condition makes: other fields of the rule's may be null there."""
    end = known[-1].transaction.event_time
    start = window_start(definition, condition.window, end)
    pick = _picker(condition.grouping)
    wanted = pick(known[-1].transaction.keys)
    return [
        other.transaction
        for other in known
        if start <= other.transaction.event_time <= end
        and pick(other.transaction.keys) == wanted
        and sight.sees(other)
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
