"""The history that a chained rule keeps and catches up over."""

from __future__ import annotations

import json

import pytest

from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import draft
from tests.oracle.values.model import Json
from tests.oracle.values.rule_counts import Counts
from tests.unit.oracle.support.chains import BOTH, CASH, MINUTE, PAYEE, all_of, all_values, count, ids, total
from tests.unit.oracle.support.timeline import T, pay, play


def test_warm_from_goes_by_the_widest_window() -> None:
    what = all_of(count(1, seconds=10), count(1, seconds=60))
    registry = Registry()
    outcome = play(T, registry.publish(1, what, 0, 0), pay(1, 59.999), pay(2, 60))
    assert [status["warmFrom"] for status in outcome.statuses] == [T + MINUTE]
    assert [alert["warm"] for alert in outcome.alerts] == [False, True]


@pytest.mark.parametrize(("seconds", "expected"), [(3600, ["2"]), (60, [])])
def test_the_widest_window_keeps_the_history_of_all_its_fields(seconds: int, expected: list[str]) -> None:
    """A new rule over an hour finds what a chained one kept, which needs the fields for its widest window."""
    registry = Registry()
    keeper = all_of(count(99, seconds=10, only=CASH), count(99, by=BOTH, seconds=seconds))
    narrow = draft("COUNT", ">=", "2", by=PAYEE, seconds=3600, only=CASH)
    clock = T + 50 * MINUTE
    outcome = play(
        registry.publish(1, keeper, 0, 0),
        T,
        pay(1, 0),
        clock,
        registry.publish(2, narrow, T + 1, 0),
        pay(2, 3000),
    )
    assert [alert["value"] for alert in outcome.alerts] == expected


@pytest.mark.parametrize(("only", "expected"), [(None, ["2", "2"]), (CASH, ["1", "1"])])
def test_it_sees_what_is_kept_of_every_field_that_it_uses(only: Json, expected: list[Json]) -> None:
    """Nobody kept paymentType: where one condition asks for it, the other sees no more than that one."""
    registry = Registry()
    later = all_of(count(1, seconds=3600), count(1, seconds=3600, only=only))
    outcome = play(
        registry.publish(1, count(99, seconds=3600), 0, 0),
        T,
        pay(1, 0),
        T + 50 * MINUTE,
        registry.publish(2, later, T + 1, 0),
        pay(2, 3000),
    )
    assert all_values(outcome) == [expected]


def test_widest_windows_have_each_condition_s_grouping_with_the_window_of_the_whole() -> None:
    registry = Registry()
    registry.publish(1, count(1, seconds=120), 0, 0)
    what = all_of(count(1, seconds=60), count(1, by=BOTH, seconds=3600), count(1, by=BOTH, seconds=5))
    event = json.loads(registry.publish(2, what, 0, 0))
    assert event["widestWindows"] == [
        {"groupingKeyNames": ["beneficiaryId", "payeeId"], "windowSeconds": 3600, "ruleId": 2, "version": 1},
        {"groupingKeyNames": ["payeeId"], "windowSeconds": 3600, "ruleId": 2, "version": 1},
    ]


def test_catch_up_judges_it_like_any_other() -> None:
    what = all_of(count(2), total("0", by=BOTH, only=CASH), firing="crossing", late_events="store")
    records = [
        pay(1, 0),
        pay(2, 1),
        pay(3, 2),
        pay(4, 1.5, accepted=2),
        pay(5, 100),
        pay(6, 101, payeeId=None),
    ]
    outcome = play(*records, Registry().publish(1, what, T, 0), pay(7, 102))
    assert (ids(outcome), all_values(outcome)) == (["t2", "t7"], [["2", "2"], ["2", "2"]])
    assert [alert["partial"] for alert in outcome.alerts] == [True, False]
    assert outcome.counts == {1: Counts(evaluations=5, late_stored=1)}
    assert outcome.null_groups == 0
