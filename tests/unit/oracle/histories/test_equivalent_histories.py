"""Buckets and commands of operators said in another, simpler way, over random histories of a few payments."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle import Record, judge
from tests.oracle.builders.drafts import Branch, Draft, chained
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import Part, draft, one_by_one, payment
from tests.oracle.parsers.rule_events import Settings
from tests.oracle.values.model import Json

pytestmark = pytest.mark.slow  # all of them together

T = 472_223 * 3_600_000
SMALL = Settings(allowed_lateness=30_000, max_future_skew=0, max_disorder=0)
CASH: Json = {"field": "paymentType", "operator": "=", "value": "CSH"}
FEW = settings(max_examples=25, deadline=None)


@dataclass(frozen=True)
class Paid:
    """`later` is how much after the one before it is on record, `ago` how much before that it was; in ms."""

    later: int
    ago: int
    amount: str
    payee: int
    kind: str
    ticks: bool


def payment_lists(unit: int) -> st.SearchStrategy[list[Paid]]:
    """Payments at multiples of so many ms, now and then with a tick behind."""
    one = st.builds(
        Paid,
        later=st.integers(0, 20_000 // unit).map(lambda number: number * unit),
        ago=st.one_of(st.just(0), st.integers(0, 30_000 // unit).map(lambda number: number * unit)),
        amount=st.sampled_from(["0", "1", "2.5", "-1", "7", "-3.25", "10"]),
        payee=st.sampled_from([25, 7]),
        kind=st.sampled_from(["CSH", "CSH", "CRD"]),
        ticks=st.booleans(),
    )
    return st.lists(one, max_size=40)


def history_parts(payments: Iterable[Paid], since: int = 0, first: int = 0) -> list[Part]:
    """Records and ticks, from so many ms after T on; ids go on from the first."""
    parts: list[Part] = []
    now = since
    for offset, one in enumerate(payments, start=first):
        now += one.later
        more: dict[str, Json] = {"payeeId": one.payee, "paymentType": one.kind}
        parts.append(payment(offset, T + now - one.ago, one.amount, record_time=T + now, more=more))
        if one.ticks:
            parts.append(now / 1000)
    return parts


FUNCTIONS = ("COUNT", "SUM", "AVG", "MIN", "MAX")
# Met now and then.
LIMITS = {"COUNT": "3", "SUM": "5", "AVG": "2", "MIN": "-1", "MAX": "6"}


def drafts(bucket: int | None) -> list[Draft]:
    """Rules of every function, filtered and not, and one of all of them together."""
    plain = [
        draft(function, ">=", LIMITS[function], by=("payeeId",), seconds=60, bucket=bucket)
        for function in FUNCTIONS
    ]
    filtered = [replace(one, condition=CASH, window=30) for one in plain]
    tree = Branch("any", tuple(replace(one, window=20 * number) for number, one in enumerate(plain, start=1)))
    return [*plain, *filtered, replace(chained(tree), bucket=bucket)]


def published(registry: Registry, made: Iterable[Draft]) -> list[bytes]:
    small = registry.change_settings(SMALL, 0)
    return [small, *(registry.publish(number, one, 0, 0) for number, one in enumerate(made, start=1))]


def parts_of(alert: dict[str, Any]) -> list[dict[str, Any]]:
    """Its conditions, or itself."""
    conditions: list[dict[str, Any]] = alert.get("conditions", [alert])
    return conditions


def count(alert: dict[str, Any]) -> int:
    return int(alert["contributors"]["count"])


# --- buckets


def without(alert: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in alert.items() if name not in names}


@FEW
@given(st.sampled_from([1, 2, 5, 10]), st.data())
def test_where_all_begins_with_a_bucket_it_is_exact(bucket: int, data: st.DataObject) -> None:
    """Every window, payment and tick is a multiple of the bucket: alerts differ in what they tell of that alone."""
    parts = history_parts(data.draw(payment_lists(1000 * bucket)))
    exact, buckets = (
        judge(one_by_one(T, *published(Registry(), drafts(length)), *parts)) for length in (None, bucket)
    )
    assert len(exact.alerts) == len(buckets.alerts)
    for one, other in zip(exact.alerts, buckets.alerts, strict=True):
        assert without(one, "contributors", "conditions", "definitionHash") == without(
            other, "contributors", "conditions", "definitionHash", "precision"
        )
        for plain, bucketed in zip(parts_of(one), parts_of(other), strict=True):
            assert_same_but_for_precision(plain, bucketed)
    assert exact.counts == buckets.counts


def assert_same_but_for_precision(plain: dict[str, Any], bucketed: dict[str, Any]) -> None:
    left_out = ("contributors", "precision", "definitionHash")
    assert without(plain, *left_out) == without(bucketed, *left_out)
    least, most = bucketed["precision"]["atLeast"], bucketed["precision"]["atMost"]
    assert least == most
    # None of an average, nor where there is no value.
    assert least in (plain["value"], None)
    named, all_named = bucketed["contributors"], plain["contributors"]
    assert named["count"] == all_named["count"]
    # What is named is the newest, as far as that goes.
    assert named["transactions"] == all_named["transactions"][: len(named["transactions"])]
    assert named["truncated"] == (len(named["transactions"]) < named["count"])


@FEW
@given(st.sampled_from([1, 2, 3, 7, 10]), payment_lists(1))
def test_bounds_are_bounds_of_the_exact_value(bucket: int, payments: list[Paid]) -> None:
    def always(one: Draft) -> Draft:
        return replace(one, operator=">=", limit=-(10**15))

    parts = history_parts(payments)
    twins = [
        [replace(always(one), bucket=length) for one in drafts(length) if one.chain is None]
        for length in (None, bucket)
    ]
    exact, buckets = (judge(one_by_one(T, *published(Registry(), made), *parts)).alerts for made in twins)
    assert len(exact) == len(buckets)
    for one, other in zip(exact, buckets, strict=True):
        value, told = Decimal(str(one["value"])), Decimal(str(other["value"]))
        precision: Any = other["precision"]
        least, most = precision["atLeast"], precision["atMost"]
        assert (one["ruleId"], one["eventTime"]) == (other["ruleId"], other["eventTime"])
        assert least is None or Decimal(least) <= value
        assert most is None or value <= Decimal(most)
        assert least is None or most is None or Decimal(least) <= told <= Decimal(most)
        # The first bucket is in, whole: never fewer than in the exact window.
        assert count(other) >= count(one)


@FEW
@given(st.sampled_from([1, 3, 10, 20]), payment_lists(1))
def test_a_bucketed_window_is_the_exact_one_of_a_filter_made_for_it(
    bucket: int, payments: list[Paid]
) -> None:
    """Of the last payment: the exact rule over a long window that looks at nothing before the bucket."""
    if not payments:
        return
    parts = history_parts(payments)
    last = max((part for part in parts if isinstance(part, Record)), key=lambda record: record.offset)
    event_time = int(last.record_time - payments[-1].ago)
    since = (event_time - 20_000) // (1000 * bucket) * 1000 * bucket
    only: Json = {"field": "eventTime", "operator": ">=", "value": since}
    what = draft("SUM", ">=", "-1000", by=("payeeId",), seconds=20, bucket=bucket)
    exact = replace(what, bucket=None, window=86_400, condition=only)
    registry = Registry()
    alerts = judge(one_by_one(T, *published(registry, [what, exact]), *parts)).alerts
    one, other = alerts[-2:]
    assert (one["ruleId"], other["ruleId"]) == (1, 2)
    assert one["eventTime"] == other["eventTime"] == event_time
    assert (one["value"], one["windowStart"]) == (other["value"], since)
    assert count(one) == count(other)


# --- commands


def mixed_rules() -> list[Draft]:
    """Exact rules and bucketed ones without state."""
    return [*drafts(None), *drafts(10), *reevaluating()]


def reevaluating() -> list[Draft]:
    return [
        draft("SUM", ">=", "5", by=("payeeId",), seconds=60, late_events="reevaluate"),
        draft("COUNT_DISTINCT", ">=", "2", by=(), seconds=60, field="payeeId", late_events="store"),
    ]


def stateful() -> list[Draft]:
    """What remembers more than payments."""
    return [
        draft("COUNT", ">=", "2", by=("payeeId",), seconds=20, firing="crossing"),
        draft("COUNT", ">=", "2", by=("payeeId",), seconds=20, cooldown=30),
        draft("SUM", ">=", "5", by=("payeeId",), seconds=60, reset=True),
    ]


FIRST = payment(10_000, T - 5000, "3", record_time=T - 5000)


@FEW
@given(payment_lists(1))
def test_a_voided_first_one_is_as_if_it_had_not_been(payments: list[Paid]) -> None:
    registry = Registry()
    events, parts = published(registry, mixed_rules()), history_parts(payments)
    voided = judge(one_by_one(T, *events, FIRST, registry.void("t10000", T - 5000), *parts))
    without = judge(one_by_one(T, *events, *parts))
    alerts_of_voided = [alert for alert in voided.alerts if alert["eventTime"] == T - 5000]
    assert voided.alerts[len(alerts_of_voided) :] == without.alerts
    assert voided.duplicates == without.duplicates


@FEW
@given(payment_lists(1), payment_lists(1))
def test_clearing_each_rule_is_clearing_all(before: list[Paid], after: list[Paid]) -> None:
    registry = Registry()
    made = [*mixed_rules(), *stateful()]
    events = published(registry, made)
    first = history_parts(before)
    second = history_parts(after, since=sum(one.later for one in before), first=len(before))
    whole = judge(one_by_one(T, *events, *first, registry.control("CLEAR_STATE_ALL", 0), *second))
    one_each = [registry.clear_rule(number) for number in range(1, len(made) + 1)]
    assert judge(one_by_one(T, *events, *first, *one_each, *second)).alerts == whole.alerts


@FEW
@given(payment_lists(1), payment_lists(1))
def test_clearing_each_group_is_clearing_the_rule_but_for_warm(before: list[Paid], after: list[Paid]) -> None:
    registry = Registry()
    plain = [
        one for one in [*drafts(None), *reevaluating(), *stateful()] if one.chain is None and one.grouping
    ]
    events, numbers = published(registry, plain), range(1, len(plain) + 1)
    first = history_parts(before)
    second = history_parts(after, since=sum(one.later for one in before), first=len(before))
    rules = judge(one_by_one(T, *events, *first, *map(registry.clear_rule, numbers), *second))
    by_group = [
        registry.clear_group(number, {"payeeId": payee}) for number in numbers for payee in ("25", "7")
    ]
    groups = judge(one_by_one(T, *events, *first, *by_group, *second))
    assert [without(alert, "warm") for alert in groups.alerts] == [
        without(alert, "warm") for alert in rules.alerts
    ]


@FEW
@given(payment_lists(1), st.sets(st.integers(0, 39)))
def test_a_backfilled_one_is_one_that_comes_in_a_pause(payments: list[Paid], chosen: set[int]) -> None:
    """As long as it would be let in anyway, and nothing is caught up."""
    registry = Registry()
    made = [*mixed_rules(), *stateful()]
    events, numbers = published(registry, made), range(1, len(made) + 1)
    start, name = registry.start_backfill()
    backfilled: list[Part] = [*events, start]
    paused: list[Part] = [*events, start]
    for part in history_parts(payments):
        if not isinstance(part, Record) or part.offset not in chosen:
            backfilled.append(part)
            paused.append(part)
            continue
        backfilled.append(replace(part, backfill=name))
        paused += [registry.move("RulePaused", "PAUSED", number, 0) for number in numbers]
        paused.append(part)
        paused += [registry.move("RuleResumed", "ACTIVE", number, 0) for number in numbers]
    one, other = judge(one_by_one(T, *backfilled)), judge(one_by_one(T, *paused))
    assert one.alerts == other.alerts
    # What is refused for its time in the pause is older than the clock lets in; here there is none.
    assert one.rejects == other.rejects == []
