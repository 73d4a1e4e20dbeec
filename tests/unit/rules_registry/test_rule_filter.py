"""A body's filter and options: what is described is read, what is not is refused, and both sides say so alike."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from jsonschema import Draft202012Validator

from rules_registry.api.rule_body import BODY_SCHEMA, read_rule_body, rule_body_schema
from rules_registry.api.rule_filter import FILTER_SCHEMA, filter_schema
from tests.unit.contracts.drawing import filters_of
from tests.unit.rules_registry.samples import BODY
from tripline_contracts import event_type
from tripline_contracts.filters import Comparison, Filter, Not
from tripline_http.errors import ProblemError

TRANSACTION = event_type.load()
SCHEMA = Draft202012Validator(
    {
        "$ref": f"#/components/schemas/{BODY_SCHEMA}",
        "components": {
            "schemas": {BODY_SCHEMA: rule_body_schema(), FILTER_SCHEMA: filter_schema(TRANSACTION)},
        },
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
    ({"lateEvents": "reevaluate"}, "lateEvents", "not supported yet"),
    ({"resetOnAlert": "true"}, "resetOnAlert", "true as text"),
]


@pytest.mark.parametrize(("changes", "field", "reason"), WRONG, ids=[case[-1] for case in WRONG])
def test_wrong(changes: dict[str, Any], field: str, reason: str) -> None:
    with pytest.raises(ProblemError) as refused:
        read_rule_body({**BODY, **changes})
    assert [error.field for error in refused.value.errors] == [field], reason
    assert not SCHEMA.is_valid({**BODY, **changes}), reason
