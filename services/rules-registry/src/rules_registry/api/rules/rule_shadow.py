"""/v1/rules/{id}/shadow: a version that runs beside a rule's own, until it is promoted or ended."""

from __future__ import annotations

from typing import Any

from flask import Response

from rules_registry.api.actor import takes_reason
from rules_registry.api.idempotency import IDEMPOTENCY_KEY_DOC, repeatable
from rules_registry.api.review.change_views import ACCEPTED
from rules_registry.api.rule_schemas.answer_schemas import RolloutSchema, RuleSchema
from rules_registry.api.rule_schemas.rule_body import read_rule_body
from rules_registry.api.rule_schemas.rule_body_schema import BODY_SCHEMA
from rules_registry.api.rules.rule_answers import respond
from rules_registry.api.rules.rules import RULE
from rules_registry.api.services import expected_versions, installed_type
from rules_registry.domain.commands import EndShadow, PromoteShadow, RollOutShadow, StartShadow
from tripline_http.etags import ETAG_HEADER_DOC, IfMatch
from tripline_http.openapi import new_blueprint

blueprint = new_blueprint("shadow", __name__, "A version that runs beside a rule's own")

SHADOW = f"{RULE}/shadow"


@blueprint.route(SHADOW, methods=["POST"])
@blueprint.requires("rules:write")
@blueprint.if_match
@blueprint.parameter(IDEMPOTENCY_KEY_DOC)
@blueprint.json_body(BODY_SCHEMA)
@takes_reason
@blueprint.response(200, RuleSchema, headers=ETAG_HEADER_DOC)
@blueprint.or_response(**ACCEPTED)
@blueprint.problems(404, 409, 503)
@blueprint.doc(operationId="startShadow")
def start(if_match: IfMatch, body: dict[str, Any], rule_id: int) -> Response:
    """Start a shadow of a rule

    The definition judges beside the rule's own what is accepted from here on, from `effectiveFrom` on (event time, now
    by default); nothing is caught up. Its alerts go to shadow-alerts.v1, and the rule's stay what they are. While it
    runs the rule takes no other definition.
    """
    read = read_rule_body(body, installed_type())
    command = StartShadow(
        rule_id,
        expected_versions(if_match),
        read.name,
        read.definition,
        read.effective_from,
        read.effective_until,
    )
    return respond(command, repeatable(body))


@blueprint.route(SHADOW, methods=["DELETE"])
@blueprint.requires("rules:write")
@blueprint.if_match
@takes_reason
@blueprint.response(200, RuleSchema, headers=ETAG_HEADER_DOC)
@blueprint.problems(404, 409, 503)
@blueprint.doc(operationId="endShadow")
def end(if_match: IfMatch, rule_id: int) -> Response:
    """End a rule's shadow

    What it gave stays in shadow-alerts.v1.
    """
    return respond(EndShadow(rule_id, expected_versions(if_match)))


@blueprint.route(f"{SHADOW}/rollout", methods=["POST"])
@blueprint.requires("rules:write")
@blueprint.if_match
@blueprint.parameter(IDEMPOTENCY_KEY_DOC)
@blueprint.arguments(RolloutSchema)
@takes_reason
@blueprint.response(200, RuleSchema, headers=ETAG_HEADER_DOC)
@blueprint.or_response(**ACCEPTED)
@blueprint.problems(400, 404, 409, 413, 415, 422, 503)
@blueprint.doc(operationId="rollOutShadow")
def roll_out(if_match: IfMatch, body: dict[str, int], rule_id: int) -> Response:
    """Roll a rule's shadow out to a share of groups

    From here on its alerts of these groups go to alerts.v1, and the rule's own of these to shadow-alerts.v1; both
    versions go on judging all groups. A group is among them where its bucket is below `percent`: the first eight bytes,
    big-endian, of the SHA-256 of the rule's id, a colon, and the RFC 8785 JSON of an alert's `group`, modulo 100. It is
    only widened; ended, all groups are the rule's own again. Both have to group by the same fields.
    """
    command = RollOutShadow(rule_id, expected_versions(if_match), body["percent"])
    return respond(command, repeatable(body))


@blueprint.route(f"{SHADOW}/promote", methods=["POST"])
@blueprint.requires("rules:write")
@blueprint.if_match
@blueprint.parameter(IDEMPOTENCY_KEY_DOC)
@takes_reason
@blueprint.response(200, RuleSchema, headers=ETAG_HEADER_DOC)
@blueprint.or_response(**ACCEPTED)
@blueprint.problems(404, 409, 422, 503)
@blueprint.doc(operationId="promoteShadow")
def promote(if_match: IfMatch, rule_id: int) -> Response:
    """Make a rule's shadow its definition

    With all that it knows: from here on its alerts are those that it would have given as a shadow, in alerts.v1. From
    its `effectiveFrom` on it is in force in place of what was before.
    """
    return respond(PromoteShadow(rule_id, expected_versions(if_match)), repeatable())
