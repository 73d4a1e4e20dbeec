"""The JSON Schemas (draft 2020-12) of what is on the topics, and checking values against them.

Strict about what Tripline writes, lenient about what others send it. What they say of fields is the event type's
(`type_schemas`).
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from importlib import resources
from typing import Any, Final

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from referencing import Registry, Resource

from tripline_contracts import event_type_loader, type_schemas
from tripline_contracts.errors import SchemaViolation, UnknownSchema
from tripline_contracts.event_type import EventType

_SUFFIX: Final = ".json"
_MOST_PLACES: Final = 10


def names() -> tuple[str, ...]:
    """The names of all schemas, sorted."""
    return tuple(sorted(_documents(event_type_loader.load())))


def load(name: str, declared: EventType | None = None) -> dict[str, Any]:
    """The schema of that name as JSON, for the default event type or another one; UnknownSchema if there is none."""
    try:
        return _documents(declared or event_type_loader.load())[name]
    except KeyError:
        raise UnknownSchema(f"no schema {name!r}; there are {', '.join(names())}") from None


def validator(name: str, declared: EventType | None = None) -> Callable[[object], None]:
    """A check that raises SchemaViolation for a value that does not keep the schema of that name; see `load`.

    Values are JSON as `exact_json.loads` reads it: Decimal is a number there, and 1.0 is no integer.
    """
    checker = _checker(name, declared or event_type_loader.load())

    def check(value: object) -> None:
        errors = sorted(checker.iter_errors(value), key=lambda error: error.json_path)
        if errors:
            messages = "; ".join(_place(error) for error in errors[:_MOST_PLACES])
            raise SchemaViolation(f"{name}: {messages}")

    return check


def _place(error: ValidationError) -> str:
    message = error.message if len(error.message) <= 200 else error.message[:200] + "…"
    return f"{error.json_path} {message}"


@functools.cache
def _checker(name: str, declared: EventType) -> Draft202012Validator:
    schema = load(name, declared)
    resources_by_id = [
        (document["$id"], Resource.from_contents(document)) for document in _documents(declared).values()
    ]
    registry: Registry[Any] = Registry().with_resources(resources_by_id)
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema, registry=registry)


@functools.cache
def _documents(declared: EventType) -> dict[str, dict[str, Any]]:
    folder = resources.files("tripline_contracts") / "schemas"
    files = [file for file in folder.iterdir() if file.name.endswith(_SUFFIX)]
    written = {f.name.removesuffix(_SUFFIX): json.loads(f.read_text(encoding="utf-8")) for f in files}
    return {**written, **type_schemas.documents(declared)}
