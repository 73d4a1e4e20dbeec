"""Windows that end earlier, leave the transaction out, or hold too few: each sentence by a case done by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.oracle import Outcome, Record
from tests.oracle.builders.drafts import Branch, Draft, chained
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import draft
from tests.oracle.values.model import Json
from tests.unit.oracle.support.chains import CARD, PAYEE, all_values, ids, json_object, values
from tests.unit.oracle.support.timeline import T, pay, play

FUNCTIONS = ("SUM", "AVG", "MIN", "MAX", "COUNT", "COUNT_DISTINCT")


def outcome_of(condition: Draft, *records: Record | int) -> Outcome:
    """Of a rule of that one condition."""
    return play(Registry().publish(1, chained(condition), 0, 0), *records)


def measure(function: str = "SUM", operator: str = ">=", limit: str = "0", **more: int | bool) -> Draft:
    """A condition over a window of 10 s."""
    field = "beneficiaryId" if function == "COUNT_DISTINCT" else "paymentAmount"
    made = draft(function, operator, limit, by=PAYEE, seconds=10, field=field)
    return replace(made, **more)  # type: ignore[arg-type]


def contributors(outcome: Outcome, which: int) -> list[Json]:
    conditions = outcome.alerts[which]["conditions"]
    assert isinstance(conditions, list)
    listed = json_object(json_object(conditions[0])["contributors"])["transactions"]
    assert isinstance(listed, list)
    return [json_object(one)["transactionId"] for one in listed]


# --- offsetSeconds


def test_a_window_with_an_offset_has_its_older_end_and_not_its_newer_one() -> None:
    # e at 30 s with offset 10 s and window 10 s sees 10 s ≤ x < 20 s
    records = [pay(1, 9.999, "1"), pay(2, 10, "2"), pay(3, 19.999, "4"), pay(4, 20, "8"), pay(5, 30, "16")]
    outcome = outcome_of(measure(offset=10), *records)
    assert all_values(outcome) == [["0"], ["0"], ["0"], ["1"], ["6"]]
    assert contributors(outcome, 4) == ["t3", "t2"]
    assert values(outcome.alerts[4], "windowStart") == [T + 10_000]
    assert values(outcome.alerts[4], "windowEnd") == [T + 20_000]
    assert outcome.alerts[4]["windowStart"] == T + 10_000
    assert outcome.alerts[4]["windowEnd"] == T + 30_000


def test_a_window_and_the_one_before_it_meet_and_do_not_overlap() -> None:
    records = [pay(number, number / 2, "1") for number in range(60)]
    newer = all_values(outcome_of(measure("COUNT", offset=5), *records))
    older = all_values(outcome_of(measure("COUNT", offset=15), *records))
    both = all_values(outcome_of(replace(measure("COUNT", offset=5), window=20), *records))
    assert [[str(int(str(a)) + int(str(b)))] for (a,), (b,) in zip(newer, older, strict=True)] == both


def test_a_late_one_looks_back_from_its_own_time_and_counts_for_later_ones() -> None:
    records = [pay(1, 0, "1"), pay(2, 30, "2"), pay(3, 15, "4", 31), pay(4, 12, "8", 32), pay(5, 33, "16")]
    outcome = outcome_of(measure(offset=10), *records)
    # t3 at 15 s sees t1 no more than from −5 s to 5 s; t4 the same; t5 sees from 13 s to 23 s
    assert ids(outcome) == ["t1", "t2", "t3", "t4", "t5"]
    assert all_values(outcome) == [["0"], ["0"], ["1"], ["1"], ["4"]]


@pytest.mark.parametrize(
    ("function", "value"),
    [("SUM", "9"), ("AVG", "3"), ("MIN", "1"), ("MAX", "5"), ("COUNT", "3"), ("COUNT_DISTINCT", "2")],
)
def test_every_function_over_the_window_before(function: str, value: str) -> None:
    records = [
        pay(1, 0, "1"),
        pay(2, 5, "5", beneficiaryId=7),
        pay(3, 9.999, "3"),
        pay(4, 10, "100", beneficiaryId=8),
        pay(5, 15, "0.5", beneficiaryId=9),
        pay(6, 20, "1000", beneficiaryId=9),
    ]
    assert all_values(outcome_of(measure(function, offset=10), *records))[-1] == [value]


def test_history_is_kept_as_far_back_as_the_window_begins() -> None:
    minute = 60
    condition = replace(measure("COUNT", ">=", "1", offset=50 * minute), window=10 * minute)
    # ticks go far beyond the offset alone; a whole hour back is visible still
    records: list[Record | int] = [pay(1, 0), T + 3_500_000, pay(2, 3_600), pay(3, 3_601)]
    outcome = outcome_of(condition, *records)
    assert ids(outcome) == ["t2"]


# --- includeCurrent


def test_without_the_current_one_those_of_the_same_time_before_it_count() -> None:
    records = [pay(1, 0, "1"), pay(2, 5, "2"), pay(3, 5, "4"), pay(4, 15, "8"), pay(5, 15.001, "16")]
    outcome = outcome_of(measure(current=False), *records)
    assert all_values(outcome) == [["0"], ["1"], ["3"], ["6"], ["8"]]
    assert contributors(outcome, 2) == ["t2", "t1"]


def test_a_late_one_is_left_out_of_its_own_window_and_in_those_of_others() -> None:
    records = [pay(1, 0, "1"), pay(2, 10, "2"), pay(3, 5, "4", 11), pay(4, 12, "8")]
    outcome = outcome_of(measure(current=False), *records)
    assert all_values(outcome) == [["0"], ["1"], ["1"], ["6"]]


@pytest.mark.parametrize(
    ("function", "value"),
    [("SUM", "6"), ("AVG", "3"), ("MIN", "1"), ("MAX", "5"), ("COUNT", "2"), ("COUNT_DISTINCT", "1")],
)
def test_every_function_without_the_current_one(function: str, value: str) -> None:
    records = [pay(1, 0, "1"), pay(2, 5, "5"), pay(3, 6, "100", beneficiaryId=9)]
    assert all_values(outcome_of(measure(function, current=False), *records))[-1] == [value]


def test_one_that_fails_the_condition_s_filter_was_not_in_it_anyway() -> None:
    condition = replace(measure(current=False), condition=CARD)
    always = draft("COUNT", ">=", "0", by=PAYEE, seconds=10)
    records = [pay(1, 0, "1", paymentType="CRD"), pay(2, 5, "2"), pay(3, 6, "4", paymentType="CRD")]
    both = Registry().publish(1, chained_any(condition, always), 0, 0)
    assert all_values(play(both, *records)) == [["0", "1"], ["1", "2"], ["1", "3"]]


def chained_any(*conditions: Draft) -> Draft:
    return chained(Branch("any", conditions))


# --- minimumCount


@pytest.mark.parametrize("function", FUNCTIONS)
def test_with_fewer_there_is_no_value_and_the_condition_is_false(function: str) -> None:
    records = [pay(1, 0), pay(2, 1), pay(3, 2), pay(4, 20)]
    assert ids(outcome_of(measure(function, ">=", "0", least=2), *records)) == ["t2", "t3"]


def test_what_has_no_value_makes_not_true() -> None:
    what = chained(Branch("not", (measure("COUNT", ">=", "0", least=2),)))
    outcome = play(Registry().publish(1, what, 0, 0), pay(1, 0), pay(2, 1))
    assert ids(outcome) == ["t1"]
    assert all_values(outcome) == [[None]]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_of_nothing_before(function: str) -> None:
    outcome = outcome_of(measure(function, ">=", "0", current=False), pay(1, 0))
    of_nothing = function in ("SUM", "COUNT", "COUNT_DISTINCT")
    assert all_values(outcome) == ([["0"]] if of_nothing else [])
