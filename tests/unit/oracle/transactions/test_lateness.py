"""Rejects by time, on both sides of each edge, and which reason wins."""

from __future__ import annotations

import pytest

from tests.oracle import Record
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.oracle.parsers.rule_events import Settings
from tests.unit.oracle.support.agreement import judge

T = 1_700_000_000_000
MINUTE = 60_000


def reasons(*records: Record, ticks: tuple[int, ...] = (), events: tuple[bytes, ...] = ()) -> list[str]:
    outcome = judge([batch(events=events, ticks=ticks, records=records)])
    return [reject.reason for reject in outcome.rejects]


@pytest.mark.parametrize(
    ("event_time", "record_time", "expected"),
    [
        (T, T + 10 * MINUTE, []),
        (T, T + 10 * MINUTE + 1, ["too_late"]),
        (T, T - 5 * MINUTE, []),
        (T, T - 5 * MINUTE - 1, ["future_event"]),
    ],
)
def test_against_the_own_record_time(event_time: int, record_time: int, expected: list[str]) -> None:
    assert reasons(payment(1, event_time, record_time=record_time)) == expected


@pytest.mark.parametrize(("behind", "expected"), [(5 * MINUTE, []), (5 * MINUTE + 1, ["out_of_order"])])
def test_against_the_record_clock(behind: int, expected: list[str]) -> None:
    assert reasons(payment(1, T - behind), ticks=(T,)) == expected


def test_nothing_is_out_of_order_before_the_first_tick() -> None:
    assert reasons(payment(1, T), payment(2, T - 60 * MINUTE, partition=1)) == []


def test_the_first_reason_wins() -> None:
    late = payment(1, T - 60 * MINUTE, record_time=T - 49 * MINUTE)
    early = payment(2, T - 30 * MINUTE, record_time=T - 40 * MINUTE)
    # The second is old enough for the bound of raised settings, which is also too_late.
    assert reasons(late, early, ticks=(T,)) == ["too_late", "too_late"]
    soon = payment(1, T, record_time=T - 6 * MINUTE)
    assert reasons(soon, ticks=(T,)) == ["future_event"]


def test_a_lower_tick_changes_nothing() -> None:
    assert reasons(payment(1, T - 5 * MINUTE - 1), ticks=(T, T - MINUTE)) == ["out_of_order"]


def test_lower_settings_hold_from_their_position() -> None:
    lower = Registry().change_settings(Settings(1000, 2000, 3000), T)
    assert reasons(payment(1, T, record_time=T + 1001), events=(lower,)) == ["too_late"]
    assert reasons(payment(1, T, record_time=T - 2001), events=(lower,)) == ["future_event"]
    assert reasons(payment(1, T - 3001), events=(lower,), ticks=(T,)) == ["out_of_order"]


def test_raised_settings_do_not_reach_below_an_earlier_bound() -> None:
    registry = Registry()
    lower = registry.change_settings(Settings(1000, 1000, 1000), T)
    higher = registry.change_settings(Settings(3_600_000, 1000, 3_600_000), T)
    records = [payment(1, T - 2000, record_time=T), payment(2, T - 2001, record_time=T)]
    outcome = judge([batch(events=[lower], ticks=[T]), batch(events=[higher], records=records)])
    assert [(reject.offset, reject.reason) for reject in outcome.rejects] == [(2, "too_late")]


def test_newest_event_time_is_of_the_group_accepted_before() -> None:
    rule = Registry().publish(1, draft("COUNT", ">=", "1", by=("payeeId",), seconds=60), 0, 0)
    records = [
        payment(1, T + 9000, more={"payeeId": 1}),
        payment(2, T + 5000),
        payment(3, T + 7000),
        payment(4, T, record_time=T + 9500),
        payment(5, T + 7000, record_time=T + 9600),
    ]
    alerts = judge([batch(events=[rule], records=records)]).alerts
    assert {alert["windowEnd"]: alert["late"] for alert in alerts if alert["late"]} == {
        T: {"newestEventTime": T + 7000}
    }
    assert len(alerts) == 5
