"""Limits that are measured, each sentence by a case small enough to do by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.oracle import Outcome, Record
from tests.oracle.builders.drafts import Branch, Draft, chained
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import draft
from tests.oracle.values.model import Json
from tests.unit.oracle.support.chains import CARD, CASH, PAYEE, all_values, ids, json_object
from tests.unit.oracle.support.timeline import T, pay, play

DAY = 86_400


def against(
    measured: Draft, behind: Draft, operator: str = ">", times: Json = "1", plus: Json = "0"
) -> Draft:
    """The condition that the one stands so to the other."""
    return replace(measured, operator=operator, behind=behind, times=times, plus=plus)


def over(function: str = "SUM", seconds: int = 10, by: tuple[str, ...] = PAYEE, **more: Any) -> Draft:
    only = more.pop("only", None)
    field = "beneficiaryId" if function == "COUNT_DISTINCT" else "paymentAmount"
    return replace(draft(function, by=by, seconds=seconds, only=only, field=field), **more)


def outcome_of(condition: Draft, *records: Record | bytes | int) -> Outcome:
    """Of a rule of that one condition."""
    return play(Registry().publish(1, chained(condition), 0, 0), *records)


def behind(outcome: Outcome, which: int = -1) -> dict[str, Json]:
    """What the limit of an alert's condition was made of."""
    conditions = outcome.alerts[which]["conditions"]
    assert isinstance(conditions, list)
    return json_object(json_object(conditions[0])["limitMeasure"])


def test_three_times_his_average_of_the_thirty_days_before() -> None:
    usual = over("AVG", 30 * DAY, offset=DAY, least=2)
    what = against(over("SUM", DAY), usual, times="3")
    records = [pay(1, 0, "100"), pay(2, DAY + 1, "200"), pay(3, 3 * DAY, "450"), pay(4, 3 * DAY + 9, "0.01")]
    outcome = outcome_of(what, *records)
    # the average of 100 and 200 three times over is 450, which 450 is not more than
    assert ids(outcome) == ["t4"]
    told = behind(outcome)
    assert [told[name] for name in ("value", "times", "plus", "windowStart", "windowEnd")] == [
        "150", "3", "0", T + 1000 * (3 * DAY + 9 - 31 * DAY), T + 1000 * (2 * DAY + 9),
    ]  # fmt: skip
    listed = json_object(told["contributors"])
    assert listed["count"] == 2
    assert [json_object(one)["transactionId"] for one in listed["transactions"]] == ["t2", "t1"]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("operator", "holds"),
    [(">", False), (">=", True), ("=", True), ("!=", False), ("<", False), ("<=", True)],
)
def test_an_average_is_compared_exactly_and_reported_half_even(operator: str, holds: bool) -> None:
    # four thirds on both sides
    what = against(over("AVG", 10), over("AVG", 10), operator)
    records = [pay(1, 0, "1"), pay(2, 1, "1"), pay(3, 2, "2")]
    outcome = outcome_of(what, *records)
    assert ("t3" in ids(outcome)) is holds
    if holds:
        conditions = outcome.alerts[-1]["conditions"]
        assert json_object(conditions[0])["limit"] == "1.333333"  # type: ignore[index]


def test_a_third_is_not_what_it_is_reported_as() -> None:
    third = over("AVG", 10, current=False)
    what = against(over("MIN", 10), third, "=", times="1", plus="0.000001")
    records = [pay(1, 0, "0"), pay(2, 1, "0"), pay(3, 2, "0.000001"), pay(4, 3, "0.000001")]
    # a third of a millionth, and a millionth more, is no number that a payment can have
    assert "t4" not in ids(outcome_of(what, *records))


def test_times_and_plus_may_be_negative_or_parameters() -> None:
    what = against(over("SUM"), over("MAX"), ">=", times={"parameter": "x"}, plus="-1")
    registry = Registry()
    change = registry.change_parameter("x", "2", 0)
    rule = registry.publish(1, chained(what), 0, 0)
    outcome = play(change, rule, pay(1, 0, "1"), pay(2, 1, "5"), pay(3, 2, "4"))
    # 1 ≥ 2·1 − 1; 6 < 2·5 − 1; 10 ≥ 9
    assert ids(outcome) == ["t1", "t3"]
    assert [behind(outcome)["times"], behind(outcome)["plus"]] == ["2", "-1"]
    below = against(over("SUM"), over("SUM"), "<", times="-1")
    assert ids(outcome_of(below, pay(1, 0, "1"), pay(2, 1, "-3"))) == ["t2"]


