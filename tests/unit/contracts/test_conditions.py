"""Chained definitions: how their conditions are read, what is refused, and what holds of the whole rule."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.contracts.support.strategies import conditions_of, filters_of
from tripline_contracts import event_type_loader, schemas
from tripline_contracts.errors import InvalidDefinition
from tripline_contracts.filters.filter_parser import Comparison
from tripline_contracts.filters.named_values import Parameter
from tripline_contracts.rules import rule_definition
from tripline_contracts.rules.anchors import anchor_of
from tripline_contracts.rules.conditions import AllOf, AnyOf, Condition, ConditionTree, NotOf, leaves
from tripline_contracts.rules.rule_definition import Firing, RuleDefinition
from tripline_contracts.rules.widest_windows import widest_windows

# a deadline per example would measure how busy the machine is
UNHURRIED = settings(deadline=None)

TRANSACTION = event_type_loader.load()

SUM = Condition(("payeeId",), "SUM", "paymentAmount", ">", Decimal(5000), 3600)
DISTINCT = Condition(("payeeId",), "COUNT_DISTINCT", "beneficiaryId", ">", Decimal(3), 1800)
USUAL = Condition(("beneficiaryId", "payeeId"), "AVG", "paymentAmount", "<", Parameter("usual"), 86400,
                  Comparison("paymentType", "=", "CSH"))  # fmt: skip
TREE = AllOf((SUM, DISTINCT, NotOf(USUAL)))

SUM_JSON: dict[str, Any] = {
    "groupingKeyNames": ["payeeId"],
    "aggregatorFunctionType": "SUM",
    "aggregateFieldName": "paymentAmount",
    "limitOperatorType": ">",
    "limit": "5000",
    "windowSeconds": 3600,
}
DISTINCT_JSON: dict[str, Any] = {
    **SUM_JSON, "aggregatorFunctionType": "COUNT_DISTINCT", "aggregateFieldName": "beneficiaryId",
    "limit": "3", "windowSeconds": 1800,
}  # fmt: skip
USUAL_JSON: dict[str, Any] = {
    "groupingKeyNames": ["beneficiaryId", "payeeId"],
    "aggregatorFunctionType": "AVG",
    "aggregateFieldName": "paymentAmount",
    "limitOperatorType": "<",
    "limit": {"parameter": "usual"},
    "windowSeconds": 86400,
    "filter": {"field": "paymentType", "operator": "=", "value": "CSH"},
}
TREE_JSON: dict[str, Any] = {"all": [SUM_JSON, DISTINCT_JSON, {"not": USUAL_JSON}]}


def parse(conditions: object, **beside: object) -> RuleDefinition:
    return rule_definition.parse({"conditions": conditions, **beside}, TRANSACTION)


def problems(conditions: object, **beside: object) -> dict[str, str]:
    with pytest.raises(InvalidDefinition) as refused:
        parse(conditions, **beside)
    return {problem.field: problem.message for problem in refused.value.problems}


def changed(**changes: object) -> dict[str, object]:
    return {name: value for name, value in {**SUM_JSON, **changes}.items() if value is not ...}


def chain(depth: int) -> dict[str, Any]:
    """A condition that deep, itself counted."""
    return SUM_JSON if depth == 1 else {"not": chain(depth - 1)}


def test_the_example_of_the_decision() -> None:
    definition = parse(TREE_JSON)
    assert definition == RuleDefinition.chained(TREE)
    assert definition.to_json() == {
        "conditions": TREE_JSON,
        "firing": "every",
        "lateEvents": "evaluate",
        "precision": "exact",
    }


def test_of_the_whole() -> None:
    definition = parse(TREE_JSON)
    assert definition.conditions == TREE
    assert definition.measured == leaves(TREE) == (SUM, DISTINCT, USUAL)
    assert definition.grouping_key_names == ("beneficiaryId", "payeeId")
    assert definition.shared_fields == ("payeeId",)
    assert definition.window_seconds == 86400
    assert definition.filter is None


def test_a_plain_rule_measures_one_condition() -> None:
    beside = {"field": "paymentType", "operator": "=", "value": "CSH"}
    plain = rule_definition.parse({**SUM_JSON, "filter": beside}, TRANSACTION)
    assert plain.conditions is None
    assert plain.measured == (SUM,)
    assert plain.shared_fields == plain.grouping_key_names == ("payeeId",)


def test_what_stays_beside_the_conditions() -> None:
    beside = {
        "firing": "crossing",
        "lateEvents": "store",
        "precision": "exact",
        "filter": {"field": "paymentAmount", "operator": ">=", "value": {"parameter": "small"}},
        "cooldownSeconds": 60,
    }
    definition = parse(TREE_JSON, **beside, resetOnAlert=False)
    assert definition.to_json() == {"conditions": TREE_JSON, **beside}
    assert definition.parameters == {"usual", "small"}


def test_buckets_are_those_of_every_condition() -> None:
    tree = {"all": [changed(), {"not": changed(windowSeconds=600)}]}
    definition = parse(tree, precision="bucketed( 600 )", firing="crossing", cooldownSeconds=5)
    assert definition.bucket_seconds == 600
    assert definition.to_json()["precision"] == "bucketed(600)"
    assert definition.hash != parse(tree, firing="crossing", cooldownSeconds=5).hash


IN_BUCKETS: list[tuple[Any, str, str, str]] = [
    ({"all": [SUM_JSON, changed(windowSeconds=599)]}, "bucketed(600)", "buckets of 1 to 599 seconds",
     "longer than one window"),
    ({"all": [SUM_JSON, {"not": changed(windowSeconds=60_001)}]}, "bucketed(6)", "buckets of 7 to 3600 seconds",
     "too many in one window"),
    ({"any": [changed(windowSeconds=1), changed(windowSeconds=10_001)]}, "bucketed(1)", "which is 1 s",
     "windows too different for any"),
    ({"any": [SUM_JSON, {"not": changed(aggregatorFunctionType="COUNT_DISTINCT", aggregateFieldName="payeeId")}]},
     "bucketed(600)", "with COUNT_DISTINCT has no clear meaning", "different values in one condition"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("tree", "precision", "said", "reason"), IN_BUCKETS, ids=[case[-1] for case in IN_BUCKETS]
)
def test_what_does_not_go_in_buckets(tree: Any, precision: str, said: str, reason: str) -> None:
    assert said in problems(tree, precision=precision)["precision"], reason


def test_lists_and_parameters_of_the_conditions_are_the_rule_s() -> None:
    watched = {"field": "payeeId", "in": {"list": "watched"}}
    amount = {"field": "paymentAmount", "operator": ">", "value": {"parameter": "small"}}
    definition = parse(
        {"any": [changed(filter=watched), changed(filter=amount, limit={"parameter": "high"})]},
        filter={"field": "paymentType", "in": {"list": "types"}},
    )
    assert definition.lists == {"watched", "types"}
    assert definition.parameters == {"small", "high"}


SPELLINGS: list[tuple[dict[str, Any], str]] = [
    (changed(groupingKeyNames="(payerId)"), "the grouping as text, by its other name"),
    (changed(limitOperatorType="GREATER"), "the operator by name"),
    (changed(windowSeconds=..., windowMinutes="60"), "the window in minutes"),
    ({key.upper(): value for key, value in SUM_JSON.items()}, "keys in any case"),
    (changed(unique=[], filter=None), "nulls and nothing"),
]


@pytest.mark.parametrize(("condition", "reason"), SPELLINGS, ids=[case[-1] for case in SPELLINGS])
def test_spellings_of_one_condition(condition: dict[str, Any], reason: str) -> None:
    assert parse({"ANY": [condition]}) == RuleDefinition.chained(AnyOf((SUM,))), reason


def test_a_condition_alone_is_no_plain_rule() -> None:
    assert parse(SUM_JSON) == RuleDefinition.chained(SUM)
    assert parse(SUM_JSON).hash != rule_definition.parse(SUM_JSON, TRANSACTION).hash


def test_the_bounds_are_within() -> None:
    assert len(parse({"all": [{"any": [SUM_JSON] * 8}, {"all": [SUM_JSON] * 8}]}).measured) == 16
    assert parse(chain(6)).measured == (SUM,)
    assert parse({"not": changed(groupingKeyNames=[])}).shared_fields == ()


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


def test_the_anchor_is_that_of_the_shared_fields() -> None:
    pair = changed(groupingKeyNames=["beneficiaryId", "payeeId"])
    beneficiary = changed(groupingKeyNames=["beneficiaryId"])
    by_type = changed(groupingKeyNames=["paymentType", "payeeId"])
    assert anchor_of(parse({"all": [pair, beneficiary]}), TRANSACTION) == "beneficiaryId"
    assert anchor_of(parse({"all": [pair, by_type]}), TRANSACTION) == "payeeId"
    assert (
        anchor_of(parse({"all": [by_type, changed(groupingKeyNames="paymentType")]}), TRANSACTION) == "global"
    )


def test_each_condition_s_grouping_has_its_widest_window() -> None:
    assert widest_windows([(7, 1, parse(TREE_JSON)), (8, 2, parse(changed(windowSeconds=3601)))]) == [
        {"groupingKeyNames": ["beneficiaryId", "payeeId"], "windowSeconds": 86400, "ruleId": 7, "version": 1},
        {"groupingKeyNames": ["payeeId"], "windowSeconds": 3601, "ruleId": 8, "version": 2},
    ]


@UNHURRIED
@given(
    st.builds(
        RuleDefinition.chained,
        conditions_of(TRANSACTION),
        firing=st.sampled_from(get_args(Firing)),
        filter=st.none() | filters_of(TRANSACTION),
        cooldown_seconds=st.none() | st.integers(1, 99),
    )
)
def test_parse_of_to_json_is_identity(definition: RuleDefinition) -> None:
    carried = json.loads(json.dumps(definition.to_json()))
    assert rule_definition.parse(carried, TRANSACTION) == definition


JSON_VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=3) | st.just(SUM_JSON),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["all", "any", "not", "limit", "x"]), inner, max_size=2)
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


@UNHURRIED
@given(conditions_of(TRANSACTION))
def test_the_normalised_form_keeps_its_schema(tree: ConditionTree) -> None:
    schemas.validator("rule-definition")(RuleDefinition.chained(tree).to_json())
