"""Rules to begin with and rules of the examples keep every schema that a rule has: in the registry's OpenAPI document,
normalised, and in files for editors."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from rules_registry.api.rule_schemas.rule_body_schema import BODY_SCHEMA
from rules_registry.api.rule_schemas.rule_components import rule_components
from rules_registry.domain.rule_files.editor_schema import PARTS, editor_schema
from tests.contract.support.example_files import (
    EXAMPLES,
    PACKAGE,
    TRANSACTION,
    TYPES,
    example_id,
    examples_of,
    read_example,
    type_of,
)
from tripline_contracts import event_type_loader, schemas
from tripline_contracts.event_type import EventType
from tripline_contracts.rules import legacy, rule_definition
from tripline_contracts.rules.rule_templates import templates_of

pytestmark = pytest.mark.contract

DECLARED = PACKAGE / "rule_templates" / "catalogue" / "event-types" / "account-transfer.yaml"
TRANSFERS = event_type_loader.from_mapping(yaml.safe_load(DECLARED.read_text(encoding="utf-8")))
Json = dict[str, Any]


def _rules() -> Iterator[tuple[str, EventType, Json]]:
    for declared in (*TYPES, TRANSFERS):
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
