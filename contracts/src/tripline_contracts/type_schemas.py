"""The JSON Schemas that follow the event type: `transactions.v1`, and `event-type`, which the others refer to.

Those of the types that ship are committed, for readers and for tools: of the default among the other schemas, of every
other one in a folder of its name. `python -m tripline_contracts.type_schemas` writes them; a test says so when they
have drifted.
"""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from tripline_contracts import event_type, event_type_loader
from tripline_contracts.event_type import EventType, Field
from tripline_contracts.event_type_checks import MAX_TEXT
from tripline_contracts.filters.leaf_schemas import leaf_schemas
from tripline_contracts.normal_forms.ip_addresses import LONGEST_ADDRESS
from tripline_contracts.normal_forms.positions import EXPECTED_POSITION, WRITTEN_POSITION

Json = dict[str, Any]

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_BASE: Final = "https://schemas.tripline.example"
_NULL: Final[Json] = {"type": "null"}
_VALUE: Final = "values.json#/$defs/{}".format
_ADDRESS: Final[Json] = {"description": "an IPv4 or IPv6 address; an empty text is null"}
_POSITION: Final = "^-?[0-9]{1,2}(\\.[0-9]{1,6})?,-?[0-9]{1,3}(\\.[0-9]{1,6})?$"
_DECIMAL_TEXT: Final = "^-?[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)?$"


def documents(declared: EventType) -> dict[str, Json]:
    """The schemas of this type by their names."""
    return {"event-type": _event_type(declared), "transactions.v1": _transactions(declared)}


def _transactions(declared: EventType) -> Json:
    """The schema of what producers send: every field under each of its names."""
    properties: Json = {}
    for field in declared.fields:
        properties[field.name] = _sent(field)
        for alias in field.aliases:
            description = f"another name of {field.name}; if both are there they have to agree"
            properties[alias] = {**_sent(field), "description": description}
    return {
        "$schema": _DIALECT,
        "$id": f"{_BASE}/transactions.v1.json",
        "title": "A transaction, as producers send it",
        "description": "Other fields are let through and ignored. At most 65,536 bytes.",
        "type": "object",
        # under an alias it is there as well
        "required": [field.name for field in declared.fields if field.required and not field.aliases],
        "properties": properties,
    }


def _sent(field: Field) -> Json:
    none = [] if field.required else [_NULL]
    match field.kind:
        case "string":
            # an empty text is null
            least = {"minLength": 1} if field.required else {}
            text: Json = {"type": "string", **least, "maxLength": field.max_length}
            return {"anyOf": [text, {"type": "integer"}, *none]}
        case "timestamp":
            return _or_null({"$ref": _VALUE("time")}, field)
        case "decimal":
            return _decimal(none)
        case "enum":
            return _enum(field)
        case "ip":
            return {"anyOf": [{"type": "string", "maxLength": LONGEST_ADDRESS, **_ADDRESS}, *none]}
        case "position":
            # an empty text is null
            empty = "" if field.required else "|"
            written = f"^({WRITTEN_POSITION}{empty})$"
            described = {"description": EXPECTED_POSITION}
            return {"anyOf": [{"type": "string", "pattern": written, **described}, *none]}


def _decimal(none: list[Json]) -> Json:
    number = {
        "type": "number",
        "exclusiveMinimum": -1000000000000000000,
        "exclusiveMaximum": 1000000000000000000,
    }
    text = {"type": "string", "pattern": _DECIMAL_TEXT}
    return {"description": "decimal(24,6), a number or its text", "anyOf": [number, text, *none]}


def _event_type(declared: EventType) -> Json:
    """The definitions about fields that the schemas of rules, alerts and traces refer to."""
    groupable = sorted(declared.groupings)
    whole = [field.name for field in declared.fields]
    return {
        "$schema": _DIALECT,
        "$id": f"{_BASE}/event-type.json",
        "title": f"What is said of the fields of the event type {declared.name}",
        "$defs": {
            "groupable": {"enum": groupable},
            "grouping": _grouping(declared, groupable),
            "aggregated": {"enum": [*declared.groupable, None]},
            "side": {"enum": list(declared.sides)} if declared.sides else {"not": {}},
            "measure": {"enum": list(declared.measures)} if declared.measures else {"not": {}},
            "position": {"enum": list(declared.positions)} if declared.positions else {"not": {}},
            "group": {
                "type": "object",
                "propertyNames": {"enum": groupable},
                "additionalProperties": {"type": "string", "minLength": 1, "maxLength": MAX_TEXT},
            },
            "transaction": {
                "type": "object",
                "additionalProperties": False,
                "required": [declared.id_field.name, declared.time_field.name],
                "properties": {field.name: _read(field) for field in declared.fields},
            },
            "wholeTransaction": {"required": whole},
            "comparison": {
                "anyOf": [*_comparisons(declared), *_memberships(declared), *leaf_schemas(declared)]
            },
        },
    }


