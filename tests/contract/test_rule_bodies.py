"""Rules to begin with and rules of the examples keep every schema that a rule has: in the registry's OpenAPI document,
normalised, and in files for editors."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from rules_registry.api.rule_schemas.rule_body import read_rule_body
from rules_registry.api.rule_schemas.rule_body_schema import BEYOND, BODY_SCHEMA, rule_body_schema
from rules_registry.api.rule_schemas.rule_components import rule_components
from rules_registry.domain.rule_files.editor_schema import PARTS, editor_schema
from tests.contract.support.example_files import (
    EXAMPLE_TYPES,
    EXAMPLES,
    TRANSACTION,
    example_id,
    examples_of,
    read_example,
    type_of,
)
from tripline_contracts import schemas
from tripline_contracts.event_type import EventType, Party, Side
from tripline_contracts.rules import legacy, rule_definition
from tripline_contracts.rules.rule_templates import templates_of
from tripline_http.errors import ProblemError

pytestmark = pytest.mark.contract

Json = dict[str, Any]


def _rules() -> Iterator[tuple[str, EventType, Json]]:
    for declared in EXAMPLE_TYPES:
        for template in templates_of(declared):
            yield f"{declared.name}/{template.template_id}", declared, dict(template.definition)
    for path in examples_of("rules.v1"):
        event = read_example(path)
        if "definition" in event:
            yield example_id(path), type_of(path), {"name": event["name"], **event["definition"]}
    for path in sorted((EXAMPLES / "rules").iterdir()):
        written = legacy.read_line(path.read_text(encoding="utf-8")).definition
        if written is not None:
            # in spellings of old systems
            read = rule_definition.parse(written, TRANSACTION).to_json()
            yield f"rules/{path.name}", TRANSACTION, {"name": path.stem, **read}


RULES = {name: (declared, body) for name, declared, body in _rules()}


@functools.cache
def _bodies(declared: EventType) -> Draft202012Validator:
    components = {"schemas": rule_components(declared)}
    return Draft202012Validator({"$ref": f"#/components/schemas/{BODY_SCHEMA}", "components": components})


@functools.cache
def _documents(declared: EventType) -> Draft202012Validator:
    return Draft202012Validator(editor_schema({name: schemas.load(name, declared) for name in PARTS}))


@functools.cache
def _normalised(declared: EventType) -> Callable[[object], None]:
    return schemas.validator("rule-definition", declared)


@pytest.mark.parametrize("name", RULES)
def test_a_rule_keeps_every_schema(name: str) -> None:
    declared, body = RULES[name]
    written = {member: value for member, value in body.items() if member != "name"}
    normalised = rule_definition.parse(written, declared).to_json()
    for told in (body, {"name": "n", **normalised}):
        _bodies(declared).validate(told)
        _documents(declared).validate(told)
    _normalised(declared)(normalised)


HOUR, MOST = 3_600, 34_560_000
STEP: Json = {"field": "paymentAmount", "step": "100"}
SIDE: Json = {"side": "payer"}
COUNT: Json = {
    "groupingKeyNames": ["payeeId"],
    "aggregatorFunctionType": "COUNT",
    "limitOperatorType": ">",
    "limit": "3",
    "windowSeconds": HOUR,
}
SUM: Json = {**COUNT, "aggregatorFunctionType": "SUM", "aggregateFieldName": "paymentAmount"}
WITHOUT_WINDOW: Json = {name: value for name, value in COUNT.items() if name != "windowSeconds"}
OLD_COUNT: Json = {**COUNT, "aggregatorFunctionType": "SUM", "aggregateFieldName": "COUNT_WITH_RESET_FLINK"}
BY_ACCOUNT: Json = {"groupingKeyNames": ["account"]}
BEHIND: Json = {name: SUM[name] for name in ("aggregatorFunctionType", "aggregateFieldName", "windowSeconds")}


def all_of(*conditions: Json, **more: Any) -> Json:
    return {"conditions": {"all": list(conditions)}, **more}


def nested(levels: int, word: str, inner: Json) -> Json:
    """That many levels, the innermost included."""
    return inner if levels == 1 else {word: [nested(levels - 1, word, inner)]}


SAID: list[tuple[str, Json]] = [
    ("an amount as it is, and in steps", {**COUNT, "groupingKeyNames": ["paymentAmount", STEP]}),
    ("an amount in two steps", {**COUNT, "groupingKeyNames": [STEP, {**STEP, "step": "7"}]}),
    ("twice the same steps, written in two ways", {**COUNT, "groupingKeyNames": [STEP, {**STEP, "step": 100}]}),
    ("a field twice", {**COUNT, "groupingKeyNames": ["payeeId", "payeeId"]}),
    ("a field twice in a condition", all_of({**COUNT, "groupingKeyNames": ["payeeId", "paymentAmount", STEP]})),
    ("a party, judged again", {**SUM, **BY_ACCOUNT, "lateEvents": "reevaluate"}),
    ("a party beside a field, judged again", {**COUNT, "groupingKeyNames": ["paymentType", "account"],
                                             "lateEvents": "reevaluate"}),
    ("a party that begins anew", {**SUM, **BY_ACCOUNT, "resetOnAlert": True}),
    ("a party that begins anew, as rules in the wild have it", {**OLD_COUNT, **BY_ACCOUNT}),
    ("longer than 400 days", {**COUNT, "windowSeconds": MOST + 1}),
    ("longer than 400 days, quoted", {**COUNT, "windowSeconds": str(MOST + 1)}),
    ("longer than 400 days, in minutes", {**WITHOUT_WINDOW, "windowMinutes": str(MOST // 60 + 1)}),
    ("a silence of more than 400 days", {**COUNT, "cooldownSeconds": str(MOST + 1)}),
    ("an offset of more than 400 days", all_of({**COUNT, "offsetSeconds": str(MOST + 1)})),
    ("buckets of more than 400 days", {**COUNT, "precision": f"bucketed({MOST + 1})"}),
    ("more contributors than there are", all_of({**COUNT, "minimumCount": "1000000001"})),
    ("judged again at crossings", {**COUNT, "lateEvents": "reevaluate", "firing": "crossing"}),
    ("different values in buckets", {**SUM, "aggregatorFunctionType": "COUNT_DISTINCT",
                                    "aggregateFieldName": "payeeId", "precision": "bucketed(60)"}),
    ("a deviation in buckets", all_of({**SUM, "aggregatorFunctionType": "STDDEV"}, precision="bucketed(60)")),
    ("a part of a window in buckets", all_of({**COUNT, "includeCurrent": False}, precision="bucketed(60)")),
    ("a measured limit in buckets", all_of({**COUNT, "limit": {"measure": BEHIND}}, precision="bucketed(60)")),
    ("deviations of a sum", all_of({**SUM, "limit": {"measure": BEHIND, "plusDeviations": "3"}})),
    ("a part of what looks at the one before", all_of({**COUNT, "aggregatorFunctionType": "SECONDS_SINCE_PREVIOUS",
                                                      "includeCurrent": False})),
]  # fmt: skip
BEYOND_IT: dict[str, list[Json]] = {
    "buckets": [
        {**COUNT, "precision": f"bucketed({HOUR + 1})"},
        {**COUNT, "windowSeconds": MOST, "precision": "bucketed(3455)"},
    ],
    "an offset": [all_of({**COUNT, "offsetSeconds": MOST - HOUR + 1})],
    "more than 16 conditions": [
        {"conditions": {"all": [{"any": [COUNT] * 9}, {"any": [COUNT] * 8}]}},
        all_of(*[{**SUM, "limit": {"measure": BEHIND}}] * 9),
    ],
    "more than 6 levels": [{"conditions": nested(7, "all", COUNT)}],
    "conditions and measures": [
        all_of(COUNT, {**COUNT, "groupingKeyNames": ["beneficiaryId"]}),
        all_of({**COUNT, "groupingKeyNames": ["paymentAmount", "payeeId"]},
               {**COUNT, "groupingKeyNames": [STEP, "payeeId"]}),
    ],
    "a party in some": [all_of({**COUNT, "groupingKeyNames": ["paymentType"]},
                               {**COUNT, "groupingKeyNames": ["account", "paymentType"]})],
    "a filter by side": [{**COUNT, "filter": SIDE}, all_of({**COUNT, "filter": {"not": SIDE}})],
    "filters": [
        {**COUNT, "filter": nested(13, "any", {"field": "payeeId", "isNull": True})},
        all_of(*[{**COUNT, "filter": {"any": [{"field": "payeeId", "isNull": True}] * 129}}] * 2),
    ],
    "a time zone": [{**COUNT, "filter": {"localTime": {"zone": "Europe/Atlantis", "from": "22:00", "to": "06:00"}}}],
}  # fmt: skip
"""By how the words in the description begin."""


def is_read(body: Json) -> bool:
    try:
        read_rule_body(body, TRANSACTION)
    except ProblemError:
        return False
    return True


@pytest.mark.parametrize("body", [body for _, body in SAID], ids=[reason for reason, _ in SAID])
def test_what_the_parser_refuses_the_document_refuses(body: Json) -> None:
    assert not is_read(body)
    assert not _bodies(TRANSACTION).is_valid(body)


@pytest.mark.parametrize("words", BEYOND)
def test_what_is_beyond_a_schema_is_listed_in_the_description_and_refused(words: str) -> None:
    assert words in rule_body_schema(TRANSACTION)["description"]
    (bodies,) = [bodies for beginning, bodies in BEYOND_IT.items() if words.startswith(beginning)]
    for body in bodies:
        assert _bodies(TRANSACTION).is_valid(body), body
        assert not is_read(body), body


@pytest.mark.parametrize(
    "body",
    [
        {**COUNT, "groupingKeyNames": ["paymentType", STEP, "account"]},
        {**COUNT, "lateEvents": "reevaluate", "groupingKeyNames": ["paymentAmount"]},
        {**COUNT, "resetOnAlert": True, "groupingKeyNames": [STEP]},
        {**SUM, **BY_ACCOUNT, "resetOnAlert": False, "filter": SIDE},
        {**OLD_COUNT, **BY_ACCOUNT, "aggregateFieldName": "COUNT_FLINK"},
        {**COUNT, "windowSeconds": str(MOST), "cooldownSeconds": str(MOST), "precision": f"bucketed({MOST})"},
        {**WITHOUT_WINDOW, "windowMinutes": str(MOST // 60)},
        all_of({**COUNT, "offsetSeconds": str(MOST - HOUR), "minimumCount": "1000000000"}),
        {"conditions": {"all": [{"any": [COUNT] * 8}, {"any": [COUNT] * 8}]}},
        {"conditions": nested(6, "all", COUNT)},
        all_of(
            COUNT,
            {"weighted": [{"weight": "1", "of": {"not": SUM}}], "atLeast": "1"},
            precision="bucketed(60)",
        ),
    ],
    ids=str,
)
def test_at_the_bounds_the_document_takes_what_the_parser_takes(body: Json) -> None:
    assert is_read(body)
    _bodies(TRANSACTION).validate(body)


def test_a_grouping_has_one_party_where_there_are_two() -> None:
    sides = (Side("of", "paymentType"), Side("to", "beneficiaryId"))
    text = replace(TRANSACTION.field("paymentType"), kind="string", values=(), max_length=64)
    fields = tuple(text if field.name == text.name else field for field in TRANSACTION.fields)
    declared = replace(TRANSACTION, fields=fields, parties=(*TRANSACTION.parties, Party("other", sides)))
    for names, fits in ((["account", "payeeId"], True), (["other"], True), (["account", "other"], False)):
        assert _bodies(declared).is_valid({**COUNT, "groupingKeyNames": names}) == fits
