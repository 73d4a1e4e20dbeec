"""The conditions of a chained rule in JSON Schema for OpenAPI, as a program should send them."""

from __future__ import annotations

from rules_registry.api.rule_schemas.filter_schema import FILTER_REF
from rules_registry.api.rule_schemas.rule_body_schema import (
    CONDITIONS_REF,
    Json,
    changed,
    common,
    count,
    deviation,
    different_values,
    duration,
    of_a_field,
    times_since,
)
from tripline_contracts.event_type import EventType
from tripline_contracts.rules import condition_parser
from tripline_contracts.rules.rule_definition import MAX_WINDOW_SECONDS

_MEASURING = ("groupingKeyNames", "limitOperatorType", "limit")


def conditions_schema(event: EventType) -> Json:
    """The chain, and one closed object for each way to say what a condition measures."""
    maximum = condition_parser.MAX_CONDITIONS
    operands = {"type": "array", "minItems": 1, "maxItems": maximum, "items": CONDITIONS_REF}
    of_order = [times_since(), changed(event)]
    members = [*of_order, deviation(event), of_a_field(event)] if event.measures else of_order
    measured = [_condition(event, measure) for measure in (*members, count(), different_values(event))]
    return {
        "description": (
            "Whether the rule holds, of conditions with a grouping, window, limit and filter of their own. At most "
            f"{maximum} of them, {condition_parser.MAX_DEPTH} levels; all groupings share a field, and the filters "
            "together have the bounds of one. The other spellings of a rule's members are read here too."
        ),
        "anyOf": [
            _object({"all": operands}),
            _object({"any": operands}),
            _object({"not": CONDITIONS_REF}),
            _weighted(event, maximum),
            *measured,
        ],
    }


def _weighted(event: EventType, maximum: int) -> Json:
    """Holds where the weights of what holds add up."""
    number = {name: said for name, said in common(event)["limit"].items() if name != "description"}
    item = _object({"weight": number, "of": CONDITIONS_REF})
    items = {"type": "array", "minItems": 1, "maxItems": maximum, "items": item}
    return _object({"weighted": items, "atLeast": number})


def _condition(event: EventType, members: Json) -> Json:
    shared = {name: schema for name, schema in common(event).items() if name in _MEASURING}
    required = {**shared, **members, "windowSeconds": duration(MAX_WINDOW_SECONDS)}
    condition = _object(required)
    condition["properties"]["filter"] = FILTER_REF
    return condition


def _object(properties: Json) -> Json:
    return {
        "type": "object",
        "properties": properties,
        "required": sorted(properties),
        "additionalProperties": False,
    }
