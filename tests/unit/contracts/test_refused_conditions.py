"""Chained definitions that are refused: the field and the message of each problem."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.contracts.support.condition_samples import (
    SUM,
    SUM_JSON,
    TREE_JSON,
    UNHURRIED,
    chain,
    changed,
    parse,
    problems,
)
from tripline_contracts.errors import InvalidDefinition

IN_BUCKETS: list[tuple[Any, str, str, str]] = [
    ({"all": [SUM_JSON, changed(windowSeconds=599)]}, "bucketed(600)", "buckets of 1 to 599 seconds",
     "longer than one window"),
    ({"all": [SUM_JSON, {"not": changed(windowSeconds=60_001)}]}, "bucketed(6)", "buckets of 7 to 3600 seconds",
     "too many in one window"),
    ({"any": [changed(windowSeconds=1), changed(windowSeconds=10_001)]}, "bucketed(1)", "which is 1 s",
     "windows too different for any"),
    ({"any": [SUM_JSON, {"not": changed(aggregatorFunctionType="COUNT_DISTINCT", aggregateFieldName="payeeId")}]},
     "bucketed(600)", "with COUNT_DISTINCT has no clear meaning", "different values in one condition"),
    ({"any": [SUM_JSON, changed(aggregatorFunctionType="CHANGED", aggregateFieldName="payeeId")]},
     "bucketed(600)", "with CHANGED has no clear meaning", "a change in one condition"),
    ({"any": [SUM_JSON, changed(aggregatorFunctionType="STDDEV")]},
     "bucketed(600)", "with STDDEV has no clear meaning", "a deviation in one condition"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("tree", "precision", "said", "reason"), IN_BUCKETS, ids=[case[-1] for case in IN_BUCKETS]
)
def test_what_does_not_go_in_buckets(tree: Any, precision: str, said: str, reason: str) -> None:
    assert said in problems(tree, precision=precision)["precision"], reason


WRONG: list[tuple[Any, str, str, str]] = [
    ([], "conditions", "not a list", "a list says neither all nor any"),
    ({}, "conditions", "not an empty object", "nothing"),
    ({"all": []}, "conditions.all", "1 to 16", "none"),
    ({"all": SUM_JSON}, "conditions.all", "1 to 16", "no list"),
    ({"any": [SUM_JSON] * 17}, "conditions.any", "1 to 16", "seventeen in one"),
    ({"any": [{"all": [SUM_JSON] * 9}] * 2}, "conditions", "more than 16", "eighteen in two"),
    ({"any": [{"all": [5] * 9}] * 2}, "conditions", "more than 16", "eighteen that are none"),
    ({"any": [{"all": [{"all": [], "any": []}] * 9}] * 2}, "conditions", "more than 16", "eighteen that are two"),
    (chain(7), "conditions.not.not.not.not.not", "nested more than 6", "seven levels"),
    ({"all": [SUM_JSON], "any": [SUM_JSON]}, "conditions", "all beside", "all and any"),
    ({"not": SUM_JSON, "limit": 5}, "conditions", "not beside", "not and a member"),
    ({"all": [SUM_JSON, {"not": None}]}, "conditions.all[1].not", "not None", "not of nothing"),
    ({"all": [SUM_JSON, changed(limit="x")]}, "conditions.all[1].limit", "decimal", "the path of a member"),
    ({"weighted": [{"weight": 1, "of": SUM_JSON}]}, "conditions", "weighted and atLeast", "weights for nothing"),
    ({"weighted": [], "atLeast": 1}, "conditions.weighted", "1 to 16", "no weights"),
    ({"weighted": {"weight": 1, "of": SUM_JSON}, "atLeast": 1}, "conditions.weighted", "1 to 16", "one weight"),
    ({"weighted": [SUM_JSON], "atLeast": 1}, "conditions.weighted[0]", "weight and of", "a condition without weight"),
    ({"weighted": [{"weight": 1, "of": SUM_JSON, "name": "n"}], "atLeast": 1}, "conditions.weighted[0]",
     "nothing else", "more than a weight"),
    ({"weighted": [{"weight": "x", "of": SUM_JSON}], "atLeast": 1}, "conditions.weighted[0].weight",
     "expected a decimal number", "no number"),
    ({"weighted": [{"weight": 0.5, "of": SUM_JSON}], "atLeast": 1}, "conditions.weighted[0].weight",
     "not a float", "a float"),
    ({"weighted": [{"weight": {"list": "l"}, "of": SUM_JSON}], "atLeast": 1}, "conditions.weighted[0].weight",
     '{"parameter": name}', "a list"),
    ({"weighted": [{"weight": 1, "of": SUM_JSON}], "atLeast": None}, "conditions.atLeast", "None", "not enough said"),
    ({"weighted": [{"weight": 1, "of": changed(limit="x")}], "atLeast": 1}, "conditions.weighted[0].of.limit",
     "decimal", "the path below a weight"),
    ({"any": [SUM_JSON], "weighted": [{"weight": 1, "of": SUM_JSON}]}, "conditions", "beside", "any and weights"),
    ({"any": [{"weighted": [{"weight": 1, "of": SUM_JSON}] * 9, "atLeast": 1}] * 2}, "conditions", "more than 16",
     "eighteen weighed"),
    (changed(windowSeconds=...), "conditions.windowSeconds", "expected windowSeconds", "no window"),
    (changed(filter={"any": [5]}), "conditions.filter.any[0]", "expected an object", "the path in a filter"),
    (changed(firing="every"), "conditions.firing", "unknown field", "the rule's member in a condition"),
    (changed(resetOnAlert=False), "conditions.resetOnAlert", "unknown field", "a condition has no reset"),
    (changed(ruleId=1), "conditions.ruleId", "unknown field", "a condition has no state"),
    (changed(conditions=SUM_JSON), "conditions.conditions", "unknown field", "a chain is not named anew"),
    (changed(aggregateFieldName="COUNT_WITH_RESET_FLINK"), "conditions.aggregateFieldName", "can't reset",
     "a count that resets"),
    ({"any": [SUM_JSON, changed(groupingKeyNames=["beneficiaryId"])]}, "conditions",
     "not [beneficiaryId], [payeeId]", "nothing shared"),
    ({"all": [SUM_JSON, changed(groupingKeyNames=[])]}, "conditions", "not [], [payeeId]", "the empty grouping"),
    ({"all": [changed(groupingKeyNames=[])] * 2}, "conditions", "not []", "two of the empty grouping"),
    ({"all": [changed(groupingKeyNames=["payeeId", "paymentType"]), SUM_JSON,
              changed(groupingKeyNames=["paymentType"])]}, "conditions", "share a field", "shared by pairs only"),
]  # fmt: skip


@pytest.mark.parametrize(("conditions", "field", "said", "reason"), WRONG, ids=[case[-1] for case in WRONG])
def test_wrong(conditions: Any, field: str, said: str, reason: str) -> None:
    assert said in problems(conditions).get(field, ""), reason


BESIDE: list[tuple[dict[str, Any], str, str]] = [
    *(({name: SUM_JSON[name]}, name, "beside conditions") for name in SUM_JSON),
    ({"windowMinutes": 5}, "windowMinutes", "beside conditions"),
    ({"unique": ["payeeId"]}, "unique", "beside conditions"),
    ({"resetOnAlert": True}, "conditions", "with resetOnAlert has no clear meaning"),
    ({"resetOnAlert": "no"}, "resetOnAlert", "expected true or false"),
    ({"lateEvents": "reevaluate"}, "lateEvents", "with conditions has no clear meaning"),
    ({"precision": "bucketed(x)"}, "precision", "expected exact, or bucketed(b)"),
    ({"all": [SUM_JSON]}, "all", "expected in conditions"),
    ({"weighted": [SUM_JSON]}, "weighted", "expected in conditions"),
    ({"filter": {}}, "filter", "an empty object"),
    ({"cooldownSeconds": 0}, "cooldownSeconds", "from 1"),
]


@pytest.mark.parametrize(("beside", "field", "said"), BESIDE, ids=[str(case[0])[:50] for case in BESIDE])
def test_refused_beside_conditions(beside: dict[str, Any], field: str, said: str) -> None:
    assert said in problems(TREE_JSON, **beside)[field]


def test_the_bounds_of_a_filter_are_those_of_all_filters_together() -> None:
    amounts = {"field": "paymentAmount", "in": [str(number) for number in range(1000)]}
    two = {"all": [changed(filter=amounts), SUM_JSON, changed(filter={"not": {"any": [amounts]}})]}
    assert parse(two).measured[1] == SUM
    one_more = {"field": "paymentType", "operator": "=", "value": "CSH"}
    assert "more than 2000 constants" in problems(two, filter=one_more)["conditions"]
    many = {"all": [{"field": "paymentAmount", "operator": ">", "value": {"parameter": "high"}}] * 129}
    assert (
        "more than 256 comparisons"
        in problems({"all": [changed(filter=many), changed(filter=many)]})["conditions"]
    )


JSON_VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=3) | st.just(SUM_JSON),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["all", "any", "not", "weighted", "atLeast", "of", "weight", "x"]),
            inner,
            max_size=2,
        )
    ),
    max_leaves=20,
)


@UNHURRIED
@given(JSON_VALUES)
def test_any_json_is_read_or_refused(conditions: object) -> None:
    try:
        definition = parse(conditions)
    except InvalidDefinition:
        return
    assert definition.conditions is not None
