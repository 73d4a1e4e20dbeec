"""Limits with deviations in them, and deviations over parts of windows: each sentence by a case done by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.oracle import Outcome, Record
from tests.oracle.builders.drafts import Branch, Draft, chained
from tests.oracle.builders.registry import Registry
from tests.oracle.values.model import Json
from tests.unit.oracle.support.chains import all_values, ids
from tests.unit.oracle.support.timeline import pay, play
from tests.unit.oracle.windows.test_relative_limits import against, behind, outcome_of, over

USUAL = over("AVG", 10, current=False)
# The average of 2, 4, 4, 4, 5, 5, 7 and 9 is 5, and the squares of the differences add up to 32: the variance is 32/7.
EIGHT = [
    pay(offset, offset, amount) for offset, amount in enumerate(["2", "4", "4", "4", "5", "5", "7", "9"], 1)
]


def in_deviations(measured: Draft, behind: Draft, operator: str, deviations: Json, plus: Json = "0") -> Draft:
    return replace(against(measured, behind, operator, plus=plus), deviations=deviations)


def limit_of(outcome: Outcome) -> Json:
    return all_values(outcome, "limit")[-1][0]


def test_three_deviations_above_the_average() -> None:
    what = in_deviations(over("MAX", 1), over("AVG", 60, current=False), ">", "3")
    # √(32/7) is 2.138089935…, and 5 and three of these 11.414269806…
    assert "t9" not in ids(outcome_of(what, *EIGHT, pay(9, 20, "11.414269")))
    outcome = outcome_of(what, *EIGHT, pay(9, 20, "11.41427"))
    # before it 9 was too much for 2, 4, 4, 4, 5, 5 and 7
    assert ids(outcome) == ["t8", "t9"]
    assert limit_of(outcome) == "11.41427"
    told = behind(outcome)
    assert [told[name] for name in ("value", "times", "plus", "plusDeviations", "deviation")] == [
        "5", "1", "0", "3", "2.13809",
    ]  # fmt: skip


def test_decided_exactly_and_not_as_it_is_told() -> None:
    what = in_deviations(over("MAX", 1), over("AVG", 60, current=False), "=", "3")
    # the limit is told as 11.41427, and that is not it
    assert "t9" not in ids(outcome_of(what, *EIGHT, pay(9, 20, "11.41427")))
    # of 1, 2 and 3 the average is 2 and the deviation 1
    few = [pay(1, 0, "1"), pay(2, 1, "2"), pay(3, 2, "3")]
    for deviations, amount in (("1", "3"), ("-2", "0"), ("0", "2"), ("2.5", "4.5")):
        exactly = in_deviations(over("MAX", 1), over("AVG", 60, current=False), "=", deviations)
        assert ids(outcome_of(exactly, *few, pay(4, 20, amount))) == ["t4"]
        assert ids(outcome_of(exactly, *few, pay(4, 20, "3.999999"))) == []


def test_below_two_there_is_no_limit() -> None:
    for deviations in ("0", "3"):
        what = in_deviations(over("SUM", 1), USUAL, "!=", deviations, plus="100")
        assert ids(outcome_of(what, pay(1, 0, "1"), pay(2, 2, "1"), pay(3, 4, "1"))) == ["t3"]
        event = Registry().publish(1, chained(Branch("not", (what,))), 0, 0)
        outcome = play(event, pay(1, 0, "1"), pay(2, 2, "1"))
        assert ids(outcome) == ["t1", "t2"]
        # the average of one is told, and that it has no deviation
        assert [behind(outcome)[name] for name in ("value", "deviation")] == ["1", None]
        assert limit_of(outcome) is None


def test_of_fewer_than_are_asked_for_there_is_none() -> None:
    what = in_deviations(over("SUM", 1), replace(USUAL, least=3), ">", "0")
    outcome = play(
        Registry().publish(1, chained(Branch("not", (what,))), 0, 0), *[pay(n, n, "1") for n in (1, 2, 3, 4)]
    )
    assert [ids(outcome), behind(outcome, 2)["deviation"]] == [["t1", "t2", "t3"], None]


def test_a_parameter_says_how_many_and_is_nothing_without_a_value() -> None:
    what = in_deviations(over("SUM", 1), USUAL, ">=", {"parameter": "k"})
    records = [pay(1, 0, "1"), pay(2, 1.5, "2"), pay(3, 3, "3"), pay(4, 5, "3")]
    assert ids(outcome_of(what, *records)) == []
    registry = Registry()
    change = registry.change_parameter("k", "1", 0)
    outcome = play(change, registry.publish(1, chained(what), 0, 0), *records)
    # 3 against 1.5 and √½; 3 against 2 and 1
    assert ids(outcome) == ["t3", "t4"]
    assert behind(outcome)["plusDeviations"] == "1"


@pytest.mark.parametrize(
    ("times", "holds"), [("2", True), ("2.000001", False), ("-1", True), ("1.999999", True)]
)
def test_amounts_that_scatter_so_many_times_as_before(times: str, holds: bool) -> None:
    before = over("STDDEV", 10, offset=10)
    what = against(over("STDDEV", 10), before, ">=", times=times)
    # √8 is twice √2
    records = [pay(1, 0, "1"), pay(2, 5, "3"), pay(3, 12, "1"), pay(4, 15.5, "5")]
    assert ("t4" in ids(outcome_of(what, *records))) is holds


def test_a_deviation_of_a_part_of_its_window() -> None:
    records = [pay(1, 0, "1"), pay(2, 1, "3"), pay(3, 2, "7")]
    without = replace(over("STDDEV", 10, current=False), operator=">=", limit=0)
    outcome = outcome_of(without, *records)
    assert (ids(outcome), all_values(outcome, "value")) == (["t3"], [["1.414214"]])
    earlier = replace(over("STDDEV", 10, offset=2), operator=">=", limit=0)
    outcome = outcome_of(earlier, *records, pay(4, 3.5, "9"), pay(5, 13, "9"))
    # at 3.5 s: those of 0 and 1 s; at 13 s from 1 to before 11 s: 3, 7 and 9, whose variance is 28/3
    assert (ids(outcome), all_values(outcome, "value")) == (["t4", "t5"], [["1.414214"], ["3.05505"]])


def test_a_deviation_against_an_average_and_what_is_more() -> None:
    # of 1, 2 and 3 the deviation is 1: half the average, the average less its deviation
    few = [pay(1, 0, "1"), pay(2, 1, "2"), pay(3, 2, "3")]
    whole = over("AVG", 10)
    for what in (
        against(over("STDDEV", 10), whole, "=", times="0.5"),
        in_deviations(over("STDDEV", 10), whole, "=", "-1"),
        in_deviations(over("STDDEV", 10), whole, "=", "1", plus="-2"),
        against(over("SUM", 10), over("STDDEV", 10), "=", times="6"),
    ):
        assert "t3" in ids(outcome_of(what, *few))


def test_a_late_one_is_held_against_what_deviated_then() -> None:
    what = in_deviations(over("MAX", 1), USUAL, ">", "1")
    late: list[Record] = [
        pay(1, 0, "1"),
        pay(2, 2, "3"),
        pay(3, 9, "3"),
        pay(4, 5, "3.42", 9),
        pay(5, 6, "3.41", 9),
    ]
    # at 5 s the limit is 2 and √2; at 6 s 2.473333… and 1.29…
    assert ids(outcome_of(what, *late)) == ["t4"]
