"""The registry's document without repetitions: what schemathesis tries of the bodies of rules."""

from __future__ import annotations

from copy import deepcopy
from typing import Any


def without_repetitions(document: dict[str, Any]) -> None:
    """The body of a rule is thirteen objects that differ in aggregate, window and options. Filters and operators, the
    same in all, are tried with the first; of what publishes or replaces one the first stands for all. Of conditions one
    is tried, plain and relative: that several share a field, and how far an offset goes, no schema can say."""
    del document["paths"]["/v1/rules/import"]["post"]["requestBody"]["content"]["application/x-ndjson"]
    schemas = document["components"]["schemas"]
    first, *others = schemas["RuleBody"]["anyOf"]
    replacing = document["paths"]["/v1/rules/{rule_id}"]["put"]["requestBody"]["content"]
    replacing["application/json"]["schema"] = deepcopy(first)
    replacing["application/json"]["schema"]["properties"]["filter"] = {"type": "null"}
    document["paths"]["/v1/rules"]["post"]["requestBody"]["content"] = replacing
    schemas["BacktestBody"]["oneOf"][0]["properties"]["rule"] = replacing["application/json"]["schema"]
    document["paths"]["/v1/changes/{change_id}"]["put"]["requestBody"]["content"] = replacing
    for variant in others:
        variant["properties"]["filter"] = {"type": "null"}
        if "limitOperatorType" in variant["properties"]:
            variant["properties"]["limitOperatorType"] = {"enum": [">="]}
    *_, relative, _, _, _, _, _, condition, _, _ = schemas["RuleConditions"]["anyOf"]
    condition["properties"]["filter"] = {"type": "null"}
    deviating = schemas["RuleLimitInDeviations"]["properties"]["measure"]
    behind = [*schemas["RuleMeasure"]["anyOf"], deviating]
    for measure in (relative, *behind):
        del measure["properties"]["offsetSeconds"]
        measure["properties"] |= {name: condition["properties"][name] for name in ("filter", "windowSeconds")}
    for measure in behind:
        del measure["properties"]["groupingKeyNames"]
    schemas["RuleConditions"] = {"anyOf": [condition, relative]}
