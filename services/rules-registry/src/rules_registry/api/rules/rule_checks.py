"""/v1/rule-checks: what is likely wrong with a rule, before it is published."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import marshmallow as ma

from rules_registry.api.rule_schemas.representations import warnings_json
from rules_registry.api.rule_schemas.rule_body import read_rule_body
from rules_registry.api.rule_schemas.rule_body_schema import BODY_SCHEMA
from rules_registry.api.rule_schemas.warning_schemas import CheckedSchema
from rules_registry.api.services import installed_type, rule_advice
from tripline_http.fields import MAX_ID, QueryInteger
from tripline_http.openapi import new_blueprint

blueprint = new_blueprint("checks", __name__, "Looking at a rule before it is published")


class CheckQuery(ma.Schema):
    """Whose definition it is to be."""

    ruleId = QueryInteger(  # noqa: N815 - the name of the query
        1,
        MAX_ID,
        load_default=None,
        metadata={"description": "The rule that it is for; without one it is a new rule"},
    )


@blueprint.route("/v1/rule-checks", methods=["POST"])
@blueprint.requires("rules:read")
@blueprint.arguments(CheckQuery, location="query")
@blueprint.json_body(BODY_SCHEMA)
@blueprint.response(200, CheckedSchema)
@blueprint.problems(503)
@blueprint.doc(operationId="checkRule")
def check(query: Mapping[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    """Look at a rule without publishing it

    What is wrong is refused as publishing it would be; what is legal and likely wrong is told: a limit that is never or
    always reached, a filter that nothing passes, a rule that says the same as another one. Nothing is kept.
    """
    read = read_rule_body(body, installed_type())
    return {"warnings": warnings_json(rule_advice().warnings(read.definition, read.name, query["ruleId"]))}
