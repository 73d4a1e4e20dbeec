"""Groupings by amounts in steps: how they are read, what is refused, and the group of a transaction."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.contracts.support.condition_samples import SUM_JSON, TRANSACTION, changed
from tests.unit.contracts.support.condition_samples import problems as chained_problems
from tripline_contracts import decimals, schemas
from tripline_contracts.errors import InvalidDefinition
from tripline_contracts.rules import grouping_keys, rule_definition
from tripline_contracts.rules.anchors import anchor_of
from tripline_contracts.rules.rule_definition import RuleDefinition
from tripline_contracts.rules.widest_windows import widest_windows, widest_windows_after

STEP = {"field": "paymentAmount", "step": "100"}


def parse(grouping: object) -> RuleDefinition:
    return rule_definition.parse({**SUM_JSON, "groupingKeyNames": grouping}, TRANSACTION)


READ: list[tuple[object, list[object], str]] = [
    ([STEP], [STEP], "alone"),
    ([STEP, "payerId"], ["payeeId", STEP], "beside a field, by its other name"),
    ([{"STEP": 100, "Field": "paymentamount"}, "beneficiaryId"], ["beneficiaryId", STEP], "in any case, as a number"),
    ([{"field": "paymentAmount", "step": "1e2"}], [STEP], "the value counts"),
    ([{"field": "paymentAmount", "step": Decimal("0.50")}], [{"field": "paymentAmount", "step": "0.5"}], "a decimal"),
    ([{"field": "paymentAmount", "step": "0.000001"}], [{"field": "paymentAmount", "step": "0.000001"}], "the least"),
    (["paymentAmount"], ["paymentAmount"], "exactly equal amounts, as before"),
]  # fmt: skip


@pytest.mark.parametrize(("written", "kept", "reason"), READ, ids=[case[-1] for case in READ])
def test_read(written: object, kept: list[object], reason: str) -> None:
    definition = parse(written)
    assert definition.to_json()["groupingKeyNames"] == kept, reason
    assert rule_definition.parse(json.loads(json.dumps(definition.to_json())), TRANSACTION) == definition
    schemas.validator("rule-definition")(definition.to_json())


REFUSED: list[tuple[object, str, str]] = [
    ([{"field": "payeeId", "step": "1"}], "expected steps of one of paymentAmount; not 'payeeId'", "of a text"),
    ([{"field": "eventTime", "step": "1"}], "expected steps of one of paymentAmount", "of a time"),
    ([{"field": 5, "step": "1"}], "not 5", "of no field"),
    ([{"field": "paymentAmount", "step": "0"}], "step: expected a decimal number above 0", "of nothing"),
    ([{"field": "paymentAmount", "step": "-1"}], "step: expected a decimal number above 0", "downwards"),
    ([{"field": "paymentAmount", "step": 0.5}], "step: expected a decimal number above 0, or its text", "a float"),
    ([{"field": "paymentAmount", "step": True}], "step: ", "a truth"),
    ([{"field": "paymentAmount", "step": None}], "step: expected", "none"),
    ([{"field": "paymentAmount", "step": "0.0000001"}], "step: at most 6 decimal places", "too fine"),
    ([{"field": "paymentAmount", "step": {"parameter": "p"}}], "step: expected", "a parameter"),
    ([{"field": "paymentAmount"}], "expected field and step", "without a step"),
    ([{**STEP, "offset": "1"}], "expected field and step, and nothing else", "with more"),
    ([STEP, "paymentAmount"], "paymentAmount is named twice", "the amount as it is beside it"),
    ([STEP, {**STEP, "step": "10"}], "paymentAmount is named twice", "two steps"),
    ([STEP, 5], "expected any of", "beside a number"),
    (STEP, "expected any of", "no list"),
]  # fmt: skip


@pytest.mark.parametrize(("grouping", "said", "reason"), REFUSED, ids=[case[-1] for case in REFUSED])
def test_refused(grouping: object, said: str, reason: str) -> None:
    with pytest.raises(InvalidDefinition) as refused:
        parse(grouping)
    (problem,) = refused.value.problems
    assert problem.field == "groupingKeyNames"
    assert said in problem.message, reason


def test_conditions_group_by_a_field_in_one_way() -> None:
    def by(*keys: object) -> dict[str, object]:
        return changed(groupingKeyNames=["payeeId", *keys])

    said = chained_problems({"all": [by(STEP), {"not": by("paymentAmount")}, by({**STEP, "step": 10})]})
    assert said == {
        "conditions": "expected one way to group by paymentAmount; not paymentAmount, paymentAmount in steps of 10, "
        "paymentAmount in steps of 100"
    }
    apart = chained_problems({"any": [changed(groupingKeyNames=[STEP]), SUM_JSON]})
    assert "not [payeeId], [paymentAmount in steps of 100]" in apart["conditions"]
    both = rule_definition.parse(
        {"conditions": {"any": [by(STEP), changed(groupingKeyNames=[STEP])]}}, TRANSACTION
    )
    assert both.shared_fields == ("paymentAmount~100",)
    assert anchor_of(both, TRANSACTION) == "global"
    assert anchor_of(parse([STEP, "payeeId"]), TRANSACTION) == "payeeId"


def test_a_measure_behind_a_limit_groups_in_the_same_way() -> None:
    usual = {"aggregatorFunctionType": "COUNT", "windowSeconds": 86_400, "offsetSeconds": 60}

    def against(**more: object) -> dict[str, object]:
        limit = {"measure": {**usual, **more}, "times": "3"}
        return {"conditions": changed(groupingKeyNames=["payeeId", STEP], limit=limit)}

    said = rule_definition.parse(against(), TRANSACTION)
    (condition,) = said.measured
    assert condition.baseline is not None
    assert condition.baseline.to_json()["groupingKeyNames"] == ["payeeId", STEP]
    schemas.validator("rule-definition")(said.to_json())
    assert said.shared_fields == ("payeeId", "paymentAmount~100")
    assert rule_definition.parse(against(groupingKeyNames=["payeeId"]), TRANSACTION).shared_fields == (
        "payeeId",
    )
    other = against(groupingKeyNames=["payeeId", {**STEP, "step": "10"}])
    apart = chained_problems(other["conditions"])
    assert apart == {
        "conditions": "expected one way to group by paymentAmount; not paymentAmount in steps of 10, "
        "paymentAmount in steps of 100"
    }


def test_each_step_needs_a_history_of_its_own() -> None:
    ten = {**STEP, "step": "10"}
    rules = [(1, 1, parse([STEP])), (2, 1, parse([ten])), (3, 1, parse(["paymentAmount"]))]
    before = widest_windows(rules)
    assert [entry["groupingKeyNames"] for entry in before] == [["paymentAmount"], [ten], [STEP]]
    assert widest_windows_after(before, 2, None) is None
    longer = rule_definition.parse(
        {**SUM_JSON, "groupingKeyNames": [STEP], "windowSeconds": 7200}, TRANSACTION
    )
    told = widest_windows_after(before, 4, (4, 1, longer))
    assert told is not None
    assert [(entry["ruleId"], entry["windowSeconds"]) for entry in told] == [(3, 3600), (2, 3600), (4, 7200)]


GROUPS: list[tuple[str | None, str, str | None]] = [
    ("0", "100", "0"),
    ("99.999999", "100", "0"),
    ("100", "100", "100"),
    ("-0.000001", "100", "-100"),
    ("-100", "100", "-100"),
    ("-100.000001", "100", "-200"),
    ("0.7", "0.25", "0.5"),
    ("7", "7.3", "0"),
    ("-999999999999999999.999999", "999999999999999999", "-1999999999999999998"),
    (None, "100", None),
]


@pytest.mark.parametrize(("amount", "step", "value"), GROUPS)
def test_the_group_of_a_transaction(amount: str | None, step: str, value: str | None) -> None:
    group = grouping_keys.group_of(
        ("payeeId", f"paymentAmount~{step}"), {"payeeId": "25", "paymentAmount": amount}
    )
    assert group == {"payeeId": "25", "paymentAmount": value}


@given(st.integers(1 - 10**24, 10**24 - 1), st.integers(1, 10**24 - 1))
def test_a_group_is_a_multiple_and_holds_its_amounts(amount: int, step: int) -> None:
    key = f"paymentAmount~{decimals.plain_scaled(step)}"
    values: dict[str, Any] = {"paymentAmount": decimals.plain_scaled(amount)}
    value = decimals.to_scaled(Decimal(str(grouping_keys.group_of([key], values)["paymentAmount"])))
    assert value % step == 0
    assert value <= amount < value + step
    assert grouping_keys.key_of_json(grouping_keys.key_json(key)) == key
    assert grouping_keys.step_of(key) == step
