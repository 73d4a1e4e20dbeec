"""/v1/rules: publish, list, read, change, delete, pause, resume."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Response

from rules_registry.adapters.queries import RuleFilter
from rules_registry.api.actor import actor_of_request, takes_reason
from rules_registry.api.idempotency import IDEMPOTENCY_KEY_DOC, repeatable, response_of
from rules_registry.api.openapi_links import AFTER_PUBLISH
from rules_registry.api.pages import begin_after, filters_of, link_of
from rules_registry.api.review.change_schemas import PauseQuery
from rules_registry.api.review.change_views import ACCEPTED, accepted
from rules_registry.api.review.proposal import propose
from rules_registry.api.rule_schemas.answer_schemas import (
    RulePageSchema,
    RuleQuery,
    RuleSchema,
)
from rules_registry.api.rule_schemas.representations import rule_json
from rules_registry.api.rule_schemas.rule_body import read_rule_body
from rules_registry.api.rule_schemas.rule_body_schema import BODY_SCHEMA
from rules_registry.api.rule_schemas.rule_sent_back import CHANGE_SCHEMA, read_rule_change
from rules_registry.api.rule_schemas.warning_schemas import PublishedRuleSchema
from rules_registry.api.rules.rule_answers import changed, created, respond, with_warnings
from rules_registry.api.services import (
    expected_versions,
    four_eyes,
    installed_type,
    queries,
    registry,
    review,
    rule_advice,
)
from rules_registry.domain.commands import ChangeRule, DeleteRule, PauseRule, PublishRule, ResumeRule
from rules_registry.domain.decisions import require_expected
from tripline_http.etags import ETAG_HEADER_DOC, IfMatch, etag_of
from tripline_http.links import LINK_HEADER_DOC
from tripline_http.openapi import new_blueprint

blueprint = new_blueprint("rules", __name__, "Rules and their life")

RULE = "/v1/rules/<int(min=1, max=2147483647):rule_id>"
LOCATION_DOC = {"Location": {"description": "Address of the rule", "schema": {"type": "string"}}}


@blueprint.route("/v1/rules", methods=["POST"])
@blueprint.requires("rules:write")
@blueprint.parameter(IDEMPOTENCY_KEY_DOC)
@blueprint.json_body(BODY_SCHEMA)
@takes_reason
@blueprint.response(201, PublishedRuleSchema, headers={**ETAG_HEADER_DOC, **LOCATION_DOC})
@blueprint.or_response(**ACCEPTED)
@blueprint.problems(409, 503)
@blueprint.doc(operationId="publishRule", responses={201: {"links": AFTER_PUBLISH}})
def publish(body: dict[str, Any]) -> Response:
    """Publish a rule

    The registry gives the id; `ruleId` and `ruleState` ACTIVE in the body are read and ignored, so that a rule file
    can be sent as it stands. From `effectiveFrom` on (event time, now by default) the engine judges with it, and from
    `effectiveUntil` on not any more.
    """
    read = read_rule_body(body, installed_type())

    def command(rule_id: int) -> PublishRule:
        return PublishRule(
            rule_id, read.name, read.definition, read.effective_from, effective_until=read.effective_until
        )

    if four_eyes():
        return response_of(
            review().propose(
                actor_of_request(), lambda log: command(log.next_rule_id()), accepted, repeatable(body)
            )
        )
    answer = with_warnings(created, rule_advice().warnings(read.definition))
    return response_of(registry().publish(actor_of_request(), command, answer, repeatable(body)))


@blueprint.route("/v1/rules", methods=["GET"])
@blueprint.requires("rules:read")
@blueprint.arguments(RuleQuery, location="query")
@blueprint.response(200, RulePageSchema, headers=LINK_HEADER_DOC)
@blueprint.problems(400, 503)
@blueprint.doc(operationId="listRules")
def list_rules(query: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """List rules by id

    Deleted ones only with `state=DELETED`.
    """
    filters = filters_of(query)
    rule_filter = RuleFilter(
        state=query["state"],
        grouping_key=query["groupingKey"],
        name=query["name"],
        severity=query["severity"],
        tag=query["tag"],
        owner=query["owner"],
    )
    page = queries().rules(rule_filter, begin_after("rules", filters, query["cursor"]), query["limit"])
    return {"items": [rule_json(row) for row in page.rows]}, link_of("rules", filters, page)


@blueprint.route(RULE, methods=["GET"])
@blueprint.requires("rules:read")
@blueprint.response(200, RuleSchema, headers=ETAG_HEADER_DOC)
@blueprint.problems(404, 503)
@blueprint.doc(operationId="getRule")
def get(rule_id: int) -> tuple[dict[str, Any], dict[str, str]]:
    """Read a rule

    A deleted rule is 404 with the problem type `rule-deleted`; its history stays in /v1/rule-events.
    """
    row = queries().rule(rule_id)
    return rule_json(row), {"ETag": etag_of(row["version"])}


@blueprint.route(RULE, methods=["PUT"])
@blueprint.requires("rules:write")
@blueprint.if_match
@blueprint.json_body(CHANGE_SCHEMA)
@takes_reason
@blueprint.response(200, PublishedRuleSchema, headers=ETAG_HEADER_DOC)
@blueprint.or_response(**ACCEPTED)
@blueprint.problems(404, 409, 503)
@blueprint.doc(operationId="changeRule")
def change(if_match: IfMatch, body: dict[str, Any], rule_id: int) -> Response:
    """Give a rule a new definition

    It is the rule's next version. A paused rule stays paused. Without a name it keeps its own. What GET answers can be
    changed and sent back: `effectiveFrom` then holds for the new definition too, so leave it out or change it where
    that is to hold from now on. Members that cannot be changed are read where they are as the registry has them.
    """
    expected = expected_versions(if_match)

    def standing() -> dict[str, Any]:
        row = queries().rule(rule_id)
        # Who has seen an older version is told that, and not how each member differs.
        require_expected(row["version"], expected)
        return rule_json(row)

    read = read_rule_change(body, standing, installed_type())
    command = ChangeRule(
        rule_id, expected, read.name, read.definition, read.effective_from, read.effective_until
    )
    if four_eyes():
        # what the answer is a change of is looked at by /v1/rule-checks
        return respond(command)
    warnings = rule_advice().warnings(read.definition, rule_id=rule_id)
    return respond(command, answer=with_warnings(changed, warnings))


@blueprint.route(RULE, methods=["DELETE"])
@blueprint.requires("rules:write")
@blueprint.if_match
@takes_reason
@blueprint.response(200, RuleSchema, headers=ETAG_HEADER_DOC)
@blueprint.or_response(**ACCEPTED)
@blueprint.problems(404, 409, 503)
@blueprint.doc(operationId="deleteRule")
def delete(if_match: IfMatch, rule_id: int) -> Response:
    """Retire a rule for good

    Its alerts stay, its id is never used again. The answer is the rule's last version.
    """
    command = DeleteRule(rule_id, expected_versions(if_match))
    return respond(command)


@blueprint.route(f"{RULE}/pause", methods=["POST"])
@blueprint.requires("rules:write")
@blueprint.if_match
@blueprint.arguments(PauseQuery, location="query")
@blueprint.parameter(IDEMPOTENCY_KEY_DOC)
@takes_reason
@blueprint.response(200, RuleSchema, headers=ETAG_HEADER_DOC)
@blueprint.or_response(**ACCEPTED)
@blueprint.problems(404, 409, 422, 503)
@blueprint.doc(operationId="pauseRule")
def pause(if_match: IfMatch, query: Mapping[str, Any], rule_id: int) -> Response:
    """Pause a rule

    It judges nothing until it is resumed, and keeps its history.
    """
    command = PauseRule(rule_id, expected_versions(if_match))
    if query["asChange"] == "true":
        return propose(command, repeatable())
    return respond(command, repeatable(), alone=query["breakGlass"] == "true")


@blueprint.route(f"{RULE}/resume", methods=["POST"])
@blueprint.requires("rules:write")
@blueprint.if_match
@blueprint.parameter(IDEMPOTENCY_KEY_DOC)
@takes_reason
@blueprint.response(200, RuleSchema, headers=ETAG_HEADER_DOC)
@blueprint.problems(404, 409, 422, 503)
@blueprint.doc(operationId="resumeRule")
def resume(if_match: IfMatch, rule_id: int) -> Response:
    """Resume a paused rule"""
    command = ResumeRule(rule_id, expected_versions(if_match))
    return respond(command, repeatable())
