"""The JSON Schema of a rule's document, for editors: that of normalised definitions, opened for how people write them.

People leave out what holds anyway, say windows in minutes too, and write decimals as numbers. Spellings that the parser
reads besides (any case, names of operators) are not in it: an editor should offer one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from rules_registry.domain.rule import MAX_NAME
from rules_registry.domain.rule_files.desired_rule import MAX_RULE_ID
from tripline_contracts import display_text
from tripline_contracts.event_type import MAX_TIMESTAMP
from tripline_contracts.rules.rule_definition import MAX_WINDOW_SECONDS

Json = dict[str, Any]
ROOT: Final = "rule-definition"
PARTS: Final = (ROOT, "conditions", "filter", "values", "event-type")
"""The schemas of the contracts that it is made of."""
_REGISTRY_MEMBERS: Final[Json] = {
    "name": {
        "description": "What the rule is known by",
        "type": "string",
        "minLength": 1,
        "maxLength": MAX_NAME,
        "pattern": display_text.NAME_PATTERN,
    },
    "ruleId": {
        "description": "Of a rule that there is: needed to give it another name, or where two have one",
        "type": "integer",
        "minimum": 1,
        "maximum": MAX_RULE_ID,
    },
    "effectiveFrom": {
        "description": "Event time in ms from which the definition holds; left out, a new one holds from now on",
        "type": "integer",
        "minimum": 0,
        "maximum": MAX_TIMESTAMP,
    },
    "effectiveUntil": {
        "description": "Event time in ms from which the definition judges nothing any more; left out, it has no end",
        "type": "integer",
        "minimum": 0,
        "maximum": MAX_TIMESTAMP,
    },
}
_MINUTES: Final[Json] = {
    "description": "in place of windowSeconds",
    "type": "integer",
    "minimum": 1,
    "maximum": MAX_WINDOW_SECONDS // 60,
}
_DECIMAL: Final[Json] = {
    "description": "decimal(24,6), a number or its text",
    "type": ["number", "string"],
    "pattern": r"^-?[0-9]{1,18}(\.[0-9]{1,6})?$",
}
_MAY_BE_ABSENT: Final = ("aggregateFieldName", "windowSeconds")
_OF_A_LIMIT: Final = ("measure", "times", "plus")


def editor_schema(parts: Mapping[str, Json]) -> Json:
    """The schema, whole in itself, from the contracts' `PARTS` by name."""
    bundle = _Bundle(parts)
    root = bundle.rewritten(parts[ROOT], ROOT)
    del root["required"]
    return {
        **root,
        "$id": "https://schemas.tripline.example/rule-file.json",
        "title": "A document of a rule file",
        "description": "One rule, known by its name, or by its ruleId",
        "anyOf": [{"required": ["name"]}, {"required": ["ruleId"]}],
        "properties": {**_REGISTRY_MEMBERS, **root["properties"], "resetOnAlert": {"type": "boolean"}},
        "$defs": dict(sorted(bundle.definitions.items())),
    }


def schema_text(parts: Mapping[str, Json]) -> str:
    """The same as the text of a file."""
    return json.dumps(editor_schema(parts), indent=2) + "\n"


class _Bundle:
    """Schemas that refer to each other, being put into one."""

    def __init__(self, parts: Mapping[str, Json]) -> None:
        self._parts = parts
        self.definitions: Json = {}

    def rewritten(self, schema: Any, part: str) -> Any:
        """With references within the bundle, and opened."""
        if isinstance(schema, list):
            return [self.rewritten(inner, part) for inner in schema]
        if not isinstance(schema, dict):
            return schema
        plain = {
            name: self._reference(inner, part)
            if name == "$ref" and isinstance(inner, str)
            else self.rewritten(inner, part)
            for name, inner in schema.items()
            if name != "$defs"
        }
        return _opened(plain)

    def _reference(self, reference: str, part: str) -> str:
        file, _, pointer = reference.partition("#")
        target = file.removesuffix(".json") or part
        if target == ROOT:
            return f"#{pointer}"
        name = pointer.rpartition("/")[2] or target
        if name not in self.definitions:
            # first its name: a filter refers to itself
            self.definitions[name] = {}
            self.definitions[name] = (
                _DECIMAL if name == "decimal" else self.rewritten(self._target(target, pointer), target)
            )
        return f"#/$defs/{name}"

    def _target(self, part: str, pointer: str) -> Any:
        schema: Any = self._parts[part]
        for step in filter(None, pointer.split("/")):
            schema = schema[step]
        return {name: inner for name, inner in schema.items() if name not in ("$schema", "$id")}


def _opened(schema: Json) -> Json:
    """One schema without what only the normalised form has to have."""
    properties = schema.get("properties")
    if isinstance(properties, dict) and "windowSeconds" in properties:
        refused = properties["windowSeconds"] is False
        schema["properties"] = {**properties, "windowMinutes": False if refused else _MINUTES}
    required = schema.get("required")
    if isinstance(required, list) and "windowSeconds" in required:
        schema["required"] = [name for name in required if name not in _MAY_BE_ABSENT]
        schema["anyOf"] = [{"required": ["windowSeconds"]}, {"required": ["windowMinutes"]}]
        if "limit" not in (
            properties or {}
        ):  # the measure behind a limit, which groups as its condition does
            schema["required"].remove("groupingKeyNames")
    if required == [*_OF_A_LIMIT]:
        schema["required"] = ["measure"]
    if "if" in schema:
        return _opened_condition(schema)
    return schema


def _opened_condition(schema: Json) -> Json:
    """What is absent fulfils any schema: a condition is about what is there."""
    asked = schema["if"]
    if "properties" in asked:
        asked_for = dict.fromkeys([*asked.get("required", []), *asked["properties"]])
        schema["if"] = {**asked, "required": list(asked_for)}
    field = schema["then"].get("properties", {}).get("aggregateFieldName")
    if isinstance(field, dict) and field.get("type") != "null":
        schema["then"] = {**schema["then"], "required": ["aggregateFieldName"]}
    return schema
