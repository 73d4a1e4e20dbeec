"""Whether a limit can be reached at all, and whether it can be missed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

from rules_registry.domain.advice.field_ranges import FieldRange
from rules_registry.domain.advice.filter_reach import NamesNow, Way
from rules_registry.domain.advice.rule_warning import RuleWarning
from rules_registry.domain.advice.spans import Span
from tripline_contracts import decimals
from tripline_contracts.event_type import EventType
from tripline_contracts.filters.named_values import Parameter
from tripline_contracts.rules.aggregate import JUDGED_ONCE
from tripline_contracts.rules.conditions import Condition
from tripline_contracts.rules.relative_limits import RelativeLimit

# where nothing is in the window they have no value, and then no comparison holds
_OF_NOTHING_NOTHING = frozenset({"AVG", "MIN", "MAX", *JUDGED_ONCE})
_NAMES = {
    "COUNT": "a count",
    "COUNT_DISTINCT": "a count of different values",
    "SECONDS_SINCE_PREVIOUS": "a time since the one before",
    "SECONDS_SINCE_FIRST": "a time since the first in the window",
    "SPEED_KMH": "a speed in km/h",
}
_FASTEST = Decimal("72054411991.272")
"""Half around the earth in a millisecond, in km/h."""
_NOT_OF_THE_FIRST = frozenset({"SECONDS_SINCE_PREVIOUS", "CHANGED", "STDDEV", "SPEED_KMH"})
"""The first of a group has no value, which no comparison with a number tells."""


def limit_warnings(
    condition: Condition,
    passing: Sequence[Way] | None,
    event_type: EventType,
    names: NamesNow,
    *,
    may_be_empty: bool,
) -> Iterator[RuleWarning]:
    """Warnings of one condition, the field being that of its own members.

    :param passing: the ways to enter its window, None where they are not known
    :param may_be_empty: whether it is judged where nothing is in its window, as one of several may be
    """
    if condition.function == "AVG" and condition.operator in ("=", "!="):
        yield RuleWarning(
            "equality-on-average",
            "limitOperatorType",
            f"an average is hardly ever equal to a number: {condition.operator} compares it exactly",
        )
    limit, excerpt = condition.limit, condition.excerpt
    if isinstance(limit, RelativeLimit):
        return
    may_be_empty = may_be_empty or not excerpt.takes_all
    number = names.number_of(limit.name) if isinstance(limit, Parameter) else limit
    if number is None or passing == []:
        return
    span = _reach(condition, passing, event_type, may_be_empty=may_be_empty)
    whole = condition.function in ("COUNT", "COUNT_DISTINCT", "CHANGED")
    may_be_empty = may_be_empty or condition.function in _NOT_OF_THE_FIRST
    fraction = whole and number != number.to_integral_value()
    operator, shown = condition.operator, decimals.plain(number)
    subject = f"{_described(condition)}, {_bounds(span)}"
    if span.never(operator, number) or (fraction and operator == "="):
        yield RuleWarning(
            "limit-never-reached", "limit", f"never holds: {subject}, is never {operator} {shown}"
        )
    elif excerpt.minimum_count or (may_be_empty and condition.function in _OF_NOTHING_NOTHING):
        return
    elif span.always(operator, number) or (fraction and operator == "!="):
        yield RuleWarning(
            "limit-always-reached", "limit", f"always holds: {subject}, is always {operator} {shown}"
        )


def _reach(
    condition: Condition, passing: Sequence[Way] | None, event_type: EventType, *, may_be_empty: bool
) -> Span:
    """The numbers that the aggregate can be."""
    field = condition.aggregate_field
    if condition.function in JUDGED_ONCE:
        return _judged_once(condition)
    if condition.function == "COUNT" or field is None:
        return Span(low=Decimal(0 if may_be_empty else 1))
    ranges = [way.get(field, FieldRange.of(event_type.field(field))) for way in passing or [{}]]
    if condition.function == "COUNT_DISTINCT":
        return _distinct(ranges, may_be_empty=may_be_empty)
    if event_type.field(field).kind != "decimal":
        return Span()
    values = _hull(ranges)
    if condition.function != "SUM":
        return values
    # more of the same sign lead further away from nothing, and one alone is the least
    if values.low is not None and values.low >= 0:
        return replace(values, high=None, high_open=False) if not may_be_empty else Span(low=Decimal(0))
    if values.high is not None and values.high <= 0:
        return replace(values, low=None, low_open=False) if not may_be_empty else Span(high=Decimal(0))
    return Span()


def _judged_once(condition: Condition) -> Span:
    if condition.function == "STDDEV":
        return Span(low=Decimal(0))
    most = Decimal(condition.window_seconds)
    if condition.function in ("CHANGED", "SPEED_KMH"):
        most = Decimal(1) if condition.function == "CHANGED" else _FASTEST
        # what all of a group have in common never changes
        most = Decimal(0) if condition.aggregate_field in condition.grouping_key_names else most
    return Span(low=Decimal(0), high=most)


def _distinct(ranges: Sequence[FieldRange], *, may_be_empty: bool) -> Span:
    """Null is no value, so there may be none."""
    none = may_be_empty or any(left.null for left in ranges)
    counts = [left.count() for left in ranges]
    texts = frozenset[str | Decimal]().union(*(left.among or frozenset() for left in ranges))
    most = None if None in counts else Decimal(min(len(texts), sum(count or 0 for count in counts)))
    return Span(low=Decimal(0 if none else 1), high=most)


def _hull(ranges: Sequence[FieldRange]) -> Span:
    spans = [span for left in ranges if (span := left.numbers() if left.among is not None else left.span)]
    hull = spans[0] if spans else Span()
    for span in spans[1:]:
        hull = hull.hull(span)
    return hull


def _described(condition: Condition) -> str:
    return _NAMES.get(condition.function, f"{condition.function} of {condition.aggregate_field}")


def _bounds(span: Span) -> str:
    parts = []
    if span.low is not None:
        parts.append(f"{'above' if span.low_open else 'at least'} {decimals.plain(span.low)}")
    if span.high is not None:
        parts.append(f"{'below' if span.high_open else 'at most'} {decimals.plain(span.high)}")
    return " and ".join(parts) or "any number"
