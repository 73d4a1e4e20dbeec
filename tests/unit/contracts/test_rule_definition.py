"""Rule definitions: every spelling found in the wild means the same, and every problem is named at once."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from decimal import Decimal
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.contracts.support.strategies import filters_of
from tripline_contracts import decimals, event_type_loader, schemas
from tripline_contracts.canonical import canonical_json, sha256_hex
from tripline_contracts.errors import InvalidDefinition, Problem
from tripline_contracts.filters.filter_parser import Comparison
from tripline_contracts.rules import rule_definition
from tripline_contracts.rules.precision import MAX_BUCKETS
from tripline_contracts.rules.rule_definition import Firing, Function, LateEvents, RuleDefinition
from tripline_contracts.spelling import OPERATORS

# a deadline per example would measure how busy the machine is
UNHURRIED = settings(deadline=None)

TRANSACTION = event_type_loader.load()

SPECIFIED: dict[str, Any] = {
    "ruleId": 1,
    "ruleState": "ACTIVE",
    "groupingKeyNames": ["payeeId", "beneficiaryId"],
    "unique": [],
    "aggregateFieldName": "paymentAmount",
    "aggregatorFunctionType": "SUM",
    "limitOperatorType": "GREATER",
    "limit": 20000000,
    "windowMinutes": 43200,
}
MEANT = RuleDefinition(
    ("beneficiaryId", "payeeId"), "SUM", "paymentAmount", ">", Decimal(20000000), 30 * 24 * 60 * 60
)
ABSENT = object()


def parse(**changes: object) -> RuleDefinition:
    data = {**SPECIFIED, **changes}
    return rule_definition.parse({k: v for k, v in data.items() if v is not ABSENT}, TRANSACTION)


def problems(**changes: object) -> dict[str, str]:
    with pytest.raises(InvalidDefinition) as refused:
        parse(**changes)
    return {problem.field: problem.message for problem in refused.value.problems}


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


WRONG: list[tuple[dict[str, Any], str, str, str]] = [
    ({"groupingKeyNames": ABSENT}, "groupingKeyNames", "[] for one global group", "absent is not the empty set"),
    ({"groupingKeyNames": None}, "groupingKeyNames", "[] for one global group", "null is not the empty set"),
    ({"groupingKeyNames": ["iban"]}, "groupingKeyNames", "payeeId, beneficiaryId", "an undeclared key"),
    ({"groupingKeyNames": ["eventTime"]}, "groupingKeyNames", "not 'eventTime'", "the time is no key"),
    ({"groupingKeyNames": ["transactionId"]}, "groupingKeyNames", "not 'transactionId'", "the id is no key"),
    ({"groupingKeyNames": ["ingestionTimestamp"]}, "groupingKeyNames", "not 'ingestion", "nor the ingestion time"),
    ({"groupingKeyNames": ["payeeId", "payerId"]}, "groupingKeyNames", "named twice", "one field by two names"),
    ({"groupingKeyNames": "(payeeId&)"}, "groupingKeyNames", "not ''", "nothing after the ampersand"),
    ({"groupingKeyNames": [1]}, "groupingKeyNames", "not a list", "a key that is no text"),
    ({"groupingKeyNames": 7}, "groupingKeyNames", "not 7", "no list at all"),
    ({"aggregatorFunctionType": "MEDIAN"}, "aggregatorFunctionType", "SUM, AVG, MIN, MAX, COUNT", "unknown"),
    ({"aggregatorFunctionType": None}, "aggregatorFunctionType", "SUM, AVG", "null"),
    ({"aggregatorFunctionType": 3}, "aggregatorFunctionType", "not 3", "no text"),
    ({"aggregatorFunctionType": "MAX", "aggregateFieldName": "COUNT_FLINK"}, "aggregatorFunctionType",
     "SUM or COUNT", "the greatest of ones is no count"),
    ({"aggregateFieldName": "payeeId"}, "aggregateFieldName", "paymentAmount", "a key is no measure"),
    ({"aggregateFieldName": None}, "aggregateFieldName", "paymentAmount", "SUM of nothing"),
    ({"aggregatorFunctionType": "COUNT", "aggregateFieldName": "payeeId"}, "aggregateFieldName",
     "counts transactions", "a field that may be null would count fewer"),
    ({"unique": ["payeeId"]}, "unique", "with a count only", "unique says nothing with SUM"),
    ({"unique": 5}, "unique", "list of one field name", "no list"),
    ({"unique": ["iban"], "aggregatorFunctionType": "COUNT"}, "unique", "payeeId, benef", "an undeclared field"),
    ({"unique": ["payeeId", "paymentType"], "aggregatorFunctionType": "COUNT"}, "unique", "one field", "combinations"),
    ({"aggregatorFunctionType": "COUNT_DISTINCT", "aggregateFieldName": "transactionId"}, "aggregateFieldName",
     "payeeId, beneficiaryId", "the id is always another one"),
    ({"aggregatorFunctionType": "COUNT_DISTINCT(payeeId)"}, "aggregateFieldName", "name different fields",
     "one inside, one beside"),
    ({"aggregatorFunctionType": "COUNT_DISTINCT", "aggregateFieldName": None}, "aggregateFieldName",
     "the field to look at", "different values of nothing"),
    ({"cooldownSeconds": 0}, "cooldownSeconds", "from 1 to 34560000 (400 days)", "none is said by leaving it out"),
    ({"cooldownSeconds": -1}, "cooldownSeconds", "whole number", "silent before the alert"),
    ({"cooldownSeconds": 34560001}, "cooldownSeconds", "400 days", "a second more than 400 days"),
    ({"cooldownSeconds": 1.5}, "cooldownSeconds", "whole number", "half a second"),
    ({"cooldownSeconds": "soon"}, "cooldownSeconds", "not 'soon'", "no number"),
    ({"cooldownSeconds": ""}, "cooldownSeconds", "whole number", "an empty text is no number"),
    ({"cooldownSeconds": True}, "cooldownSeconds", "whole number", "true is not a second"),
    ({"limitOperatorType": "=>"}, "limitOperatorType", ">= (GREATER_EQUAL)", "a symbol turned round"),
    ({"limitOperatorType": None}, "limitOperatorType", "= (EQUAL)", "null"),
    ({"limit": ABSENT}, "limit", "decimal number", "absent"),
    ({"limit": "much"}, "limit", "decimal number", "no number"),
    ({"limit": True}, "limit", "not True", "true is not 1"),
    ({"limit": 0.1}, "limit", "not a float", "a float is not exact any more"),
    ({"limit": "1e18"}, "limit", "below 10^18", "too large"),
    ({"limit": "0.0000001"}, "limit", "6 decimal places", "too fine"),
    ({"windowMinutes": ABSENT}, "windowSeconds", "windowSeconds or windowMinutes", "no window"),
    ({"windowMinutes": 0}, "windowMinutes", "from 1 to 576000", "a window of nothing"),
    ({"windowMinutes": -5}, "windowMinutes", "from 1 to 576000", "a window ahead"),
    ({"windowMinutes": 576001}, "windowMinutes", "400 days", "a minute more than 400 days"),
    ({"windowMinutes": 1.5}, "windowMinutes", "whole number", "half a minute"),
    ({"windowMinutes": float("inf")}, "windowMinutes", "whole number", "infinity is not whole"),
    ({"windowMinutes": "1e3"}, "windowMinutes", "whole number", "a window has no exponent"),
    ({"windowMinutes": True}, "windowMinutes", "whole number", "true is not 1"),
    ({"windowMinutes": 10**5000}, "windowMinutes", "more than 30 digits", "a number that cannot be printed"),
    ({"windowMinutes": ABSENT, "windowSeconds": 34560001}, "windowSeconds", "400 days", "a second too long"),
    ({"windowMinutes": 1, "windowSeconds": 61}, "windowSeconds", "disagree", "both, seconds more"),
    ({"windowMinutes": 2, "windowSeconds": 61}, "windowSeconds", "disagree", "both, seconds less"),
    ({"ruleState": "PAUSE"}, "ruleState", "expected ACTIVE", "pausing is another command"),
    ({"controlType": "CLEAR_STATE_ALL"}, "controlType", "expected null", "a control is no definition"),
    ({"window": 5}, "window", "unknown field", "an unknown field is named"),
    ({"LIMIT": 5}, "limit", "given twice", "one field in two cases"),
    ({"firing": "sometimes"}, "firing", "expected every", "unknown firing"),
    ({"precision": 5}, "precision", "expected exact", "unknown precision"),
    ({"firing": {"crossing": 1}}, "firing", "expected every or crossing, not an object", "an object is no word"),
    ({"lateEvents": "drop"}, "lateEvents", "expected evaluate, reevaluate or store", "unknown policy"),
    ({"resetOnAlert": "no"}, "resetOnAlert", "expected true or false", "neither true nor false"),
    ({"resetOnAlert": 0}, "resetOnAlert", "expected true or false", "0 is not false"),
    ({"aggregateFieldName": "COUNT_WITH_RESET_FLINK", "resetOnAlert": False}, "resetOnAlert", "expected true",
     "it resets, and it does not"),
    ({"all": []}, "all", "expected in conditions", "a chain is a member"),
    ({"NOT": {}}, "not", "expected in conditions", "a chain is a member, in any case"),
    ({"filter": {}}, "filter", "an empty object", "a filter that says nothing"),
    ({"filter": {"any": [{"field": "iban", "in": ["1"]}]}}, "filter.any[0].field", "payeeId", "a filter's path"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "field", "said", "reason"), WRONG, ids=[case[-1] for case in WRONG])
def test_wrong(changes: dict[str, Any], field: str, said: str, reason: str) -> None:
    assert said in problems(**changes).get(field, ""), reason


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


UNCLEAR: list[tuple[dict[str, Any], str, str]] = [
    ({"lateEvents": "reevaluate", "resetOnAlert": True}, "lateEvents", "resetOnAlert"),
    ({"lateEvents": "reevaluate", "aggregateFieldName": "COUNT_WITH_RESET_FLINK"}, "lateEvents", "resetOnAlert"),
    ({"lateEvents": "reevaluate", "firing": "crossing"}, "lateEvents", "crossing"),
    ({"lateEvents": "reevaluate", "cooldownSeconds": 60}, "lateEvents", "cooldownSeconds"),
    ({"lateEvents": "reevaluate", "precision": "bucketed(60)"}, "lateEvents", "bucketed"),
    ({"precision": {"bucketed": 60}, "resetOnAlert": True}, "precision", "resetOnAlert"),
    ({"precision": "bucketed(3600)", "aggregateFieldName": "COUNT_WITH_RESET_FLINK"}, "precision", "resetOnAlert"),
    ({"precision": "bucketed(60)", "aggregatorFunctionType": "COUNT", "unique": ["payeeId"]}, "precision",
     "COUNT_DISTINCT"),
    ({"precision": "bucketed(60)", "aggregatorFunctionType": "COUNT_DISTINCT(payeeId)"}, "precision",
     "COUNT_DISTINCT"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "field", "beside"), UNCLEAR, ids=[str(case[0])[:60] for case in UNCLEAR])
def test_combinations_without_a_clear_meaning(changes: dict[str, Any], field: str, beside: str) -> None:
    with pytest.raises(InvalidDefinition) as refused:
        parse(**changes)
    said = [problem.message for problem in refused.value.problems if problem.field == field]
    assert any(f"with {beside} has no clear meaning" in message for message in said), said


def test_every_problem_at_once() -> None:
    with pytest.raises(InvalidDefinition) as refused:
        rule_definition.parse({"limt": 5, "firing": "seldom", "filter": {"not": 5}}, TRANSACTION)
    assert [problem.field for problem in refused.value.problems] == [
        "limt",
        "firing",
        "groupingKeyNames",
        "aggregatorFunctionType",
        "aggregateFieldName",
        "limitOperatorType",
        "limit",
        "windowSeconds",
        "filter.not",
    ]
    assert all(problem.field in str(refused.value) for problem in refused.value.problems)


@pytest.mark.parametrize("data", [[], "x", None, 5])
def test_what_is_no_object(data: Any) -> None:
    with pytest.raises(InvalidDefinition, match="expected an object"):
        rule_definition.parse(data, TRANSACTION)


@st.composite
def definitions(draw: st.DrawFn) -> RuleDefinition:
    function = draw(st.sampled_from(get_args(Function)))
    fields = {"COUNT": (None,), "COUNT_DISTINCT": TRANSACTION.groupable}.get(function, TRANSACTION.measures)
    late_events = draw(st.sampled_from(get_args(LateEvents)))
    again = late_events == "reevaluate"
    window_seconds = draw(st.integers(1, rule_definition.MAX_WINDOW_SECONDS))
    resets = not again and draw(st.booleans())
    in_buckets = not again and not resets and function != "COUNT_DISTINCT"
    buckets = st.integers(-(-window_seconds // MAX_BUCKETS), window_seconds)
    return RuleDefinition(
        tuple(sorted(draw(st.sets(st.sampled_from(TRANSACTION.groupable))))),
        function,
        draw(st.sampled_from(fields)),
        draw(st.sampled_from(list(OPERATORS.values()))),
        decimals.from_scaled(draw(st.integers(-(10**24) + 1, 10**24 - 1))),
        window_seconds,
        firing="every" if again else draw(st.sampled_from(get_args(Firing))),
        late_events=late_events,
        bucket_seconds=draw(st.none() | buckets) if in_buckets else None,
        filter=draw(st.none() | filters_of(TRANSACTION)),
        reset_on_alert=resets,
        cooldown_seconds=None
        if again
        else draw(st.none() | st.integers(1, rule_definition.MAX_WINDOW_SECONDS)),
    )


@UNHURRIED
@given(definitions())
def test_parse_of_to_json_is_identity(definition: RuleDefinition) -> None:
    carried = json.loads(json.dumps(definition.to_json()))
    schemas.validator("rule-definition")(carried)
    assert rule_definition.parse(carried, TRANSACTION) == definition


@UNHURRIED
@given(definitions(), st.data())
def test_the_hash_does_not_depend_on_order_or_spelling(
    definition: RuleDefinition, data: st.DataObject
) -> None:
    spelled = dict(data.draw(st.permutations(list(definition.to_json().items()))))
    spelled["groupingKeyNames"] = data.draw(st.permutations(list(definition.grouping_key_names)))
    spelled["limit"] = f"{definition.limit:E}"
    spelled["aggregatorFunctionType"] = f"({definition.function.lower()})"
    spelled["precision"] = f" {definition.precision.upper().replace('(', ' ( ')}"
    if definition.window_seconds % 60 == 0:
        spelled["windowMinutes"] = str(definition.window_seconds // 60)
    assert rule_definition.parse(spelled, TRANSACTION).hash == definition.hash


@settings(deadline=None, max_examples=30)
@given(definitions(), definitions())
def test_equal_hashes_mean_equal_definitions(one: RuleDefinition, other: RuleDefinition) -> None:
    assert (one.hash == other.hash) == (one == other)


def test_the_hash_by_the_standard_library() -> None:
    text = json.dumps(MEANT.to_json(), sort_keys=True, separators=(",", ":"))
    assert MEANT.hash == hashlib.sha256(text.encode()).hexdigest()
    assert MEANT.hash == sha256_hex(canonical_json(MEANT.to_json()))
    assert MEANT.hash == "b77bfadc6e1d9ccb17a0b45da18b4d715d02853e3da9ecef5a0c54bfb45f41a6"


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.decimals(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


# making the first text takes seconds where the character tables are not cached yet
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(
            [
                *SPECIFIED,
                "windowSeconds",
                "firing",
                "lateEvents",
                "precision",
                "filter",
                "resetOnAlert",
                "cooldownSeconds",
            ]
        ),
        JSON_VALUES,
    )
)
def test_garbage_is_refused_with_reasons_and_nothing_else(garbage: dict[str, Any]) -> None:
    found: list[Problem] | None = None
    try:
        rule_definition.parse({**SPECIFIED, **garbage}, TRANSACTION)
    except InvalidDefinition as refused:
        found = refused.problems
    assert found is None or (found and all(problem.field and problem.message for problem in found))
