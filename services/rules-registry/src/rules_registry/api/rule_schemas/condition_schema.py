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
from tripline_contracts.rules.measure_parser import MAX_MINIMUM_COUNT
from tripline_contracts.rules.rule_definition import MAX_WINDOW_SECONDS

MEASURE_SCHEMA = "RuleMeasure"
MEASURE_REF = {"$ref": f"#/components/schemas/{MEASURE_SCHEMA}"}
DEVIATING_SCHEMA = "RuleLimitInDeviations"
DEVIATING_REF = {"$ref": f"#/components/schemas/{DEVIATING_SCHEMA}"}
_WHOLE = "^(0|[1-9][0-9]{0,6})$"
_MEASURING = ("groupingKeyNames", "limitOperatorType", "limit")


def conditions_schema(event: EventType) -> Json:
    """The chain, and one closed object for each way to say what a condition measures."""
    maximum = condition_parser.MAX_CONDITIONS
    operands = {"type": "array", "minItems": 1, "maxItems": maximum, "items": CONDITIONS_REF}
    whole, parts = [times_since(), changed(event)], _of_parts(event)
    measured = [_relative(event, way) for way in parts] + [_condition(event, way) for way in (*whole, *parts)]
    return {
        "description": (
            "Whether the rule holds, of conditions with a grouping, window, limit and filter of their own. At most "
            f"{maximum} of them, {condition_parser.MAX_DEPTH} levels; all groupings share a field, and the filters "
            "together have the bounds of one. The other spellings of a rule's members are read here too. A condition "
            "may end its window offsetSeconds ago, leave the transaction at hand out of it (includeCurrent), have no "
            "value with fewer contributors than minimumCount, and be held against times × another measure + plus, "
            "and plusDeviations × the deviation of an average; offset and window together have at most 400 days, and a "
            "measure behind a limit counts as a condition."
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


def measure_schema(event: EventType) -> Json:
    """The measure behind a relative limit."""
    return {"anyOf": [_measure(event, way) for way in _of_parts(event)]}


def deviating_schema(event: EventType) -> Json:
    """A relative limit with so many deviations more: of an average alone."""
    number = common(event)["limit"]
    said = {"anyOf": [number, {"type": "null"}]}
    average = {**of_a_field(event), "aggregatorFunctionType": {"type": "string", "enum": ["AVG"]}}
    limit = _object(
        {"measure": _measure(event, average), "times": said, "plus": said, "plusDeviations": said}
    )
    return {
        **limit,
        "required": ["measure"],
        "description": "times the average, plus a number and so many sample deviations of the average's window",
    }


def _of_parts(event: EventType) -> list[Json]:
    """What can be measured over a part of a window too."""
    of_measures = [deviation(event), of_a_field(event)] if event.measures else []
    return [*of_measures, count(), different_values(event)]


def _relative(event: EventType, members: Json) -> Json:
    """A condition over a part of its window, perhaps with a measured limit.

    A schema can't add the offset to the window: halves of the most that both may have together fit always.
    """
    shared = common(event)
    number = shared["limit"]
    said = {"anyOf": [number, {"type": "null"}]}
    limit = {
        "type": "object",
        "properties": {"measure": MEASURE_REF, "times": said, "plus": said},
        "required": ["measure"],
        "additionalProperties": False,
        "description": "times (1 if left out) the measure, plus a number (0); the measure groups as the condition does "
        "unless it says otherwise",
    }
    limits = [number, limit, DEVIATING_REF] if event.measures else [number, limit]
    condition = _measure(event, members)
    condition["properties"]["limitOperatorType"] = shared["limitOperatorType"]
    condition["properties"]["limit"] = {"anyOf": limits}
    condition["required"] = sorted([*condition["required"], "groupingKeyNames", "limit", "limitOperatorType"])
    return condition


def _measure(event: EventType, members: Json) -> Json:
    """An aggregate over a part of a window."""
    half = MAX_WINDOW_SECONDS // 2
    measure = _object({**members, "windowSeconds": duration(half)})
    measure["properties"] |= {
        "groupingKeyNames": common(event)["groupingKeyNames"],
        "filter": FILTER_REF,
        "offsetSeconds": {
            **duration(half, "null"),
            "minimum": 0,
            "pattern": _WHOLE,
            "description": "How long before the transaction the window ends, that moment excluded",
        },
        "includeCurrent": {
            "type": ["boolean", "null"],
            "description": "Whether the transaction at hand is in it",
        },
        "minimumCount": {
            **duration(MAX_MINIMUM_COUNT, "null"),
            "minimum": 0,
            "pattern": _WHOLE,
            "description": "With fewer contributors there is no value, and the condition is false",
        },
    }
    return measure


def _object(properties: Json) -> Json:
    """Of these members; what can only be null may be left out."""
    return {
        "type": "object",
        "properties": properties,
        "required": sorted(name for name, schema in properties.items() if schema.get("type") != "null"),
        "additionalProperties": False,
    }
