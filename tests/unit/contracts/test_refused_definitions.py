"""Rule definitions that are refused: every problem is named at once."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.contracts.support.definition_samples import ABSENT, SPECIFIED, TRANSACTION, parse, problems
from tripline_contracts.errors import InvalidDefinition, Problem
from tripline_contracts.rules import rule_definition

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
    ({"aggregatorFunctionType": "CHANGED", "aggregateFieldName": None}, "aggregateFieldName", "the field to look at",
     "a change of nothing"),
    ({"aggregatorFunctionType": "CHANGED", "aggregateFieldName": "eventTime"}, "aggregateFieldName",
     "payeeId, beneficiaryId", "the time always changes"),
    ({"aggregatorFunctionType": "CHANGED(payeeId)", "aggregateFieldName": "beneficiaryId"}, "aggregateFieldName",
     "name different fields", "two that change"),
    ({"aggregatorFunctionType": "CHANGED", "aggregateFieldName": "payeeId", "unique": ["payeeId"]}, "unique",
     "with a count only, not with CHANGED", "different ones that change"),
    ({"aggregatorFunctionType": "STDDEV", "aggregateFieldName": "payeeId"}, "aggregateFieldName", "paymentAmount",
     "a deviation of texts"),
    ({"aggregatorFunctionType": "SECONDS_SINCE_PREVIOUS"}, "aggregateFieldName", "looks at event times",
     "a time of amounts"),
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
    *(({"aggregatorFunctionType": function, "aggregateFieldName": field, **option}, name, beside)
      for function, field in (("SECONDS_SINCE_PREVIOUS", None), ("SECONDS_SINCE_FIRST", None),
                              ("CHANGED", "payeeId"), ("CHANGED(payeeId)", None), ("STDDEV", "paymentAmount"))
      for option, name, beside in (({"lateEvents": "reevaluate"}, "lateEvents", function.partition("(")[0]),
                                   ({"resetOnAlert": True}, "resetOnAlert", function.partition("(")[0]),
                                   ({"precision": "bucketed(60)"}, "precision", function.partition("(")[0]))),
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
    problems: list[Problem] | None = None
    try:
        rule_definition.parse({**SPECIFIED, **garbage}, TRANSACTION)
    except InvalidDefinition as refused:
        problems = refused.problems
    assert problems is None or (problems and all(problem.field and problem.message for problem in problems))
