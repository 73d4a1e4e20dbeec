"""JSON schemas: their fields are those of the event types, and nothing of ours has others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from rules_registry.domain.rule import MAX_NAME
from tests.contract.support.example_files import PACKAGE, TYPES, read_example
from tripline_contracts import (
    schemas,
    type_schemas,
)
from tripline_contracts.event_type import EventType

pytestmark = pytest.mark.contract


@pytest.mark.parametrize("declared", TYPES, ids=lambda declared: str(declared.name))
def test_the_schemas_know_the_event_type(declared: EventType) -> None:
    names = {field.name for field in declared.fields}
    aliases = {alias for field in declared.fields for alias in field.aliases}
    sent = schemas.load("transactions.v1", declared)
    assert set(sent["properties"]) == names | aliases
    assert set(sent["required"]) == {field.name for field in declared.fields if field.required}
    said = schemas.load("event-type", declared)["$defs"]
    assert set(said["transaction"]["properties"]) == set(said["wholeTransaction"]["required"]) == names
    assert set(said["transaction"]["required"]) == {declared.id_field.name, declared.time_field.name}
    assert set(said["groupable"]["enum"]) == set(declared.groupings)
    assert set(said["group"]["propertyNames"]["enum"]) == set(declared.groupings)
    assert said["aggregated"]["enum"] == [*declared.groupable, None]
    assert said["measure"]["enum"] == list(declared.measures)
    # a local time is always that of the event
    parts = [
        part["properties"]
        for part in said["comparison"]["anyOf"]
        if not {"localTime", "side"} & part["properties"].keys()
    ]
    compared = [part["field"]["enum"] for part in parts]
    assert {name for enum in compared for name in enum} == names - {declared.id_field.name}


@pytest.mark.parametrize("declared", TYPES, ids=lambda declared: str(declared.name))
def test_the_other_schemas_leave_fields_to_the_type(declared: EventType) -> None:
    members = {"transactionId", "eventTime", "kind"}  # of records, whatever the type calls its own
    field_names = {name for field in declared.fields for name in field.names} - members
    for path in (PACKAGE / "schemas").glob("*.json"):
        if path.stem not in type_schemas.documents(declared):
            assert not field_names & set(_words(read_example(path))), path


def _words(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
        for inner in value.values():
            yield from _words(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _words(inner)
    elif isinstance(value, str):
        yield value


@pytest.mark.parametrize("declared", TYPES, ids=lambda declared: str(declared.name))
def test_every_text_of_an_alert_has_a_greatest_length(declared: EventType) -> None:
    """Whoever writes to the topic could otherwise fill the database with one name."""
    documents = {f"{name}.json": schemas.load(name, declared) for name in schemas.names()}
    texts = list(_texts({"$ref": "alerts.v1.json"}, documents, set()))
    assert len(texts) > 10
    assert [text for text in texts if not {"maxLength", "pattern"} & set(text)] == []


def test_a_rules_name_may_be_as_long_as_the_registry_lets_it() -> None:
    assert schemas.load("alerts.v1")["properties"]["ruleName"]["maxLength"] == MAX_NAME


def _texts(schema: object, documents: Mapping[str, Any], seen: set[str]) -> Iterator[dict[str, Any]]:
    """All schemas of texts below that one, in other documents too."""
    if isinstance(schema, list):
        for inner in schema:
            yield from _texts(inner, documents, seen)
    if not isinstance(schema, dict):
        return
    if "string" in schema.get("type", ()):
        yield schema
    reference = schema.get("$ref")
    if reference is not None and reference not in seen:
        seen.add(reference)
        file, _, pointer = reference.partition("#/")
        target = documents[file]
        for word in pointer.split("/") if pointer else ():
            target = target[word]
        yield from _texts(target, documents, seen)
    for name, inner in schema.items():
        if name != "$defs":
            yield from _texts(inner, documents, seen)


def test_the_committed_schemas_of_the_types_are_what_the_types_say() -> None:
    committed = type_schemas.committed()
    for file, text in committed.items():
        assert (PACKAGE / "schemas" / file).read_text(encoding="utf-8") == text, (
            "drifted; run: python -m tripline_contracts.type_schemas"
        )
    folders = {path.parent for path in (PACKAGE / "schemas").rglob("*.json")}
    assert folders == {PACKAGE / "schemas" / file.parent for file in committed}


def _objects(schema: object) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for inner in schema.values():
            yield from _objects(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from _objects(inner)


@pytest.mark.parametrize("name", sorted(set(schemas.names()) - {"transactions.v1"}))
def test_what_tripline_writes_has_no_other_fields(name: str) -> None:
    # the envelopes of rules.v1 and of a reject's headers hand on to objects that are closed or name a type
    for schema in _objects(schemas.load(name)):
        assert "additionalProperties" in schema or schema.get("required") == ["type"], schema


def test_transactions_may_have_other_fields() -> None:
    assert "additionalProperties" not in schemas.load("transactions.v1")


def test_a_shadow_s_alert_is_an_alert_but_for_its_mode() -> None:
    """Written anew from alerts.v1.json, whose properties are read elsewhere as they stand."""
    alert, shadow = schemas.load("alerts.v1"), schemas.load("shadow-alerts.v1")
    named = {name: shadow[name] for name in ("$id", "title")}
    expected = {**alert, **named, "properties": {**alert["properties"], "mode": {"const": "shadow"}}}
    assert shadow == expected
