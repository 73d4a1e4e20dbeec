"""Conditions over parts of their windows, and held against other measures: what they mean, and what is refused."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tests.unit.contracts.support.condition_samples import SUM_JSON, TRANSACTION, changed, parse, problems
from tripline_contracts.errors import InvalidDefinition
from tripline_contracts.filters.named_values import Parameter
from tripline_contracts.rules import rule_definition
from tripline_contracts.rules.anchors import anchor_of
from tripline_contracts.rules.relative_limits import Baseline, Excerpt, RelativeLimit
from tripline_contracts.rules.widest_windows import widest_windows

DAY = 86_400
MEASURE: dict[str, Any] = {
    "aggregatorFunctionType": "AVG",
    "aggregateFieldName": "paymentAmount",
    "windowSeconds": 30 * DAY,
    "offsetSeconds": DAY,
    "minimumCount": 5,
}
CASH = {"field": "paymentType", "operator": "=", "value": "CSH"}


def against(measure: Any = None, **beside: Any) -> dict[str, Any]:
    """A condition with a relative limit."""
    return changed(limit={"measure": MEASURE if measure is None else measure, **beside})


def test_three_times_the_usual() -> None:
    (condition,) = parse(against(times=3)).measured
    usual = Baseline(("payeeId",), "AVG", "paymentAmount", 30 * DAY, None, Excerpt(DAY, True, 5))
    assert condition.limit == RelativeLimit(usual, Decimal(3), Decimal(0))
    definition = parse(against(times=3))
    assert definition.to_json()["conditions"] == {
        **SUM_JSON,
        "limit": {"measure": {"groupingKeyNames": ["payeeId"], **MEASURE}, "times": "3", "plus": "0"},
    }
    assert parse(definition.to_json()["conditions"]) == definition
    assert definition.window_seconds == 31 * DAY


def test_times_is_1_and_plus_0_unless_they_are_said() -> None:
    (condition,) = parse(against(PLUS={"parameter": "margin"}, Times=None)).measured
    assert isinstance(condition.limit, RelativeLimit)
    assert (condition.limit.times, condition.limit.plus) == (Decimal(1), Parameter("margin"))
    assert condition.limit.plus_deviations is None
    named = against(
        {**MEASURE, "filter": {"field": "paymentAmount", "operator": ">", "value": {"parameter": "few"}}}
    )
    named["limit"]["times"] = {"parameter": "much"}
    assert parse(named).parameters == {"few", "much"}


def test_so_many_deviations_more() -> None:
    definition = parse(against(times="1", plusDEVIATIONS=3))
    (condition,) = definition.measured
    assert isinstance(condition.limit, RelativeLimit)
    assert condition.limit.plus_deviations == Decimal(3)
    assert condition.limit.to_json()["plusDeviations"] == "3"
    assert parse(definition.to_json()["conditions"]) == definition
    # of one value there is an average and no deviation, so none of them is not the same as nothing said
    assert parse(against(plusDeviations="0")).hash != parse(against(plusDeviations=None)).hash
    assert parse(against(plusDeviations={"parameter": "many"})).parameters == {"many"}


def test_a_deviation_on_either_side_and_over_a_part_of_its_window() -> None:
    deviating = {"aggregatorFunctionType": "STDDEV", "offsetSeconds": DAY}
    definition = parse({**against({**MEASURE, **deviating}, plus="1"), **deviating})
    (condition,) = definition.measured
    assert condition.baseline is not None
    assert [condition.function, condition.baseline.function] == ["STDDEV", "STDDEV"]
    assert parse(definition.to_json()["conditions"]) == definition


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ({"offsetSeconds": 0, "includeCurrent": True, "minimumCount": 0}, {}),
        ({"OFFSETSECONDS": "60", "minimumcount": "2"}, {"offsetSeconds": 60, "minimumCount": 2}),
        ({"includeCurrent": False}, {"includeCurrent": False}),
        ({"offsetSeconds": 60, "includeCurrent": False}, {"offsetSeconds": 60}),
        ({"offsetSeconds": 60, "includeCurrent": True}, {"offsetSeconds": 60}),
        ({"offsetSeconds": None, "includeCurrent": None, "minimumCount": None}, {}),
    ],
)
def test_what_is_said_of_the_window_and_what_it_means(said: dict[str, Any], meant: dict[str, Any]) -> None:
    assert parse(changed(**said)).to_json()["conditions"] == {**SUM_JSON, **meant}


def test_a_definition_without_any_of_it_keeps_its_hash() -> None:
    assert parse(SUM_JSON).hash == parse(changed(offsetSeconds=0, includeCurrent=True, minimumCount=0)).hash


def test_group_anchor_and_history_are_those_of_all_measures() -> None:
    measure = {**MEASURE, "groupingKeyNames": ["paymentType", "payerId"], "filter": CASH}
    definition = parse(changed(offsetSeconds=60, limit={"measure": measure}))
    assert definition.grouping_key_names == ("payeeId", "paymentType")
    assert definition.shared_fields == ("payeeId",)
    assert anchor_of(definition, TRANSACTION) == "payeeId"
    assert [
        (window["groupingKeyNames"], window["windowSeconds"])
        for window in widest_windows([(1, 1, definition)])
    ] == [(["payeeId"], 3660), (["payeeId", "paymentType"], 31 * DAY)]


def test_one_global_group_has_one_global_measure() -> None:
    everywhere = against({**MEASURE, "groupingKeyNames": []})
    assert parse({**everywhere, "groupingKeyNames": []}).shared_fields == ()
    assert "share a field" in problems(everywhere)["conditions"]


WRONG: list[tuple[Any, str, str, str]] = [
    (changed(offsetSeconds=-1), "offsetSeconds", "from 0 to 34560000", "an offset into the future"),
    (changed(offsetSeconds=1.5), "offsetSeconds", "whole number", "a part of a second"),
    (changed(windowSeconds=34_560_000, offsetSeconds=1), "offsetSeconds", "with the window", "401 days"),
    (changed(includeCurrent="no"), "includeCurrent", "expected true or false", "a word"),
    (changed(minimumCount=10**9 + 1), "minimumCount", "from 0 to 1000000000", "too many"),
    (against(5), "limit.measure", "expected an object", "a number for a measure"),
    (against({}), "limit.measure", "an empty object", "nothing for a measure"),
    (against({**MEASURE, "limit": "5"}), "limit.measure.limit", "unknown field", "a limit of a measure"),
    (against({**MEASURE, "limitOperatorType": ">"}), "limit.measure.limitOperatorType", "unknown", "an operator"),
    (against({**MEASURE, "aggregatorFunctionType": "MEDIAN"}), "limit.measure.aggregatorFunctionType",
     "expected one of", "no function"),
    (against({**MEASURE, "windowSeconds": None}), "limit.measure.windowSeconds", "expected windowSeconds", "no window"),
    (against({**MEASURE, "filter": 5}), "limit.measure.filter", "expected an object", "no filter"),
    (against(times="x"), "limit.times", "decimal", "a word for a factor"),
    (against(plus=0.5), "limit.plus", "send it as text", "a float"),
    (against(plus={"list": "few"}), "limit.plus", "parameter", "a list for a number"),
    (against(more=1), "limit", "expected only measure, times, plus", "another member"),
    (against(TIMES=1, times=2), "limit", "each once", "a factor twice"),
    ({**against(), "LIMIT": "5"}, "limit", "given twice", "a limit twice"),
    (changed(aggregatorFunctionType="CHANGED", aggregateFieldName="paymentType", offsetSeconds=60),
     "offsetSeconds", "offsetSeconds with CHANGED", "the one before in a window that ends earlier"),
    (against({**MEASURE, "aggregatorFunctionType": "SECONDS_SINCE_FIRST", "aggregateFieldName": None,
              "offsetSeconds": 0, "includeCurrent": False}), "limit.measure.includeCurrent",
     "with SECONDS_SINCE_FIRST", "the first one without itself"),
    (against(plusDeviations="x"), "limit.plusDeviations", "decimal", "a word for a number of deviations"),
    (against(plusDeviations=1, plusdeviations=1), "limit", "each once", "deviations twice"),
    (against({**MEASURE, "aggregatorFunctionType": "SUM"}, plusDeviations="3"), "limit.plusDeviations",
     "expected AVG as the measure beside it, not SUM", "deviations of a sum"),
    (against({**MEASURE, "aggregatorFunctionType": "STDDEV"}, plusDeviations="3"), "limit.plusDeviations",
     "not STDDEV", "deviations of deviations"),
]  # fmt: skip


@pytest.mark.parametrize(("condition", "field", "said", "reason"), WRONG, ids=[case[-1] for case in WRONG])
def test_wrong(condition: Any, field: str, said: str, reason: str) -> None:
    assert said in problems(condition).get(f"conditions.{field}", ""), reason


def test_a_measure_behind_a_limit_counts_as_a_condition() -> None:
    parse({"all": [against()] * 8})
    assert "more than 16" in problems({"all": [against()] * 9})["conditions"]


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        (against(), "a relative limit"),
        (changed(offsetSeconds=600), "offsetSeconds"),
        (changed(includeCurrent=False), "includeCurrent"),
        (changed(minimumCount=2), "minimumCount"),
    ],
)
def test_not_in_buckets(condition: Any, said: str) -> None:
    assert f"bucketed with {said} has no clear" in problems(condition, precision="bucketed(600)")["precision"]


@pytest.mark.parametrize("beside", [{"lateEvents": "reevaluate"}, {"resetOnAlert": True}])
def test_neither_judged_again_nor_reset(beside: dict[str, Any]) -> None:
    assert any("no clear meaning" in message for message in problems(against(), **beside).values())


@pytest.mark.parametrize("name", ["offsetSeconds", "includeCurrent", "minimumCount"])
def test_a_rule_without_conditions_is_told_where_it_goes(name: str) -> None:
    with pytest.raises(InvalidDefinition) as refused:
        rule_definition.parse({**SUM_JSON, name: 1}, TRANSACTION)
    assert [(problem.field, problem.message) for problem in refused.value.problems] == [
        (name, "expected in conditions, which may be one alone, not beside them")
    ]
    with pytest.raises(InvalidDefinition) as refused:
        rule_definition.parse(against(), TRANSACTION)
    assert [problem.field for problem in refused.value.problems] == ["limit"]
