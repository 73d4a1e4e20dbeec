"""Rule definitions: every spelling found in the wild means the same, and each option is kept."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from tests.unit.contracts.support.definition_samples import ABSENT, MEANT, SPECIFIED, TRANSACTION, parse
from tripline_contracts.filters.filter_parser import Comparison
from tripline_contracts.rules import rule_definition
from tripline_contracts.rules.rule_definition import RuleDefinition
from tripline_contracts.spelling import OPERATORS


def test_the_specification_s_example() -> None:
    assert parse() == MEANT
    assert MEANT.to_json() == {
        "groupingKeyNames": ["beneficiaryId", "payeeId"],
        "aggregatorFunctionType": "SUM",
        "aggregateFieldName": "paymentAmount",
        "limitOperatorType": ">",
        "limit": "20000000",
        "windowSeconds": 2592000,
        "firing": "every",
        "lateEvents": "evaluate",
        "precision": "exact",
    }


SPELLINGS: list[tuple[dict[str, Any], str]] = [
    ({"groupingKeyNames": ["beneficiaryId", "payeeId"]}, "the order of a set says nothing"),
    ({"groupingKeyNames": ["payerId", "beneficiaryId"]}, "the articles' other name of payeeId"),
    ({"groupingKeyNames": "(payeeId & beneficiaryId)"}, "a text with brackets and spaces"),
    ({"groupingKeyNames": "payeeId&beneficiaryId"}, "a text without brackets"),
    ({"groupingKeyNames": "[payeeId, beneficiaryId]"}, "a text with square brackets and commas"),
    ({"groupingKeyNames": ["(PAYEEID)", "beneficiaryid "]}, "a list with brackets, in any case"),
    ({"unique": ABSENT}, "unique is missing, as in the demo"),
    ({"unique": None}, "unique is null"),
    ({"unique": ""}, "unique is an empty text"),
    ({"unique": "()"}, "unique is an empty pair of brackets"),
    ({"aggregateFieldName": "(paymentAmount)"}, "the field in brackets"),
    ({"aggregateFieldName": "PAYMENTAMOUNT"}, "the field in capitals"),
    ({"aggregatorFunctionType": "sum"}, "the function in small letters"),
    ({"aggregatorFunctionType": " ( Sum ) "}, "the function in brackets, mixed"),
    ({"limitOperatorType": ">"}, "the operator by symbol"),
    ({"limitOperatorType": "(>)"}, "the operator's symbol in brackets"),
    ({"limitOperatorType": "greater"}, "the operator's name in small letters"),
    ({"limit": "20000000"}, "a quoted limit"),
    ({"limit": "(20000000)"}, "a limit in brackets"),
    ({"limit": "2e7"}, "the limit's value counts and not its spelling"),
    ({"limit": Decimal("20000000.000")}, "a limit with places that say nothing"),
    ({"windowMinutes": "43200"}, "a quoted window"),
    ({"windowMinutes": "(43200)"}, "a window in brackets"),
    ({"windowMinutes": 43200.0}, "a whole number from a reader that makes floats"),
    ({"windowMinutes": Decimal("43200.0")}, "a whole number from a reader that makes Decimals"),
    ({"windowMinutes": ABSENT, "windowSeconds": 2592000}, "the window in seconds"),
    ({"windowMinutes": None, "windowSeconds": "2592000"}, "null minutes are no minutes"),
    ({"windowSeconds": 2592000}, "both, and they agree"),
    ({"ruleId": ABSENT, "ruleState": ABSENT}, "a definition alone"),
    ({"ruleState": "(active)"}, "the state in brackets, in small letters"),
    ({"ruleState": None, "controlType": None, "ruleId": None}, "nulls are absent"),
    ({"firing": "every", "lateEvents": "evaluate", "precision": "exact"}, "the defaults said"),
    ({"firing": "EVERY", "lateEvents": None, "precision": " Exact "}, "the defaults in any case"),
    ({"filter": None, "cooldownSeconds": None, "resetOnAlert": False}, "options switched off"),
]


@pytest.mark.parametrize(("changes", "reason"), SPELLINGS, ids=[case[-1] for case in SPELLINGS])
def test_spellings_of_one_meaning(changes: dict[str, Any], reason: str) -> None:
    assert parse(**changes) == MEANT, reason
    assert parse(**changes).hash == MEANT.hash, reason


def test_keys_in_any_case() -> None:
    assert (
        rule_definition.parse({key.upper(): value for key, value in SPECIFIED.items()}, TRANSACTION) == MEANT
    )


@pytest.mark.parametrize(("name", "symbol"), OPERATORS.items())
def test_operators_by_name_and_symbol(name: str, symbol: str) -> None:
    assert parse(limitOperatorType=name).operator == symbol
    assert parse(limitOperatorType=symbol).operator == symbol


COUNTS: list[tuple[dict[str, Any], str]] = [
    ({"aggregateFieldName": "COUNT_FLINK"}, "the demo's way: a field that counts, with SUM"),
    ({"aggregateFieldName": "(count_flink)"}, "the same in brackets and small letters"),
    ({"aggregateFieldName": "COUNT_FLINK", "aggregatorFunctionType": "COUNT"}, "said twice"),
    ({"aggregateFieldName": "COUNT_FLINK", "aggregatorFunctionType": None}, "said by the field alone"),
    ({"aggregateFieldName": ABSENT, "aggregatorFunctionType": "COUNT"}, "COUNT needs no field"),
    ({"aggregateFieldName": None, "aggregatorFunctionType": "count"}, "COUNT with a null field"),
    ({"aggregateFieldName": "()", "aggregatorFunctionType": "(COUNT)"}, "COUNT with an empty field"),
    ({"aggregatorFunctionType": "COUNT"}, "COUNT of a field that is never null is the same"),
]


@pytest.mark.parametrize(("changes", "reason"), COUNTS, ids=[case[-1] for case in COUNTS])
def test_ways_to_say_count(changes: dict[str, Any], reason: str) -> None:
    definition = parse(**changes)
    assert (definition.function, definition.aggregate_field) == ("COUNT", None), reason


EDGES: list[tuple[dict[str, Any], str, object, str]] = [
    ({"groupingKeyNames": []}, "grouping_key_names", (), "no key: one global group"),
    ({"groupingKeyNames": "()"}, "grouping_key_names", (), "no key in brackets"),
    ({"groupingKeyNames": ["paymentAmount"]}, "grouping_key_names", ("paymentAmount",), "a measure as key"),
    ({"windowMinutes": ABSENT, "windowSeconds": 1}, "window_seconds", 1, "the shortest window"),
    ({"windowMinutes": 576000}, "window_seconds", 34560000, "400 days, the longest window"),
    (
        {"limit": "-999999999999999999.999999"},
        "limit",
        Decimal("-999999999999999999.999999"),
        "the least limit",
    ),
    ({"limit": 0}, "limit", Decimal(0), "a limit of zero is not absent"),
]


@pytest.mark.parametrize(("changes", "field", "value", "reason"), EDGES, ids=[case[-1] for case in EDGES])
def test_edges(changes: dict[str, Any], field: str, value: object, reason: str) -> None:
    assert getattr(parse(**changes), field) == value, reason


FILTER = Comparison("paymentType", "=", "CSH")
FEATURES: list[tuple[dict[str, Any], RuleDefinition, dict[str, Any], str]] = [
    ({"firing": "Crossing"}, replace(MEANT, firing="crossing"), {"firing": "crossing"}, "when it starts to hold"),
    ({"lateEvents": "STORE"}, replace(MEANT, late_events="store"), {"lateEvents": "store"}, "late ones only count"),
    ({"resetOnAlert": True}, replace(MEANT, reset_on_alert=True), {"resetOnAlert": True}, "begins anew"),
    ({"aggregateFieldName": "(count_with_reset_flink)"},
     replace(MEANT, function="COUNT", aggregate_field=None, reset_on_alert=True),
     {"aggregatorFunctionType": "COUNT", "aggregateFieldName": None, "resetOnAlert": True}, "the articles' way"),
    ({"aggregateFieldName": "COUNT_WITH_RESET_FLINK", "resetOnAlert": True},
     replace(MEANT, function="COUNT", aggregate_field=None, reset_on_alert=True),
     {"aggregatorFunctionType": "COUNT", "aggregateFieldName": None, "resetOnAlert": True}, "said twice"),
    ({"FILTER": {"field": "paymenttype", "operator": "EQUAL", "value": "CSH"}}, replace(MEANT, filter=FILTER),
     {"filter": {"field": "paymentType", "operator": "=", "value": "CSH"}}, "cash only"),
    ({"aggregatorFunctionType": "COUNT_DISTINCT(payerId)", "aggregateFieldName": ABSENT},
     replace(MEANT, function="COUNT_DISTINCT", aggregate_field="payeeId"),
     {"aggregatorFunctionType": "COUNT_DISTINCT", "aggregateFieldName": "payeeId"}, "different payers"),
    ({"aggregatorFunctionType": "Changed(payerId)", "aggregateFieldName": ABSENT},
     replace(MEANT, function="CHANGED", aggregate_field="payeeId"),
     {"aggregatorFunctionType": "CHANGED", "aggregateFieldName": "payeeId"}, "another payer than before"),
    ({"aggregatorFunctionType": "seconds_since_previous", "aggregateFieldName": None},
     replace(MEANT, function="SECONDS_SINCE_PREVIOUS", aggregate_field=None),
     {"aggregatorFunctionType": "SECONDS_SINCE_PREVIOUS", "aggregateFieldName": None}, "since the one before"),
    ({"aggregatorFunctionType": "(StdDev)", "firing": "crossing"},
     replace(MEANT, function="STDDEV", firing="crossing"),
     {"aggregatorFunctionType": "STDDEV", "firing": "crossing"}, "a deviation"),
    ({"aggregatorFunctionType": "SECONDS_SINCE_FIRST", "aggregateFieldName": "", "firing": "crossing",
      "cooldownSeconds": 5, "lateEvents": "store"},
     replace(MEANT, function="SECONDS_SINCE_FIRST", aggregate_field=None, firing="crossing", cooldown_seconds=5,
             late_events="store"),
     {"aggregatorFunctionType": "SECONDS_SINCE_FIRST", "aggregateFieldName": None, "firing": "crossing",
      "cooldownSeconds": 5, "lateEvents": "store"}, "since the first, beside everything that goes with it"),
    ({"aggregateFieldName": "COUNT_WITH_RESET_FLINK", "unique": ["paymentType"]},
     replace(MEANT, function="COUNT_DISTINCT", aggregate_field="paymentType", reset_on_alert=True),
     {"aggregatorFunctionType": "COUNT_DISTINCT", "aggregateFieldName": "paymentType", "resetOnAlert": True},
     "different types, and begins anew"),
    ({"cooldownSeconds": 1}, replace(MEANT, cooldown_seconds=1), {"cooldownSeconds": 1}, "the shortest silence"),
    ({"cooldownSeconds": "34560000"}, replace(MEANT, cooldown_seconds=34560000), {"cooldownSeconds": 34560000},
     "the longest silence, quoted"),
    ({"COOLDOWNSECONDS": 60.0}, replace(MEANT, cooldown_seconds=60), {"cooldownSeconds": 60}, "a whole float"),
    ({"cooldownSeconds": 60, "firing": "crossing", "resetOnAlert": True, "lateEvents": "store"},
     replace(MEANT, cooldown_seconds=60, firing="crossing", reset_on_alert=True, late_events="store"),
     {"cooldownSeconds": 60, "firing": "crossing", "resetOnAlert": True, "lateEvents": "store"},
     "a silence beside everything else"),
    ({"lateEvents": "(ReEvaluate)"}, replace(MEANT, late_events="reevaluate"), {"lateEvents": "reevaluate"},
     "what came after a late one is judged again"),
    ({"lateEvents": "reevaluate", "resetOnAlert": False, "firing": "every", "cooldownSeconds": None},
     replace(MEANT, late_events="reevaluate"), {"lateEvents": "reevaluate"}, "beside what says nothing"),
    ({"precision": "Bucketed ( 3600 )"}, replace(MEANT, bucket_seconds=3600), {"precision": "bucketed(3600)"},
     "buckets of an hour"),
    ({"precision": "bucketed(60)", "windowMinutes": 1, "firing": "crossing", "lateEvents": "store",
      "cooldownSeconds": 5},
     replace(MEANT, bucket_seconds=60, window_seconds=60, firing="crossing", late_events="store", cooldown_seconds=5),
     {"precision": "bucketed(60)", "windowSeconds": 60, "firing": "crossing", "lateEvents": "store",
      "cooldownSeconds": 5}, "buckets beside everything that goes with them"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "meant", "keys", "reason"), FEATURES, ids=[case[-1] for case in FEATURES]
)
def test_features(changes: dict[str, Any], meant: RuleDefinition, keys: dict[str, Any], reason: str) -> None:
    definition = parse(**changes)
    assert definition == meant, reason
    assert definition.to_json() == {**MEANT.to_json(), **keys}
    assert definition.hash != MEANT.hash


def test_what_is_not_used_leaves_no_trace() -> None:
    unused = parse(
        filter=None, resetOnAlert=False, firing="every", lateEvents="evaluate", cooldownSeconds=None
    )
    assert unused.hash == MEANT.hash
    assert not {"filter", "resetOnAlert", "cooldownSeconds"} & set(unused.to_json())
