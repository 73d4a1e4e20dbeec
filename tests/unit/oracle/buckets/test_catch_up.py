"""Catch-up of bucketed rules (decision 0038)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.oracle.builders.drafts import Branch, chained
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import Part, draft
from tests.oracle.values.model import Json
from tests.unit.oracle.support.buckets import CASH, by_buckets, narrow_settings
from tests.unit.oracle.support.hour_timeline import ms, pay, play


def test_catch_up_judges_what_is_kept() -> None:
    registry = Registry()
    parts: list[Part] = [narrow_settings(registry), pay(1, 0), pay(2, 30), pay(3, 100)]
    kept = registry.publish(1, draft("COUNT", ">=", "9", by=("payeeId",), seconds=3600), 0, 0)
    rule = registry.publish(2, by_buckets(bucket=20, seconds=65), 0, 0)
    outcome = play(*parts, kept, 130, rule)
    # The window of the third begins at 35, so at 20.
    assert [(alert["partial"], alert["value"]) for alert in outcome.alerts] == [
        (True, "1"),
        (True, "2"),
        (True, "2"),
    ]
    registry = Registry()
    settings, rule = narrow_settings(registry), registry.publish(2, by_buckets(bucket=20, seconds=65), 0, 0)
    outcome = play(settings, *parts[1:], pay(4, 110), 130, rule)
    assert [alert["value"] for alert in outcome.alerts] == ["1"]


def test_catch_up_does_not_look_into_buckets() -> None:
    registry = Registry()
    what = by_buckets(seconds=3600, bucket=60)
    first, second = registry.publish(1, what, ms(100), 0), registry.publish(1, what, 0, 0)
    outcome = play(
        narrow_settings(registry), first, pay(1, 0), pay(2, 30), pay(3, 100), 110, second, pay(4, 111)
    )
    # History is kept from 30 on, and the second catches up what is there; live it sees all that the first saw.
    told = [(alert["ruleVersion"], alert["eventTime"], alert["value"]) for alert in outcome.alerts]
    assert told == [(1, ms(100), "3"), (2, ms(30), "1"), (2, ms(111), "4")]


def test_catch_up_of_a_chained_rule_sees_what_each_window_does() -> None:
    """Of the second version one condition has buckets of before, with a floor, and one begins new ones."""
    registry = Registry()
    no_card: Json = {"field": "paymentType", "operator": "!=", "value": "CRD"}
    kept = registry.publish(2, draft("SUM", ">", "99", by=("payeeId",), seconds=3600, only=CASH), 0, 0)
    before, after = (
        replace(chained(Branch("any", (by_buckets(), by_buckets("SUM", "0", only=only)))), bucket=10)
        for only in (CASH, no_card)
    )
    first, second = registry.publish(1, before, ms(50), 0), registry.publish(1, after, 0, 0)
    outcome = play(narrow_settings(registry), kept, first, pay(1, 9.999), pay(2, 10), 100, second)
    # What is judged goes by the highest floor of all, 10; the window over new buckets holds what is below as well.
    conditions: list[Any] = [alert["conditions"] for alert in outcome.alerts]
    assert [[condition["value"] for condition in of_one] for of_one in conditions] == [["1", "2"]]
