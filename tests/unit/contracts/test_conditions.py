"""Chained definitions: the spellings of their conditions, and the properties of the whole rule."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.contracts.support.condition_samples import (
    DISTINCT,
    DISTINCT_JSON,
    SCORE,
    SCORE_JSON,
    SUM,
    SUM_JSON,
    TRANSACTION,
    TREE,
    TREE_JSON,
    UNHURRIED,
    USUAL,
    chain,
    changed,
    parse,
)
from tests.unit.contracts.support.strategies import conditions_of, filters_of
from tripline_contracts import schemas
from tripline_contracts.rules import rule_definition
from tripline_contracts.rules.anchors import anchor_of
from tripline_contracts.rules.conditions import AllOf, AnyOf, ConditionTree, NotOf, leaves, weightings
from tripline_contracts.rules.rule_definition import Firing, RuleDefinition
from tripline_contracts.rules.widest_windows import widest_windows

FEW = 20
"""Of trees of conditions, which take long to draw."""


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


WEIGHTED: list[tuple[object, str]] = [
    (SCORE_JSON, "as it is kept"),
    ({"ATLEAST": "45.50", "Weighted": [{"OF": SUM_JSON, "Weight": 30},
                                       {"weight": {"PARAMETER": "many"}, "of": {"not": DISTINCT_JSON}}]},
     "members in any case and order, numbers in any spelling"),
]  # fmt: skip


@pytest.mark.parametrize(("conditions", "reason"), WEIGHTED, ids=[case[-1] for case in WEIGHTED])
def test_weights(conditions: object, reason: str) -> None:
    definition = parse(conditions)
    assert definition == RuleDefinition.chained(SCORE), reason
    assert definition.to_json()["conditions"] == SCORE_JSON
    assert definition.measured == (SUM, DISTINCT)
    assert definition.parameters == {"many"}
    assert list(weightings(AllOf((SUM, NotOf(SCORE))))) == [SCORE]


def test_a_condition_alone_is_no_plain_rule() -> None:
    assert parse(SUM_JSON) == RuleDefinition.chained(SUM)
    assert parse(SUM_JSON).hash != rule_definition.parse(SUM_JSON, TRANSACTION).hash


def test_the_bounds_are_within() -> None:
    assert len(parse({"all": [{"any": [SUM_JSON] * 8}, {"all": [SUM_JSON] * 8}]}).measured) == 16
    assert parse(chain(6)).measured == (SUM,)
    assert parse({"not": changed(groupingKeyNames=[])}).shared_fields == ()


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


@settings(UNHURRIED, max_examples=FEW)
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


@settings(UNHURRIED, max_examples=FEW)
@given(conditions_of(TRANSACTION))
def test_the_normalised_form_keeps_its_schema(tree: ConditionTree) -> None:
    schemas.validator("rule-definition")(RuleDefinition.chained(tree).to_json())
