"""The registry's document without repetitions: what schemathesis tries of the bodies of rules."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from tripline_contracts import event_type_loader

_REPEATED = (
    "a count, judged again after a late one",
    "a count of different values, judged again after a late one",
    "a count, in buckets",
    "several conditions, in buckets",
)


def without_repetitions(document: dict[str, Any]) -> None:
    """The body of a rule is fourteen objects that differ in aggregate, window and options. Filters, operators, and
    what else is the same and need not be there are tried with the first, as is a grouping by amounts in steps; of what
    publishes or replaces a rule the first stands for all, and a shadow's, a change's and a backtest's has what it must
    have. Of conditions one is tried, plain and relative. What no schema can say is narrowed to what goes with
    everything: several conditions share a field, an offset is short enough, buckets fit into the window, a party takes
    no reset."""
    del document["paths"]["/v1/rules/import"]["post"]["requestBody"]["content"]["application/x-ndjson"]
    schemas = document["components"]["schemas"]
    schemas["Template"]["properties"]["definition"] = {"type": "object"}
    _narrow_parts(schemas)
    bodies = schemas["RuleBody"]["anyOf"]
    bodies[:] = [body for body in bodies if not body["title"].startswith(_REPEATED)]
    for body in bodies:
        # what they say of parties in a grouping, which has none here
        body.pop("if", None)
        body.pop("then", None)
        body["properties"].get("groupingKeyNames", {}).pop("not", None)
    first, *others = bodies
    replacing = document["paths"]["/v1/rules/{rule_id}"]["put"]["requestBody"]["content"]
    replacing["application/json"]["schema"] = deepcopy(first)
    replacing["application/json"]["schema"]["properties"]["filter"] = {"type": "null"}
    document["paths"]["/v1/rules"]["post"]["requestBody"]["content"] = replacing
    required = deepcopy(replacing["application/json"]["schema"])
    required["properties"] = {name: required["properties"][name] for name in required["required"]}
    schemas["BacktestBody"]["oneOf"][0]["properties"]["rule"] = required
    shadow = document["paths"]["/v1/rules/{rule_id}/shadow"]["post"]
    for operation in (shadow, document["paths"]["/v1/changes/{change_id}"]["put"]):
        operation["requestBody"]["content"] = {"application/json": {"schema": required}}
    for variant in others:
        _leave_out_what_repeats(variant, first, schemas)
        variant["properties"]["filter"] = {"type": "null"}
        if "limitOperatorType" in variant["properties"]:
            variant["properties"]["limitOperatorType"] = {"enum": [">="]}
        if "in buckets" in variant["title"]:
            variant["properties"]["precision"] = {"enum": ["bucketed(3600)"]}
            variant["properties"]["windowSeconds"] = {
                "type": "integer",
                "minimum": 3600,
                "maximum": 34_560_000,
            }
        if "conditions" in variant["properties"]:
            variant["properties"]["precision"] = {"enum": ["exact", None]}
    _narrow_conditions(schemas)


def _narrow_parts(schemas: dict[str, Any]) -> None:
    """Groupings by fields, or by one amount in steps; filters without sides, which are for parties alone. Each part of
    a filter is tried by itself; within all, any and not there is one of them, plain or with not before it."""
    fields = list(event_type_loader.load().groupable)
    either = schemas["RuleGrouping"]["items"]["anyOf"]
    by_fields = {"type": "array", "uniqueItems": True, "items": {"type": "string", "enum": fields}}
    step = deepcopy(either[1])
    step["properties"]["step"]["pattern"] = "^[1-9][0-9]{0,17}$"
    in_steps = {"type": "array", "minItems": 1, "maxItems": 1, "items": step}
    schemas["RuleGrouping"] = {"anyOf": [by_fields, in_steps]}
    parts = schemas["RuleFilter"]["anyOf"]
    parts[:] = [part for part in parts if "side" not in part["properties"]]
    one = next(part for part in parts if "value" in part["properties"])
    (no,) = [part for part in parts if "not" in part["properties"]]
    no["properties"]["not"] = one
    for name in ("all", "any"):
        (several,) = [part for part in parts if name in part["properties"]]
        several["properties"][name]["items"] = {"anyOf": [one, no]}


def _leave_out_what_repeats(variant: dict[str, Any], first: dict[str, Any], schemas: dict[str, Any]) -> None:
    properties = variant["properties"]
    for name in [name for name, schema in properties.items() if schema == first["properties"].get(name)]:
        if name not in variant["required"]:
            del properties[name]
        elif name == "groupingKeyNames":
            properties[name] = schemas["RuleGrouping"]["anyOf"][0]
        elif name == "limit":
            properties[name] = properties[name]["anyOf"][0]


def _narrow_conditions(schemas: dict[str, Any]) -> None:
    ways = schemas["RuleConditions"]["anyOf"]
    (relative,) = [way for way in ways if way.get("title") == "an aggregate of a field"]
    behind = [way for way in schemas["RuleMeasure"]["anyOf"] if "offsetSeconds" in way["properties"]]
    schemas["RuleMeasure"] = {"anyOf": behind}
    behind = [*behind, schemas["RuleLimitInDeviations"]["properties"]["measure"]]
    for measure in (relative, *behind):
        del measure["properties"]["offsetSeconds"]
        measure["properties"]["filter"] = {"type": "null"}
    for measure in behind:
        del measure["properties"]["groupingKeyNames"]
    plain = deepcopy(relative)
    del plain["properties"]["includeCurrent"], plain["properties"]["minimumCount"]
    plain["properties"]["limit"] = plain["properties"]["limit"]["anyOf"][0]
    schemas["RuleConditions"] = {"anyOf": [plain, relative]}
