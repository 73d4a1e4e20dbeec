"""/v1/rule-status: published beside applied."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rules_registry.adapters.queries import RuleFilter
from rules_registry.api.pages import begin_after, filters_of, link_of
from rules_registry.api.rule_schemas.answer_schemas import RuleStatusPageSchema, RuleStatusQuery
from rules_registry.api.rule_schemas.representations import status_json
from rules_registry.api.services import queries
from tripline_http.links import LINK_HEADER_DOC
from tripline_http.openapi import new_blueprint

blueprint = new_blueprint("status", __name__, "What the engine has taken")


@blueprint.route("/v1/rule-status", methods=["GET"])
@blueprint.requires("rules:read")
@blueprint.arguments(RuleStatusQuery, location="query")
@blueprint.response(200, RuleStatusPageSchema, headers=LINK_HEADER_DOC)
@blueprint.problems(400, 503)
@blueprint.doc(operationId="listRuleStatus")
def rule_status(query: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """List what is published beside what is applied, by rule id

    `applied…` is the newest version that every shard of the engine has taken, and null until then. Deleted rules only
    with `state=DELETED`.
    """
    filters = filters_of(query)
    rule_filter = RuleFilter(state=query["state"], rule_id=query["ruleId"])
    page = queries().rule_status(rule_filter, begin_after("status", filters, query["cursor"]), query["limit"])
    return {"items": [status_json(row) for row in page.rows]}, link_of("status", filters, page)
