"""Rules written as YAML: short, exact, and read alike by whoever reads YAML."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import given, settings

from rules_registry.domain.rule_files.editor_schema import PARTS, editor_schema
from rules_registry.domain.rule_files.rule_text import SCHEMA_HINT, files_of, rule_text
from rules_registry.domain.rule_files.yaml_documents import read_documents
from tests.unit.rules_registry.support.rule_files import (
    DEFINITIONS,
    MUCH,
    TRANSACTION,
    all_standing,
    desired,
    standing,
)
from tripline_contracts import schemas
from tripline_contracts.rules.rule_definition import RuleDefinition

(RULE,) = desired(MUCH)
FILTER = """\
filter:
  all:
  - {field: paymentType, operator: =, value: CRD}
  - field: payeeId
    in: ["007", NO, a]
"""
SCHEMA = editor_schema({name: schemas.load(name, TRANSACTION) for name in PARTS})
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def test_what_holds_anyway_is_left_out() -> None:
    (rule,) = desired(MUCH + FILTER)
    sorted_by_name = dict(sorted(rule.definition.to_json().items()))
    assert rule_text(standing(rule, definition=sorted_by_name)) == (
        "name: Much\ngroupingKeyNames: [payeeId]\naggregatorFunctionType: SUM\naggregateFieldName: paymentAmount\n"
        "limitOperatorType: '>'\nlimit: 1000.5\nwindowSeconds: 1200\nfilter:\n  all:\n  - field: paymentType\n"
        '    operator: "="\n    value: CRD\n  - field: payeeId\n    in:\n    - "007"\n    - "NO"\n    - a\n'
    )


def test_a_file_for_each_rule_named_after_it() -> None:
    names = [
        "Much from one payer",
        "Étranger: 1",
        "much, from one payer!",
        "日本",
        "Twice",
        "Twice",
        "x" * 200,
    ]
    files = files_of(all_standing((name, RULE.definition) for name in names))
    assert list(files) == [
        "much-from-one-payer-1.yaml",
        "etranger-1.yaml",
        "much-from-one-payer-3.yaml",
        "rule-4.yaml",
        "twice-5.yaml",
        "twice-6.yaml",
        f"{'x' * 60}.yaml",
    ]
    assert all(text.startswith(f"{SCHEMA_HINT}\n") for text in files.values())
    assert [name for name, text in files.items() if "ruleId: " in text] == ["twice-5.yaml", "twice-6.yaml"]


def test_characters_that_hide_others_are_seen_in_the_file() -> None:
    value = "a\u202egnp.exe\u200b\x9b"
    body = {**RULE.definition.to_json(), "filter": {"field": "payeeId", "operator": "=", "value": value}}
    text = rule_text(standing(RULE, name="é", definition=body))
    assert '"a\\u202Egnp.exe\\u200B\\x9B"' in text
    assert text.isascii()
    (read,) = desired(text)
    assert (read.name, read.definition.to_json()) == ("é", body)


@settings(deadline=None, max_examples=60)
@given(DEFINITIONS)
def test_it_is_read_back_and_editors_find_nothing_wrong(definition: RuleDefinition) -> None:
    (rule,) = all_standing([("Any", definition)])
    text = rule_text(rule)
    (read,) = desired(text)
    assert read.definition == definition
    (document,) = read_documents(text)
    assert [error.message for error in VALIDATOR.iter_errors(document.value)] == []
    elsewhere = yaml.safe_load(text)
    assert json.loads(json.dumps(elsewhere)) == elsewhere, "no dates or times, wherever it is read"


def _fits(text: str) -> bool:
    (document,) = read_documents(text)
    return VALIDATOR.is_valid(document.value)


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        (MUCH, True),
        (MUCH + FILTER.replace("NO", '"5"'), True),
        (MUCH.replace("1000.50", "{parameter: high}"), True),
        (MUCH + "resetOnAlert: false\n", True),
        (MUCH.replace("SUM", "COUNT").replace("aggregateFieldName: paymentAmount\n", ""), True),
        (MUCH.replace("aggregateFieldName: paymentAmount\n", ""), False),
        (MUCH.replace("windowMinutes: 20\n", ""), False),
        (MUCH.replace("name: Much\n", ""), False),
        (MUCH.replace("name: Much", "ruleId: 7"), True),
        (MUCH.replace("payeeId", "payer"), False),
        (MUCH.replace("1000.50", "much"), False),
        (MUCH + "limt: 5\n", False),
        (MUCH + "lateEvents: reevaluate\nresetOnAlert: true\n", False),
        (MUCH + "conditions: {all: []}\n", False),
    ],
)
def test_editors_see_what_applying_would_refuse(text: str, fits: bool) -> None:
    assert _fits(text) is fits


def _references(schema: Any) -> set[str]:
    if isinstance(schema, dict):
        inner = {schema["$ref"]} if isinstance(schema.get("$ref"), str) else set()
        return inner.union(*map(_references, schema.values()))
    return set().union(*map(_references, schema)) if isinstance(schema, list) else set()


def test_the_schema_is_whole_in_itself() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert all(reference.startswith("#/") for reference in _references(SCHEMA))
