"""/v1/rules/{id}/revert: an old definition once more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Response

from rules_registry.api.actor import takes_reason
from rules_registry.api.idempotency import IDEMPOTENCY_KEY_DOC, repeatable
from rules_registry.api.review.change_schemas import AloneQuery
from rules_registry.api.review.change_views import ACCEPTED
from rules_registry.api.rule_schemas.answer_schemas import RuleSchema
from rules_registry.api.rules.rule_answers import respond
from rules_registry.api.rules.rules import RULE
from rules_registry.api.services import expected_versions, installed_type, queries
from rules_registry.domain.commands import ChangeRule
from tripline_contracts.rules.rule_definition import parse
from tripline_http.etags import ETAG_HEADER_DOC, IfMatch
from tripline_http.fields import MAX_ID, QueryInteger
from tripline_http.openapi import new_blueprint

blueprint = new_blueprint("revert", __name__, "Going back to an old definition")


class RevertQuery(AloneQuery):
    """Which version to go back to."""

    version = QueryInteger(1, MAX_ID, required=True, metadata={"description": "The version to go back to"})


@blueprint.route(f"{RULE}/revert", methods=["POST"])
@blueprint.requires("rules:write")
@blueprint.if_match
@blueprint.parameter(IDEMPOTENCY_KEY_DOC)
@blueprint.arguments(RevertQuery, location="query")
@takes_reason
@blueprint.response(200, RuleSchema, headers=ETAG_HEADER_DOC)
@blueprint.or_response(**ACCEPTED)
@blueprint.problems(404, 409, 503)
@blueprint.doc(operationId="revertRule")
def revert(if_match: IfMatch, query: Mapping[str, Any], rule_id: int) -> Response:
    """Give a rule the definition and name of an old version

    It is the rule's next version, effective from now on. With `breakGlass` one person alone can go back to a definition
    that was approved before.
    """
    body = queries().version(rule_id, query["version"])["body"]
    definition = parse(body["definition"], installed_type())
    command = ChangeRule(rule_id, expected_versions(if_match), body["name"], definition, None)
    return respond(command, repeatable(query["version"]), alone=query["breakGlass"] == "true")