def _grouping(declared: EventType, groupable: list[str]) -> Json:
    """A field stands in it once, as it is or in steps."""
    step = {"$ref": _VALUE("decimal"), "pattern": "^[^-]*[1-9]"}
    stepped = (
        _object(field={"enum": list(declared.measures)}, step=step) if declared.measures else {"not": {}}
    )
    once = [
        {
            "contains": {
                "anyOf": [
                    {"const": name},
                    {
                        "type": "object",
                        "additionalProperties": True,
                        "properties": {"field": {"const": name}},
                    },
                ]
            },
            "minContains": 0,
            "maxContains": 1,
        }
        for name in declared.measures
    ]
    items = {"anyOf": [{"enum": groupable}, stepped]}
    return {"type": "array", "uniqueItems": True, "items": items, **({"allOf": once} if once else {})}


def _read(field: Field) -> Json:
    """As the engine has read it."""
    return _or_null(_constant(field), field) if field.kind != "enum" else _enum(field)


def _enum(field: Field) -> Json:
    return {"enum": [*field.values, *([] if field.required else [None])]}


def _or_null(schema: Json, field: Field) -> Json:
    return schema if field.required else {"anyOf": [schema, _NULL]}


def _constant(field: Field) -> Json:
    match field.kind:
        case "string":
            return {"type": "string", "minLength": 1, "maxLength": field.max_length}
        case "timestamp":
            return {"$ref": _VALUE("time")}
        case "decimal":
            return {"$ref": _VALUE("decimal")}
        case "enum":
            return {"enum": list(field.values)}
        case "ip":
            return {"type": "string", "pattern": "^[0-9a-f:.]{2,39}$"}
        case "position":
            return {"type": "string", "pattern": _POSITION}


def _alike(declared: EventType) -> list[list[Field]]:
    """The fields that filters compare, those together that are compared with the same constants."""

    def constants(field: Field) -> str:
        return repr((field.kind, field.values, field.max_length))

    compared = sorted((field for field in declared.fields if field.role != "id"), key=constants)
    return [list(group) for _, group in groupby(compared, constants)]


def _comparisons(declared: EventType) -> list[Json]:
    schemas = []
    for fields in _alike(declared):
        first, constant = fields[0], _constant(fields[0])
        if first.kind == "decimal":
            constant = {"anyOf": [constant, {"$ref": _VALUE("parameter")}]}
        ordered = first.kind in ("decimal", "timestamp")
        operator: Json = {"$ref": _VALUE("operator")} if ordered else {"enum": ["=", "!="]}
        schemas.append(_object(field=_one_of(fields), operator=operator, value=constant))
    return schemas


def _memberships(declared: EventType) -> list[Json]:
    schemas = []
    for fields in _alike(declared):
        constants = {
            "description": "ascending, each once",
            "type": "array",
            "minItems": 1,
            "maxItems": 1000,
            "uniqueItems": True,
            "items": _constant(fields[0]),
        }
        schemas.append(_object(**{"field": _one_of(fields), "in": constants}))
    texts = [field for field in declared.fields if field.role in ("key", "attribute")]
    listed = {
        "description": "the named list as it stood when the transaction was accepted",
        **_object(list={"$ref": _VALUE("name")}),
    }
    return [*schemas, _object(**{"field": _one_of(texts), "in": listed})]


def _one_of(fields: list[Field]) -> Json:
    return {"enum": [field.name for field in fields]}


def _object(**properties: Json) -> Json:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(properties),
        "properties": properties,
    }


def committed() -> dict[Path, str]:
    """The committed files, below the folder of the schemas, with their texts."""
    files = {}
    for name in event_type_loader.shipped():
        folder = Path() if name == event_type.DEFAULT else Path(name)
        for schema, document in documents(event_type_loader.load(name)).items():
            files[folder / f"{schema}.json"] = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    return files


def main() -> None:
    """Writes the committed files."""
    schemas = Path(__file__).parent / "schemas"
    for file, text in committed().items():
        (schemas / file).parent.mkdir(exist_ok=True)
        (schemas / file).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
