"""CLEAR_GROUP (decision 0039), each sentence by a case small enough to do by hand."""

from __future__ import annotations

import pytest

from tests.oracle.builders.registry import Registry
from tests.oracle.values.model import Json
from tests.unit.oracle.support.clears import PAYEE, at, each, ms, steps, told, warm_from


def test_other_groups_stay() -> None:
    registry = Registry()
    records = [at(1, 0), at(2, 0, payeeId=7)]
    after = [at(3, 1), at(4, 1, payeeId=7)]
    outcome = steps(registry.publish(1, each(), 0, 0), *records, registry.clear_group(1, PAYEE), *after)
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
    rule = registry.publish(1, each(by=by), 0, 0)
    outcome = steps(rule, at(1, 0), registry.clear_group(1, group), at(2, 1, "1.0"))
    assert told(outcome) == [(1, "1"), (1, "1")]


def test_the_warm_floor_stays() -> None:
    registry = Registry()
    rule, pause = registry.publish(1, each(), 0, 0), registry.move("RulePaused", "PAUSED", 1, 0)
    outcome = steps(rule, 100, registry.clear_group(1, PAYEE), pause)
    assert warm_from(outcome) == [(1, None), (1, 3700)]


def test_for_the_versions_that_are_held_and_no_later_one() -> None:
    registry = Registry()
    first, second = registry.publish(1, each(), 0, 0), registry.publish(1, each(), ms(100), 0)
    third = registry.publish(1, each(), ms(200), 0)
    records = [at(1, 0), at(2, 99, accepted=100), at(3, 100), at(4, 200)]
    outcome = steps(
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
    first, second = registry.publish(1, each(), ms(50), 0), registry.publish(1, each(), 0, 0)
    outcome = steps(first, at(1, 0), registry.clear_group(1, PAYEE), second)
    assert told(outcome) == [(1, "1")]


def test_only_for_versions_that_group_by_these_fields() -> None:
    registry = Registry()
    first = registry.publish(1, each(by=("beneficiaryId",)), 0, 0)
    second = registry.publish(1, each(), ms(100), 0)
    records = [at(1, 0), at(2, 99, accepted=100), at(3, 100)]
    outcome = steps(first, second, records[0], registry.clear_group(1, PAYEE), *records[1:])
    assert [(alert["ruleVersion"], alert["value"]) for alert in outcome.alerts] == [
        (1, "1"),
        (1, "2"),
        (2, "2"),
    ]


def test_two_clears_of_one_group() -> None:
    registry = Registry()
    rule, command = registry.publish(1, each(), 0, 0), registry.clear_group(1, PAYEE)
    outcome = steps(rule, at(1, 0), command, at(2, 1), command, at(3, 2), at(4, 3))
    assert [alert["value"] for alert in outcome.alerts] == ["1", "1", "1", "2"]