def test_a_parameter_without_a_value_makes_it_false_and_its_not_true() -> None:
    what = against(over("SUM"), over("SUM"), ">=", times={"parameter": "unknown"})
    assert ids(outcome_of(what, pay(1, 0))) == []
    event = Registry().publish(1, chained(Branch("not", (what,))), 0, 0)
    outcome = play(event, pay(1, 0))
    assert ids(outcome) == ["t1"]
    assert all_values(outcome, "limit") == [[None]]


def test_a_measure_without_a_value_makes_it_false_and_its_not_true() -> None:
    for measured in (over("AVG", current=False), over("SUM", least=3)):
        what = against(over("SUM"), measured, "!=", plus="7")
        assert ids(outcome_of(what, pay(1, 0))) == []
        outcome = play(Registry().publish(1, chained(Branch("not", (what,))), 0, 0), pay(1, 0))
        assert ids(outcome) == ["t1"]


def test_the_measure_has_a_filter_of_its_own_and_never_triggers() -> None:
    what = replace(against(over("SUM", only=CASH), over("SUM", only=CARD), ">", times="2"))
    records = [
        pay(1, 0, "10", paymentType="CRD"),
        pay(2, 1, "20"),
        pay(3, 2, "0.5"),
        pay(4, 3, "90", paymentType="CRD"),
        pay(5, 4, "9"),
    ]
    outcome = outcome_of(what, *records)
    # t1 and t4 are measured and not judged: 20 is not more than twice 10, 20.5 is; 29.5 is less than twice 100
    assert ids(outcome) == ["t3"]
    assert outcome.counts[1].evaluations == 3


def test_the_measure_may_group_by_something_else() -> None:
    share = against(over("SUM", by=("beneficiaryId", "payeeId")), over("SUM", by=PAYEE), ">=", times="0.5")
    records = [
        pay(1, 0, "4"),
        pay(2, 1, "5", beneficiaryId=7),
        pay(3, 2, "1", beneficiaryId=8),
        pay(4, 3, "1"),
    ]
    outcome = outcome_of(share, *records)
    # t4: 5 of 11 with 12
    assert ids(outcome) == ["t1", "t2"]
    assert outcome.alerts[1]["group"] == {"payeeId": "25", "beneficiaryId": "7"}
    assert behind(outcome, 1)["group"] == {"payeeId": "25"}


def test_a_late_one_is_held_against_its_own_measure() -> None:
    what = against(over("SUM"), over("SUM", offset=10), ">", plus="5")
    records = [pay(1, 0, "1"), pay(2, 20, "3"), pay(3, 10, "7", 21), pay(4, 21, "4")]
    # t3 at 10 s: 8 of its last ten seconds (t1 at 0 s is in) against nothing before 0 s and 5; t4: 7 against 7 and 5
    assert ids(outcome_of(what, *records)) == ["t3"]


def test_the_ends_of_what_numbers_can_be() -> None:
    most = "999999999999999999.999999"
    equal = against(over("SUM"), over("SUM"), "=", times=most, plus=f"-{most}")
    assert ids(outcome_of(equal, pay(1, 0, "1"))) == []
    outcome = outcome_of(against(over("SUM"), over("SUM"), "<", times=most, plus=most), pay(1, 0, most))
    assert ids(outcome) == ["t1"]
    conditions = outcome.alerts[0]["conditions"]
    nearly = 10**24 - 1
    assert json_object(conditions[0])["limit"] == _plain(nearly * nearly, nearly)  # type: ignore[index]


def _plain(product: int, plus: int) -> str:
    """A product in millionths of millionths, and a number in millionths more, as they are reported."""
    half, rest = divmod(product, 10**6)
    rounded = half + (rest > 500_000) + plus
    return f"{rounded // 10**6}.{rounded % 10**6:06}".rstrip("0").rstrip(".")
