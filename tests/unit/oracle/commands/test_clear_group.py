"""CLEAR_GROUP (decision 0039), each sentence by a case small enough to do by hand."""

from __future__ import annotations

import pytest

from tests.oracle.builders.registry import Registry
from tests.oracle.values.model import Json
from tests.unit.oracle.support.clears import PAYEE, rows, tally, warm_from
from tests.unit.oracle.support.hour_timeline import ms, pay, play


def test_other_groups_stay() -> None:
    registry = Registry()
    records = [pay(1, 0), pay(2, 0, payeeId=7)]
    after = [pay(3, 1), pay(4, 1, payeeId=7)]
    outcome = play(registry.publish(1, tally(), 0, 0), *records, registry.clear_group(1, PAYEE), *after)
    assert [alert["value"] for alert in outcome.alerts] == ["1", "1", "1", "2"]


@pytest.mark.parametrize(
    ("by", "group"),
    [
        ((), {}),
        (("paymentAmount",), {"paymentAmount": "1"}),
        (("beneficiaryId", "paymentType"), {"paymentType": "CSH", "beneficiaryId": "12"}),
    ],
)
def test_groups_of_any_fields(by: tuple[str, ...], group: dict[str, Json]) -> None:
    registry = Registry()
    rule = registry.publish(1, tally(by=by), 0, 0)
    outcome = play(rule, pay(1, 0), registry.clear_group(1, group), pay(2, 1, "1.0"))
    assert rows(outcome) == [(1, "1"), (1, "1")]


def test_the_warm_floor_stays() -> None:
    registry = Registry()
    rule, pause = registry.publish(1, tally(), 0, 0), registry.move("RulePaused", "PAUSED", 1, 0)
    outcome = play(rule, 100, registry.clear_group(1, PAYEE), pause)
    assert warm_from(outcome) == [(1, None), (1, 3700)]


def test_for_the_versions_that_are_held_and_no_later_one() -> None:
    registry = Registry()
    first, second = registry.publish(1, tally(), 0, 0), registry.publish(1, tally(), ms(100), 0)
    third = registry.publish(1, tally(), ms(200), 0)
    records = [pay(1, 0), pay(2, 99, accepted=100), pay(3, 100), pay(4, 200)]
    outcome = play(
        first, second, records[0], registry.clear_group(1, PAYEE), *records[1:3], third, records[3]
    )
    # Both that were there have forgotten the first; the one that came later sees all.
    assert [(alert["ruleVersion"], alert["value"]) for alert in outcome.alerts] == [
        (1, "1"),
        (1, "1"),
        (2, "2"),
        (3, "4"),
    ]


def test_a_later_version_catches_up_what_was_cleared_of_others() -> None:
    registry = Registry()
    first, second = registry.publish(1, tally(), ms(50), 0), registry.publish(1, tally(), 0, 0)
    outcome = play(first, pay(1, 0), registry.clear_group(1, PAYEE), second)
    assert rows(outcome) == [(1, "1")]


def test_only_for_versions_that_group_by_these_fields() -> None:
    registry = Registry()
    first = registry.publish(1, tally(by=("beneficiaryId",)), 0, 0)
    second = registry.publish(1, tally(), ms(100), 0)
    records = [pay(1, 0), pay(2, 99, accepted=100), pay(3, 100)]
    outcome = play(first, second, records[0], registry.clear_group(1, PAYEE), *records[1:])
    assert [(alert["ruleVersion"], alert["value"]) for alert in outcome.alerts] == [
        (1, "1"),
        (1, "2"),
        (2, "2"),
    ]


def test_two_clears_of_one_group() -> None:
    registry = Registry()
    rule, command = registry.publish(1, tally(), 0, 0), registry.clear_group(1, PAYEE)
    outcome = play(rule, pay(1, 0), command, pay(2, 1), command, pay(3, 2), pay(4, 3))
    assert [alert["value"] for alert in outcome.alerts] == ["1", "1", "1", "2"]
