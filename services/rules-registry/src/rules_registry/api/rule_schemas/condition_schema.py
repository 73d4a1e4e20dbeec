"""The conditions of a chained rule in JSON Schema for OpenAPI, as a program should send them."""

from __future__ import annotations

from collections.abc import Iterator

from rules_registry.api.rule_schemas.aggregate_members import (
    changed,
    count,
    deviation,
    different_values,
    of_a_field,
    speed,
    times_since,
)
from rules_registry.api.rule_schemas.filter_schema import FILTER_REF
from rules_registry.api.rule_schemas.grouping_schemas import GROUPING_REF
from rules_registry.api.rule_schemas.number_patterns import digits_up_to
from rules_registry.api.rule_schemas.rule_body_schema import (
    BUCKETED_CONDITIONS_REF,
    CONDITIONS_REF,
    Json,
    common,
    duration,
)
from tripline_contracts.event_type import EventType
from tripline_contracts.rules import condition_parser
from tripline_contracts.rules.measure_parser import MAX_MINIMUM_COUNT
from tripline_contracts.rules.rule_definition import MAX_WINDOW_SECONDS

MEASURE_SCHEMA = "RuleMeasure"
MEASURE_REF = {"$ref": f"#/components/schemas/{MEASURE_SCHEMA}"}
DEVIATING_SCHEMA = "RuleLimitInDeviations"
DEVIATING_REF = {"$ref": f"#/components/schemas/{DEVIATING_SCHEMA}"}
_FILTER: Json = {"anyOf": [FILTER_REF, {"type": "null"}]}


def conditions_schema(event: EventType) -> Json:
    """The chain, and one closed object for each way to say what a condition measures."""
    maximum = condition_parser.MAX_CONDITIONS
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
            *_together(CONDITIONS_REF),
            *(_condition(event, measure) for measure in _measures(event)),
        ],
    }


def bucketed_conditions_schema(event: EventType) -> Json:
    """The chain in buckets: sums, averages, extremes and counts of whole windows, against numbers."""
    shared = common()
    against = {name: shared[name] for name in ("limit", "limitOperatorType", "groupingKeyNames")}
    ways = [("an aggregate of a field", of_a_field(event))] if event.measures else []
    conditions = []
    for title, members in (*ways, ("a count", count())):
        condition = _object({**members, **against, "windowSeconds": duration(MAX_WINDOW_SECONDS)})
        condition["properties"]["filter"] = _FILTER
        conditions.append({"title": title, **condition})
    return {
        "description": "Conditions as of any rule, of what buckets can tell: no part of a window, no measured limit.",
        "anyOf": [*_together(BUCKETED_CONDITIONS_REF), *conditions],
    }


def _together(conditions: Json) -> list[Json]:
    """The ways to hold some of these conditions together."""
    maximum = condition_parser.MAX_CONDITIONS
    operands = {"type": "array", "minItems": 1, "maxItems": maximum, "items": conditions}
    return [
        _object({"all": operands}),
        _object({"any": operands}),
        _object({"not": conditions}),
        _weighted(conditions, maximum),
    ]


def _weighted(conditions: Json, maximum: int) -> Json:
    """Holds where the weights of what holds add up."""
    number = {name: said for name, said in common()["limit"].items() if name != "description"}
    item = _object({"weight": number, "of": conditions})
    items = {"type": "array", "minItems": 1, "maxItems": maximum, "items": item}
    return _object({"weighted": items, "atLeast": number})


def measure_schema(event: EventType) -> Json:
    """The measure behind a relative limit."""
    return {"anyOf": list(_measures(event))}


def deviating_schema(event: EventType) -> Json:
    """A relative limit with so many deviations more: of an average alone."""
    said = {"anyOf": [common()["limit"], {"type": "null"}]}
    average = {**of_a_field(event), "aggregatorFunctionType": {"type": "string", "enum": ["AVG"]}}
    measure = _of_parts("an average", average)
    limit = _object({"measure": measure, "times": said, "plus": said, "plusDeviations": said})
    return {
        **limit,
        "required": ["measure"],
        "description": "times the average, plus a number and so many sample deviations of the average's window",
    }


def _measures(event: EventType) -> Iterator[Json]:
    """What conditions and limits measure, a closed object for each way to say it."""
    if event.measures:
        yield _of_parts("an aggregate of a field", of_a_field(event))
        yield _of_parts("a deviation", deviation(event))
    yield _of_parts("a count", count())
    yield _of_parts("a count of different values", different_values(event))
    yield _measure("a time since", times_since())
    yield _measure("a change of a field", changed(event))
    if event.positions:
        yield _measure("a speed", speed(event))


def _condition(event: EventType, measure: Json) -> Json:
    """That measure, held against a number or against another measure."""
    shared = common()
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
    operator = shared["limitOperatorType"]
    return {
        **measure,
        "properties": {**measure["properties"], "limitOperatorType": operator, "limit": {"anyOf": limits}},
        "required": sorted([*measure["required"], "groupingKeyNames", "limit", "limitOperatorType"]),
    }


def _of_parts(title: str, members: Json) -> Json:
    """An aggregate over a part of a window, or all of it; a schema can't add the offset to the window."""
    measure = _measure(title, members)
    measure["properties"] |= {
        "offsetSeconds": {
            **duration(MAX_WINDOW_SECONDS, "null"),
            "minimum": 0,
            "pattern": f"^(0|{digits_up_to(MAX_WINDOW_SECONDS)})$",
            "description": "How long before the transaction the window ends, that moment excluded",
        },
        "includeCurrent": {
            "type": ["boolean", "null"],
            "description": "Whether the transaction at hand is in it",
        },
    }
    return measure


def _measure(title: str, members: Json) -> Json:
    measure = _object({**members, "windowSeconds": duration(MAX_WINDOW_SECONDS)})
    measure["properties"] |= {
        "groupingKeyNames": GROUPING_REF,
        "filter": _FILTER,
        "minimumCount": {
            **duration(MAX_MINIMUM_COUNT, "null"),
            "minimum": 0,
            "pattern": f"^(0|{digits_up_to(MAX_MINIMUM_COUNT)})$",
            "description": "With fewer contributors there is no value, and the condition is false",
        },
    }
    return {"title": title, **measure}


def _object(properties: Json) -> Json:
    """Of these members; what can only be null may be left out."""
    return {
        "type": "object",
        "properties": properties,
        "required": sorted(name for name, schema in properties.items() if schema.get("type") != "null"),
        "additionalProperties": False,
    }
