"""The registry's committed API description is what the app writes, and says what our conventions want said."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rules_registry.openapi_document import openapi_document

pytestmark = pytest.mark.contract

COMMITTED = Path(__file__).parents[2] / "contracts" / "openapi" / "rules-registry.json"
DOCUMENT: dict[str, Any] = json.loads(COMMITTED.read_text(encoding="utf-8"))
OPEN = {"/livez", "/readyz", "/metrics", "/openapi.json"}


def test_the_committed_document_is_current() -> None:
    regenerate = f"run: rules-registry openapi > contracts/openapi/{COMMITTED.name}"
    assert COMMITTED.read_text(encoding="utf-8") == openapi_document(), regenerate


def operations() -> Iterator[tuple[str, dict[str, Any]]]:
    """Each operation of the committed document as "METHOD /path", with what is said of it."""
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            if method != "parameters":
                yield f"{method.upper()} {path}", operation


def test_it_is_openapi_3_1() -> None:
    assert DOCUMENT["openapi"].startswith("3.1")


@pytest.mark.parametrize(("name", "operation"), list(operations()))
def test_an_operation_is_whole(name: str, operation: dict[str, Any]) -> None:
    responses = operation["responses"]
    assert operation["summary"], name
    assert operation["operationId"], name
    assert operation["security"] == [{"apiKey": []}], f"{name} needs a key"
    assert {"401", "403", "default"} <= set(responses), name
    for status, response in responses.items():
        if status == "default" or int(status) >= 400:
            assert _media_types(response) == {"application/problem+json"}, (name, status)


@pytest.mark.parametrize(
    "name",
    [
        "PUT /v1/rules/{rule_id}",
        "DELETE /v1/rules/{rule_id}",
        "POST /v1/rules/{rule_id}/pause",
        "POST /v1/rules/{rule_id}/resume",
        "PUT /v1/changes/{change_id}",
        "PUT /v1/settings",
    ],
)
def test_a_change_needs_if_match(name: str) -> None:
    operation = dict(operations())[name]
    (if_match,) = [parameter for parameter in operation["parameters"] if parameter.get("name") == "If-Match"]
    assert if_match["required"] is True
    assert {"412", "428"} <= set(operation["responses"])


def test_every_integer_is_bounded() -> None:
    loose = [where for where, schema in _schemas(DOCUMENT, "#") if _is_loose(schema)]
    assert loose == []


def _is_loose(schema: dict[str, Any]) -> bool:
    kinds = schema.get("type")
    is_integer = kinds == "integer" or (isinstance(kinds, list) and "integer" in kinds)
    return is_integer and not {"minimum", "maximum"} <= set(schema)


def _schemas(node: Any, where: str) -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(node, dict):
        if "type" in node:
            yield where, node
        for key, inner in node.items():
            yield from _schemas(inner, f"{where}/{key}")
    elif isinstance(node, list):
        for index, inner in enumerate(node):
            yield from _schemas(inner, f"{where}/{index}")


def _media_types(response: dict[str, Any]) -> set[str]:
    if "$ref" in response:
        response = DOCUMENT["components"]["responses"][response["$ref"].rsplit("/", 1)[1]]
    return set(response.get("content", {}))
