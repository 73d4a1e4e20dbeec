"""A body's filter and options: what is described is read, what is not is refused, and both sides say so alike."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from jsonschema import Draft202012Validator

from rules_registry.api.rule_schemas.rule_body import read_rule_body
from rules_registry.api.rule_schemas.rule_body_schema import BODY_SCHEMA
from rules_registry.api.rule_schemas.rule_components import rule_components
from tests.unit.contracts.support.strategies import filters_of
from tests.unit.rules_registry.support.samples import BODY
from tripline_contracts import event_type_loader
from tripline_contracts.filters.filter_parser import Comparison, Filter, Not
from tripline_contracts.rules.aggregate import SINCE
from tripline_http.errors import ProblemError

TRANSACTION = event_type_loader.load()
SCHEMA = Draft202012Validator(
    {
        "$ref": f"#/components/schemas/{BODY_SCHEMA}",
        "components": {"schemas": rule_components(TRANSACTION)},
    }
)
CASH: dict[str, Any] = {"field": "paymentType", "operator": "=", "value": "CSH"}


def test_the_options_are_read() -> None:
    options = {"filter": {"not": CASH}, "firing": "crossing", "resetOnAlert": True, "lateEvents": "store"}
    SCHEMA.validate({**BODY, **options})
    definition = read_rule_body({**BODY, **options}).definition
    assert definition.filter == Not(Comparison("paymentType", "=", "CSH"))
    assert (definition.firing, definition.reset_on_alert, definition.late_events) == (
        "crossing",
        True,
        "store",
    )


def test_the_articles_count_that_resets() -> None:
    body = {**BODY, "aggregatorFunctionType": "SUM", "aggregateFieldName": "COUNT_WITH_RESET_FLINK"}
    SCHEMA.validate(body)
    definition = read_rule_body(body).definition
    assert (definition.function, definition.reset_on_alert) == ("COUNT", True)


OPTIONS: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"cooldownSeconds": 60}, {"cooldownSeconds": 60}, "a silence"),
    ({"cooldownSeconds": 34560000}, {"cooldownSeconds": 34560000}, "the longest"),
    ({"cooldownSeconds": "90"}, {"cooldownSeconds": 90}, "quoted"),
    ({"cooldownSeconds": None}, {}, "none"),
    ({"cooldownSeconds": 60, "firing": "crossing", "resetOnAlert": True, "lateEvents": "store"},
     {"cooldownSeconds": 60, "firing": "crossing", "resetOnAlert": True, "lateEvents": "store"}, "beside all others"),
    ({"lateEvents": "reevaluate"}, {"lateEvents": "reevaluate"}, "judging again"),
    ({"lateEvents": "reevaluate", "firing": "every", "resetOnAlert": False, "cooldownSeconds": None, "filter": CASH},
     {"lateEvents": "reevaluate", "filter": CASH}, "judging again beside what says nothing, and a filter"),
    *(({"aggregatorFunctionType": "COUNT_DISTINCT", "aggregateFieldName": name, "cooldownSeconds": 5},
       {"aggregatorFunctionType": "COUNT_DISTINCT", "aggregateFieldName": name, "cooldownSeconds": 5}, f"of {name}")
      for name in TRANSACTION.groupable),
    *(({"aggregatorFunctionType": "CHANGED", "aggregateFieldName": name, "firing": "crossing"},
       {"aggregatorFunctionType": "CHANGED", "aggregateFieldName": name, "firing": "crossing"}, f"changes of {name}")
      for name in TRANSACTION.groupable),
    ({"aggregatorFunctionType": "STDDEV"}, {"aggregatorFunctionType": "STDDEV"}, "a deviation"),
    *(({"aggregatorFunctionType": name, "aggregateFieldName": None, "lateEvents": "store", "resetOnAlert": False},
       {"aggregatorFunctionType": name, "aggregateFieldName": None, "lateEvents": "store"}, name)
      for name in SINCE),
    ({"aggregatorFunctionType": "COUNT", "aggregateFieldName": None, "lateEvents": "reevaluate"},
     {"aggregatorFunctionType": "COUNT", "aggregateFieldName": None, "lateEvents": "reevaluate"}, "a count, again"),
    ({"aggregatorFunctionType": "COUNT", "aggregateFieldName": None, "precision": "bucketed(90)"},
     {"aggregatorFunctionType": "COUNT", "aggregateFieldName": None, "precision": "bucketed(90)"}, "in buckets"),
    ({"groupingKeyNames": [{"field": "paymentAmount", "step": "12.5"}, "payeeId"]},
     {"groupingKeyNames": ["payeeId", {"field": "paymentAmount", "step": "12.5"}]}, "in steps, beside a field"),
    ({"groupingKeyNames": ["paymentType", "account"], "filter": {"not": {"side": "payer"}}},
     {"groupingKeyNames": ["account", "paymentType"], "filter": {"not": {"side": "payer"}}}, "a party, beside a field"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "kept", "reason"), OPTIONS, ids=[case[-1] for case in OPTIONS])
def test_what_is_described_is_kept(changes: dict[str, Any], kept: dict[str, Any], reason: str) -> None:
    SCHEMA.validate({**BODY, **changes})
    plain = read_rule_body(BODY).definition.to_json()
    assert read_rule_body({**BODY, **changes}).definition.to_json() == {**plain, **kept}, reason


READ_BESIDE: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"aggregatorFunctionType": "COUNT", "aggregateFieldName": None, "unique": ["payerId"]},
     {"aggregatorFunctionType": "COUNT_DISTINCT", "aggregateFieldName": "payeeId"}),
    ({"aggregatorFunctionType": "COUNT_DISTINCT(payeeId)", "aggregateFieldName": None},
     {"aggregatorFunctionType": "COUNT_DISTINCT", "aggregateFieldName": "payeeId"}),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "kept"), READ_BESIDE)
def test_what_is_only_told_in_words_is_read(changes: dict[str, Any], kept: dict[str, Any]) -> None:
    plain = read_rule_body(BODY).definition.to_json()
    assert read_rule_body({**BODY, **changes}).definition.to_json() == {**plain, **kept}


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=50)
@given(filters_of(TRANSACTION))
def test_every_filter_that_is_kept_is_described(drawn: Filter) -> None:
    body = {**BODY, "filter": drawn.to_json()}
    SCHEMA.validate(body)
    assert read_rule_body(body).definition.filter == drawn


WRONG: list[tuple[dict[str, Any], str, str]] = [
    (
        {"filter": {"all": [CASH, {**CASH, "value": "CHQ"}]}},
        "filter.all[1].value",
        "a path leads to the place",
    ),
    (
        {"filter": {"field": "payeeId", "operator": ">", "value": "1"}},
        "filter.operator",
        "texts have no order",
    ),
    ({"filter": {"field": "transactionId", "in": ["1"]}}, "filter.field", "the id is not compared"),
    ({"filter": {"field": "eventTime", "operator": ">", "value": "1"}}, "filter.value", "a time as text"),
    ({"filter": {"field": "payeeId", "in": ["1"] * 1001}}, "filter.in", "a list that is too long"),
    ({"filter": {**CASH, "also": 1}}, "filter", "an unknown key"),
    ({"filter": []}, "filter", "no object"),
    ({"firing": "once"}, "firing", "unknown firing"),
    ({"lateEvents": "again"}, "lateEvents", "unknown policy"),
    ({"lateEvents": "reevaluate", "firing": "crossing"}, "lateEvents", "crossing and judging again"),
    ({"lateEvents": "reevaluate", "resetOnAlert": True}, "lateEvents", "a reset and judging again"),
    ({"lateEvents": "reevaluate", "cooldownSeconds": 60}, "lateEvents", "a silence and judging again"),
    ({"cooldownSeconds": 0}, "cooldownSeconds", "a silence of nothing"),
    ({"cooldownSeconds": 34_560_001}, "cooldownSeconds", "a silence of more than 400 days"),
    ({"cooldownSeconds": "a while"}, "cooldownSeconds", "a silence that is no number"),
    (
        {"aggregatorFunctionType": "COUNT_DISTINCT", "aggregateFieldName": "eventTime"},
        "aggregateFieldName",
        "different times",
    ),
    (
        {"aggregatorFunctionType": "COUNT_DISTINCT", "aggregateFieldName": None},
        "aggregateFieldName",
        "of nothing",
    ),
    ({"resetOnAlert": "true"}, "resetOnAlert", "true as text"),
    (
        {"aggregatorFunctionType": "CHANGED", "aggregateFieldName": "payeeId", "resetOnAlert": True},
        "resetOnAlert",
        "a change and a reset",
    ),
    (
        {"aggregatorFunctionType": SINCE[0], "aggregateFieldName": None, "lateEvents": "reevaluate"},
        "lateEvents",
        "a time since, judged again",
    ),
    ({"aggregatorFunctionType": "STDDEV", "resetOnAlert": True}, "resetOnAlert", "a deviation and a reset"),
    (
        {"aggregatorFunctionType": "STDDEV", "lateEvents": "reevaluate"},
        "lateEvents",
        "a deviation, judged again",
    ),
    ({"aggregatorFunctionType": SINCE[1]}, "aggregateFieldName", "a time since the first of an amount"),
]


@pytest.mark.parametrize(("changes", "field", "reason"), WRONG, ids=[case[-1] for case in WRONG])
def test_wrong(changes: dict[str, Any], field: str, reason: str) -> None:
    with pytest.raises(ProblemError) as refused:
        read_rule_body({**BODY, **changes})
    assert [error.field for error in refused.value.errors] == [field], reason
    assert not SCHEMA.is_valid({**BODY, **changes}), reason
